"""Pinned messages, by the old paths and the new ones."""

from dataclasses import replace

from tests.servers.discord import posting
from tests.servers.discord.core import Core
from tests.servers.discord.ids import instant, now
from tests.servers.discord.journal import Request
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import JSON, Draft, Message
from tests.servers.discord.rest.channels import readable
from tests.servers.discord.routing import route

PINNED = 6
"""The kind of message by which Discord says that something was pinned."""


@route("PUT", "/channels/{channel_id}/pins/{message_id}")
@route("PUT", "/channels/{channel_id}/messages/pins/{message_id}")
def pin(core: Core, call: Request) -> None:
    _set(core, call, pinned=True)


@route("DELETE", "/channels/{channel_id}/pins/{message_id}")
@route("DELETE", "/channels/{channel_id}/messages/pins/{message_id}")
def unpin(core: Core, call: Request) -> None:
    _set(core, call, pinned=False)


def _set(core: Core, call: Request, *, pinned: bool) -> None:
    found = readable(core, call)
    held = core.world.permissions(core.world.bot.id, found)
    if Permission.PIN_MESSAGES not in held:
        core.world.require(found, Permission.MANAGE_MESSAGES)
    changed = replace(core.world.message(found.id, call.id("message_id")), pinned=pinned)
    posting.store(core, changed)
    core.emit_message("MESSAGE_UPDATE", changed)
    if pinned:
        about = {"type": 0, "channel_id": str(found.id), "message_id": str(changed.id)}
        posting.post(core, found, core.world.bot, Draft(kind=PINNED, extra={"reference": about}))
    where = {"channel_id": str(found.id), "last_pin_timestamp": now()}
    more = {} if found.guild_id is None else {"guild_id": str(found.guild_id)}
    core.gateway.emit("CHANNEL_PINS_UPDATE", where | more, guild_id=found.guild_id, channel_id=found.id)


def _pinned(core: Core, call: Request) -> list[Message]:
    found = readable(core, call)
    return [one for one in core.world.messages.get(found.id, {}).values() if one.pinned]


@route("GET", "/channels/{channel_id}/pins")
def pins(core: Core, call: Request) -> list[JSON]:
    return [core.shown(one) for one in _pinned(core, call)]


@route("GET", "/channels/{channel_id}/messages/pins")
def paged_pins(core: Core, call: Request) -> JSON:
    items = [{"pinned_at": instant(one.id), "message": core.shown(one)} for one in _pinned(core, call)]
    return {"items": items, "has_more": False}
