"""Members of servers and bans."""

from dataclasses import replace

from tests.servers.discord import payloads, people
from tests.servers.discord.core import Core
from tests.servers.discord.errors import DiscordError, unknown
from tests.servers.discord.events import Intent
from tests.servers.discord.journal import Request
from tests.servers.discord.members import named
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import JSON
from tests.servers.discord.routing import route


@route("GET", "/guilds/{guild_id}/members")
def members(core: Core, call: Request) -> list[JSON]:
    guild = core.world.guild(call.id("guild_id"))
    if Intent.GUILD_MEMBERS not in core.gateway.allowed:
        raise DiscordError(403, 50001, "Missing Access")
    after, limit = int(call.query.get("after", 0)), int(call.query.get("limit", 1))
    found = sorted(core.world.guild_members(guild.id), key=lambda one: one.user_id)
    return [payloads.member(core.world, one) for one in found if one.user_id > after][:limit]


@route("GET", "/guilds/{guild_id}/members/search")
def search(core: Core, call: Request) -> list[JSON]:
    guild = core.world.guild(call.id("guild_id"))
    found = named(core.world, guild.id, call.query.get("query", ""))
    return [payloads.member(core.world, one) for one in found][: int(call.query.get("limit", 1))]


@route("GET", "/guilds/{guild_id}/members/{user_id}")
def member(core: Core, call: Request) -> JSON:
    guild = core.world.guild(call.id("guild_id"))
    return payloads.member(core.world, core.world.member(guild.id, call.id("user_id")))


@route("PATCH", "/guilds/{guild_id}/members/@me")
def change_me(core: Core, call: Request) -> JSON:
    guild_id = call.id("guild_id")
    core.world.require_in_guild(guild_id, Permission.CHANGE_NICKNAME)
    found = core.world.member(guild_id, core.world.bot.id)
    return payloads.member(core.world, people.changed(core, replace(found, nick=call.json.get("nick") or None)))


@route("PATCH", "/guilds/{guild_id}/members/{user_id}")
def change(core: Core, call: Request) -> JSON:
    guild_id, body = call.id("guild_id"), call.json
    found = core.world.member(guild_id, call.id("user_id"))
    if "nick" in body:
        core.world.require_in_guild(guild_id, Permission.MANAGE_NICKNAMES)
        found = replace(found, nick=body["nick"] or None)
    if "roles" in body:
        core.world.require_in_guild(guild_id, Permission.MANAGE_ROLES)
        found = replace(found, roles=tuple(int(one) for one in body["roles"] or ()))
    if "communication_disabled_until" in body:
        core.world.require_in_guild(guild_id, Permission.MODERATE_MEMBERS)
        found = replace(found, timed_out=body["communication_disabled_until"] is not None)
    return payloads.member(core.world, people.changed(core, found))


@route("DELETE", "/guilds/{guild_id}/members/{user_id}")
def kick(core: Core, call: Request) -> None:
    guild_id = call.id("guild_id")
    core.world.require_in_guild(guild_id, Permission.KICK_MEMBERS)
    people.left(core, guild_id, core.world.member(guild_id, call.id("user_id")).user_id)


@route("PUT", "/guilds/{guild_id}/members/{user_id}/roles/{role_id}")
def give_role(core: Core, call: Request) -> None:
    _change_roles(core, call, give=True)


@route("DELETE", "/guilds/{guild_id}/members/{user_id}/roles/{role_id}")
def take_role(core: Core, call: Request) -> None:
    _change_roles(core, call, give=False)


def _change_roles(core: Core, call: Request, *, give: bool) -> None:
    guild_id, role_id = call.id("guild_id"), call.id("role_id")
    core.world.require_in_guild(guild_id, Permission.MANAGE_ROLES)
    if role_id not in core.world.roles:
        raise unknown("role")
    found = core.world.member(guild_id, call.id("user_id"))
    others = tuple(one for one in found.roles if one != role_id)
    people.given(core, guild_id, found.user_id, (*others, role_id) if give else others)


@route("GET", "/guilds/{guild_id}/bans")
def bans(core: Core, call: Request) -> list[JSON]:
    guild_id = call.id("guild_id")
    core.world.require_in_guild(guild_id, Permission.BAN_MEMBERS)
    return [_ban(core, *key) for key in core.world.bans if key[0] == guild_id]


@route("GET", "/guilds/{guild_id}/bans/{user_id}")
def ban(core: Core, call: Request) -> JSON:
    guild_id = call.id("guild_id")
    core.world.require_in_guild(guild_id, Permission.BAN_MEMBERS)
    if (guild_id, call.id("user_id")) not in core.world.bans:
        raise unknown("ban")
    return _ban(core, guild_id, call.id("user_id"))


def _ban(core: Core, guild_id: int, user_id: int) -> JSON:
    return {"reason": core.world.bans[guild_id, user_id], "user": payloads.user(core.world.user(user_id))}


@route("PUT", "/guilds/{guild_id}/bans/{user_id}")
def put_ban(core: Core, call: Request) -> None:
    guild_id = call.id("guild_id")
    core.world.require_in_guild(guild_id, Permission.BAN_MEMBERS)
    people.banned(core, guild_id, core.world.user(call.id("user_id")).id, call.headers.get("X-Audit-Log-Reason"))


@route("DELETE", "/guilds/{guild_id}/bans/{user_id}")
def lift_ban(core: Core, call: Request) -> None:
    guild_id = call.id("guild_id")
    core.world.require_in_guild(guild_id, Permission.BAN_MEMBERS)
    if (guild_id, call.id("user_id")) not in core.world.bans:
        raise unknown("ban")
    people.unbanned(core, guild_id, call.id("user_id"))
