"""Channels: reading, changing, deleting, who may what, typing."""

from dataclasses import replace

from tests.servers.discord import payloads, places
from tests.servers.discord.core import Core
from tests.servers.discord.journal import Request
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import JSON, Channel, Overwrite, OverwriteKind
from tests.servers.discord.routing import route


def readable(core: Core, call: Request, *needed: Permission) -> Channel:
    """The channel of the path, when the bot may see it and may what is needed."""
    found = core.world.channel(call.id("channel_id"))
    core.world.require(found, *needed)
    return found


@route("GET", "/channels/{channel_id}")
def channel(core: Core, call: Request) -> JSON:
    return payloads.channel(core.world, readable(core, call))


@route("PATCH", "/channels/{channel_id}")
def change(core: Core, call: Request) -> JSON:
    found = core.world.channel(call.id("channel_id"))
    body = call.json
    owned = found.is_thread and found.owner_id == core.world.bot.id
    if not owned:
        core.world.require(found, Permission.MANAGE_THREADS if found.is_thread else Permission.MANAGE_CHANNELS)
    rules = body.get("permission_overwrites")
    made = replace(
        found,
        name=body.get("name") or found.name,
        topic=body.get("topic", found.topic),
        archived=body.get("archived", found.archived),
        locked=body.get("locked", found.locked),
        nsfw=body.get("nsfw", found.nsfw),
        overwrites=found.overwrites if rules is None else places.overwrites(rules),
    )
    return payloads.channel(core.world, places.changed(core, made))


@route("DELETE", "/channels/{channel_id}")
def delete(core: Core, call: Request) -> JSON:
    found = core.world.channel(call.id("channel_id"))
    shown = payloads.channel(core.world, found)
    if found.guild_id is not None:
        core.world.require(found, Permission.MANAGE_THREADS if found.is_thread else Permission.MANAGE_CHANNELS)
        places.deleted(core, found)
    return shown


@route("PUT", "/channels/{channel_id}/permissions/{overwrite_id}")
def overwrite(core: Core, call: Request) -> None:
    found = readable(core, call, Permission.MANAGE_ROLES)
    body, target = call.json, call.id("overwrite_id")
    rule = Overwrite(target, OverwriteKind(body["type"]), int(body.get("allow") or 0), int(body.get("deny") or 0))
    places.ruled(core, found, rule, target)


@route("DELETE", "/channels/{channel_id}/permissions/{overwrite_id}")
def drop_overwrite(core: Core, call: Request) -> None:
    places.ruled(core, readable(core, call, Permission.MANAGE_ROLES), None, call.id("overwrite_id"))


@route("POST", "/channels/{channel_id}/typing")
def typing(core: Core, call: Request) -> None:
    found = core.world.channel(call.id("channel_id"))
    core.world.require(found, _sending(found))
    core.typed(core.world.bot, found)


def _sending(found: Channel) -> Permission:
    return Permission.SEND_MESSAGES_IN_THREADS if found.is_thread else Permission.SEND_MESSAGES


def require_sending(core: Core, found: Channel, *more: Permission) -> None:
    core.world.require(found, _sending(found), *more)
