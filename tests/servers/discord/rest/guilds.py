"""Servers, their channels and roles."""

from dataclasses import replace

from tests.servers.discord import payloads
from tests.servers.discord.core import Core
from tests.servers.discord.errors import unknown
from tests.servers.discord.journal import Request
from tests.servers.discord.permissions import Permission
from tests.servers.discord.places import made_channel, overwrites
from tests.servers.discord.records import JSON, ChannelKind, Role
from tests.servers.discord.routing import route


@route("GET", "/guilds/{guild_id}")
def guild(core: Core, call: Request) -> JSON:
    found = core.world.guild(call.id("guild_id"))
    made = payloads.guild(core.world, found)
    if call.query.get("with_counts", "").lower() in {"1", "true"}:
        count = len(core.world.guild_members(found.id))
        made |= {"approximate_member_count": count, "approximate_presence_count": count}
    return made


@route("GET", "/guilds/{guild_id}/channels")
def channels(core: Core, call: Request) -> list[JSON]:
    found = core.world.guild(call.id("guild_id"))
    return [payloads.channel(core.world, one) for one in core.world.guild_channels(found.id)]


@route("POST", "/guilds/{guild_id}/channels", status=201)
def create_channel(core: Core, call: Request) -> JSON:
    guild_id = call.id("guild_id")
    core.world.require_in_guild(guild_id, Permission.MANAGE_CHANNELS)
    body = call.json
    made = made_channel(
        core,
        guild_id,
        body["name"],
        ChannelKind(body.get("type") or 0),
        parent_id=int(body["parent_id"]) if body.get("parent_id") else None,
        rules=overwrites(body.get("permission_overwrites") or ()),
        topic=body.get("topic"),
    )
    return payloads.channel(core.world, made)


@route("GET", "/guilds/{guild_id}/threads/active")
def active_threads(core: Core, call: Request) -> JSON:
    world = core.world
    found = world.guild(call.id("guild_id"))
    seen = [one for one in world.threads(found.id) if Permission.VIEW_CHANNEL in world.permissions(world.bot.id, one)]
    own = [payloads.thread_member(one, world.bot.id) for one in seen if world.bot.id in one.members]
    return {"threads": [payloads.channel(world, one) for one in seen], "members": own}


@route("GET", "/guilds/{guild_id}/roles")
def roles(core: Core, call: Request) -> list[JSON]:
    found = core.world.guild(call.id("guild_id"))
    return [payloads.role(one) for one in core.world.guild_roles(found.id)]


@route("GET", "/guilds/{guild_id}/roles/{role_id}")
def role(core: Core, call: Request) -> JSON:
    return payloads.role(_role(core, call))


@route("POST", "/guilds/{guild_id}/roles")
def create_role(core: Core, call: Request) -> JSON:
    guild_id = call.id("guild_id")
    core.world.require_in_guild(guild_id, Permission.MANAGE_ROLES)
    body = call.json
    held = int(body.get("permissions") or core.world.roles[guild_id].permissions)
    made = Role(core.world.ids.next(), guild_id, body.get("name") or "new role", held, position=1)
    core.world.roles[made.id] = made
    told = {"guild_id": str(guild_id), "role": payloads.role(made)}
    core.gateway.emit("GUILD_ROLE_CREATE", told, guild_id=guild_id)
    return payloads.role(made)


@route("PATCH", "/guilds/{guild_id}/roles/{role_id}")
def change_role(core: Core, call: Request) -> JSON:
    guild_id = call.id("guild_id")
    core.world.require_in_guild(guild_id, Permission.MANAGE_ROLES)
    found = _role(core, call)
    body = call.json
    held = body.get("permissions")
    made = replace(
        found, name=body.get("name") or found.name, permissions=found.permissions if held is None else int(held)
    )
    core.world.roles[made.id] = made
    told = {"guild_id": str(guild_id), "role": payloads.role(made)}
    core.gateway.emit("GUILD_ROLE_UPDATE", told, guild_id=guild_id)
    return payloads.role(made)


def _role(core: Core, call: Request) -> Role:
    core.world.guild(call.id("guild_id"))
    found = core.world.roles.get(call.id("role_id"))
    if found is None or found.guild_id != call.id("guild_id"):
        raise unknown("role")
    return found


@route("GET", "/guilds/{guild_id}/emojis")
def emojis(core: Core, call: Request) -> list[JSON]:
    found = core.world.guild(call.id("guild_id"))
    return core.world.emojis.get(found.id, [])


@route("GET", "/guilds/{guild_id}/stickers")
def stickers(core: Core, call: Request) -> list[JSON]:
    found = core.world.guild(call.id("guild_id"))
    return [one for one in core.world.stickers.values() if one.get("guild_id") == str(found.id)]


@route("GET", "/stickers/{sticker_id}")
def sticker(core: Core, call: Request) -> JSON:
    if call.id("sticker_id") not in core.world.stickers:
        raise unknown("sticker")
    return core.world.stickers[call.id("sticker_id")]
