"""Values that the tests of a turn begin from."""

from __future__ import annotations

from datetime import UTC, datetime

from agent.contracts.people import Account, Participant, Persona, PrivacyLevel, Speaker
from agent.events import Author, MessageCreated, Reply
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.places import Channel, ChannelRef, Place, Server, ServerKind, ServerRef, Visibility
from agent.turn.job import Job
from agent.turn.values import Turn, Why

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def a_place(kind: ServerKind = ServerKind.GUILD, channel: str = "general", parent: str | None = None) -> Place:
    server = ServerRef("fake", "s1", "Home", kind)
    visibility = Visibility.DIRECT if kind is ServerKind.DIRECT else Visibility.EVERYONE
    return Place(Server(1, server), Channel(1, ChannelRef(channel, channel, visibility, parent, parent)))


def an_author(name: str = "ana", *, is_bot: bool = False) -> Author:
    return Author(ParticipantKind.CONSOLE_USER, name, name, is_bot=is_bot)


def an_account(name: str = "ana", number: int = 1, privacy: PrivacyLevel = PrivacyLevel.NONE) -> Account:
    return Account(number, number, "fake", ParticipantKey(ParticipantKind.CONSOLE_USER, name), name, None, privacy)


def a_persona(
    nickname: str = "Isthmus", number: int = 1, triggers: tuple[str, ...] = (), *, is_default: bool = True
) -> Persona:
    return Persona(number, 1, 1, nickname, "You are {bot}; {user} speaks.", None, triggers, is_default)


def a_message(
    text: str = "hello",
    *,
    name: str = "ana",
    is_bot: bool = False,
    mentions_agent: bool = False,
    reply: Reply | None = None,
    number: int = 1,
    extras: tuple[str, ...] = (),
) -> MessageCreated:
    place = a_place()
    return MessageCreated(
        platform="fake",
        event_id=f"e{number}",
        message_id=f"m{number}",
        server=place.server.ref,
        channel=place.channel.ref,
        author=an_author(name, is_bot=is_bot),
        text=text,
        occurred_at=NOW,
        mentions_agent=mentions_agent,
        reply=reply,
        extras=extras,
    )


def a_speaker(account: Account) -> Speaker:
    return Speaker(account.key, account.user_id, account.display_name)


def a_participant(name: str = "ana", number: int = 1) -> Participant:
    account = an_account(name, number)
    return Participant(name, name, account, a_speaker(account))


def a_job(text: str = "hello", *, number: int = 1, name: str = "ana") -> Job:
    account = an_account(name)
    event = a_message(text, number=number, name=name)
    return Job(event, a_place(), account, a_speaker(account), a_persona(), Why.MENTION)


def a_turn(text: str = "hello", *, people: tuple[Participant, ...] | None = None) -> Turn:
    job = a_job(text)
    return Turn(
        turn_id="t1",
        event=job.event,
        place=job.place,
        account=job.account,
        speaker=job.speaker,
        persona=job.persona,
        bot_name=job.persona.nickname,
        now=NOW,
        why=job.why,
        attempt=1,
        participants=people or (a_participant(),),
    )
