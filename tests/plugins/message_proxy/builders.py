"""Values for tests of the rules."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from agent.events import Author, MessageCreated
from agent.identity.keys import ParticipantKind
from agent.places import ChannelRef, ServerRef
from plugins.message_proxy.services import DESCRIPTORS
from plugins.message_proxy.values import Expectation, Found, Instance, Member, Service

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
GARDEN = ServerRef("discord", "1", "Garden")
GENERAL = ChannelRef("10", "general")
HOST = Author(ParticipantKind.DISCORD_USER, "500", "Host", "host")
HOOK = Author(ParticipantKind.WEBHOOK, "77", "Wren", is_bot=True)
UUID = "11111111-2222-3333-4444-555555555555"
SYSTEM = "99999999-2222-3333-4444-555555555555"
WREN = Member(UUID, "Wren")


def instance(number: int = 1, service: Service = Service.PLURALKIT, **fields: Any) -> Instance:
    return Instance(number, f"instance{number}", DESCRIPTORS[service], "https://api.example.org", **fields)


def said(message_id: str = "100", *, author: Author = HOST, after: float = 0.0, **fields: Any) -> MessageCreated:
    moment = NOW + timedelta(seconds=after)
    event = MessageCreated("discord", message_id, message_id, GARDEN, GENERAL, author, "hello", moment)
    return replace(event, **fields)


def reposted(message_id: str = "200", *, after: float = 0.5, **fields: Any) -> MessageCreated:
    return said(message_id, author=HOOK, after=after, webhook_id="77", **fields)


def expecting(event: MessageCreated | None = None, number: int = 1, *, command: bool = False) -> Expectation:
    return Expectation(number, 5, "500", event or said(), command)


def found(**fields: Any) -> Found:
    return replace(Found("200", "100", "500", "10", SYSTEM, "Lark", WREN), **fields)
