"""Messages: history, sending, editing, deleting."""

import time
from collections.abc import Mapping
from typing import Any

from tests.servers.discord import posting
from tests.servers.discord.core import Core
from tests.servers.discord.drafts import COMPONENTS_V2, SUPPRESS_EMBEDS, draft
from tests.servers.discord.errors import DiscordError, bad_form
from tests.servers.discord.ids import EPOCH_MS
from tests.servers.discord.journal import Request
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import JSON, Channel, Draft, Message
from tests.servers.discord.rest.channels import readable, require_sending
from tests.servers.discord.routing import route

HISTORY = 100
BULK = (2, 100)
BULK_AGE_MS = 14 * 24 * 3600 * 1000


@route("GET", "/channels/{channel_id}/messages")
def history(core: Core, call: Request) -> list[JSON]:
    found = readable(core, call)
    limit = int(call.query.get("limit", 50))
    if not 1 <= limit <= HISTORY:
        raise bad_form("limit", "NUMBER_TYPE_MAX", f"int value should be between 1 and {HISTORY}.")
    if Permission.READ_MESSAGE_HISTORY not in core.world.permissions(core.world.bot.id, found):
        return []
    every = sorted(core.world.messages.get(found.id, {}).values(), key=lambda one: one.id, reverse=True)
    return [core.shown(one) for one in page(every, call.query, limit)]


def page(newest_first: list[Message], query: Mapping[str, str], limit: int) -> list[Message]:
    """The part of a history that a query asks for, the newest first."""
    if "around" in query:
        middle = int(query["around"])
        newer = [one for one in newest_first if one.id > middle][-(limit // 2) :] if limit > 1 else []
        older = [one for one in newest_first if one.id <= middle][: limit - len(newer)]
        return newer + older
    if "after" in query:
        return [one for one in newest_first if one.id > int(query["after"])][-limit:]
    if "before" in query:
        return [one for one in newest_first if one.id < int(query["before"])][:limit]
    return newest_first[:limit]


@route("GET", "/channels/{channel_id}/messages/{message_id}")
def message(core: Core, call: Request) -> JSON:
    found = readable(core, call, Permission.READ_MESSAGE_HISTORY)
    return core.shown(core.world.message(found.id, call.id("message_id")))


@route("POST", "/channels/{channel_id}/messages")
def send(core: Core, call: Request) -> JSON:
    found = core.world.channel(call.id("channel_id"))
    body = call.json
    made = draft(body, call.uploads)
    require_sending(core, found, *needs(made))
    _reachable(core, found)
    if body.get("enforce_nonce") and (known := _same_nonce(core, made.nonce)) is not None:
        return core.shown(known) | {"nonce": body["nonce"]}
    sent = posting.post(core, found, core.world.bot, made)
    if made.nonce:
        core.world.nonces[made.nonce] = (found.id, sent.id)
    return core.shown(sent) | ({"nonce": body["nonce"]} if made.nonce else {})


def _same_nonce(core: Core, nonce: str | None) -> Message | None:
    """The bot's message with that nonce, whatever its channel."""
    channel_id, message_id = core.world.nonces.get(nonce or "", (0, 0))
    return core.world.messages.get(channel_id, {}).get(message_id)


def _reachable(core: Core, found: Channel) -> None:
    closed = core.closed_to_direct & set(found.recipients)
    if found.guild_id is None and closed:
        raise DiscordError(403, 50007, "Cannot send messages to this user")


def needs(made: Draft) -> tuple[Permission, ...]:
    """What a message needs beside the right to send. (Embeds without the right are not shown, but sent.)"""
    needed = []
    if made.uploads:
        needed.append(Permission.ATTACH_FILES)
    if made.embeds:
        needed.append(Permission.EMBED_LINKS)
    if made.reference is not None:
        needed.append(Permission.READ_MESSAGE_HISTORY)
    if made.poll:
        needed.append(Permission.SEND_POLLS)
    return tuple(needed)


@route("PATCH", "/channels/{channel_id}/messages/{message_id}")
def edit(core: Core, call: Request) -> JSON:
    found = readable(core, call)
    before = core.world.message(found.id, call.id("message_id"))
    body: dict[str, Any] = call.json
    if before.author.id != core.world.bot.id:
        if set(body) - {"flags"}:
            raise DiscordError(403, 50005, "Cannot edit a message authored by another user")
        core.world.require(found, Permission.MANAGE_MESSAGES)
        body = {"flags": int(body.get("flags") or 0) & SUPPRESS_EMBEDS | before.flags & COMPONENTS_V2}
    return core.shown(posting.edit(core, before, body, call.uploads))


@route("DELETE", "/channels/{channel_id}/messages/{message_id}")
def delete(core: Core, call: Request) -> None:
    found = readable(core, call)
    gone = core.world.message(found.id, call.id("message_id"))
    if gone.author.id != core.world.bot.id:
        core.world.require(found, Permission.MANAGE_MESSAGES)
    posting.delete(core, gone)


@route("POST", "/channels/{channel_id}/messages/bulk-delete")
def bulk_delete(core: Core, call: Request) -> None:
    found = readable(core, call, Permission.MANAGE_MESSAGES)
    ids = [int(one) for one in call.json["messages"]]
    low, high = BULK
    if not low <= len(ids) <= high:
        raise bad_form("messages", "BASE_TYPE_BAD_LENGTH", f"Must be between {low} and {high} in length.")
    oldest = int(time.time() * 1000) - BULK_AGE_MS
    if any((one >> 22) + EPOCH_MS < oldest for one in ids):
        raise DiscordError(400, 50034, "A message provided was too old to bulk delete")
    posting.bulk_delete(core, found, ids)
