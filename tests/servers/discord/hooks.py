"""Webhooks and what they say."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.servers.discord import posting
from tests.servers.discord.core import Core
from tests.servers.discord.errors import DiscordError, bad_form
from tests.servers.discord.records import Channel, Draft, Message, User, Webhook

NAME = 80
MOST = 15
FORBIDDEN = ("clyde", "discord")
RESERVED = {"everyone", "here"}


def check_name(name: str, field: str = "name") -> str:
    """A name that Discord lets a webhook have.

    Raises:
        DiscordError: it is too long or too short, or Discord reserves it.
    """
    name = name.strip()
    if not 1 <= len(name) <= NAME:
        raise bad_form(field, "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {NAME} in length.")
    folded = name.casefold()
    for word in FORBIDDEN:
        if word in folded:
            raise bad_form(field, "USERNAME_INVALID_CONTAINS", f'Username cannot contain "{word}"')
    if folded in RESERVED or re.search(r"```|@everyone|@here", folded):
        raise bad_form(field, "USERNAME_INVALID", f"Username cannot be {name!r}")
    return name


def made_webhook(core: Core, channel: Channel, name: str, user_id: int, application_id: int | None) -> Webhook:
    world = core.world
    if sum(one.channel_id == channel.id for one in world.webhooks.values()) >= MOST:
        raise DiscordError(400, 30007, f"Maximum number of webhooks reached ({MOST})")
    number = world.ids.next()
    made = Webhook(number, channel.id, channel.guild_id or 0, name, secrets.token_urlsafe(51), user_id, application_id)
    world.webhooks[number] = made
    told(core, made)
    return made


def told(core: Core, webhook: Webhook) -> None:
    data = {"guild_id": str(webhook.guild_id), "channel_id": str(webhook.channel_id)}
    core.gateway.emit("WEBHOOKS_UPDATE", data, guild_id=webhook.guild_id, channel_id=webhook.channel_id)


def execute(
    core: Core,
    webhook: Webhook,
    channel: Channel,
    draft: Draft,
    *,
    looks: Mapping[str, Any] | None = None,
    message_id: int | None = None,
) -> Message:
    """Let a webhook say something; `looks` may hold `username` and `avatar_url`."""
    given = looks or {}
    name = webhook.name if given.get("username") is None else check_name(str(given["username"]), "username")
    author = User(webhook.id, name, bot=True, avatar=given.get("avatar_url") or webhook.avatar)
    extra = {"webhook_id": webhook.id, "application_id": webhook.application_id}
    return posting.post(core, channel, author, replace(draft, extra=extra), message_id=message_id)
