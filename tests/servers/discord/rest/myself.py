"""The bot itself, its application, people and direct conversations, and where the gateway is."""

from dataclasses import replace

from tests.servers.discord import payloads
from tests.servers.discord.core import Core
from tests.servers.discord.errors import DiscordError
from tests.servers.discord.journal import Request
from tests.servers.discord.people import left
from tests.servers.discord.records import JSON
from tests.servers.discord.routing import route


@route("GET", "/gateway", is_open=True)
def gateway(core: Core, call: Request) -> JSON:
    return {"url": core.gateway.url()}


@route("GET", "/gateway/bot")
def gateway_bot(core: Core, call: Request) -> JSON:
    limit = {"total": 1000, "remaining": 999, "reset_after": 86_400_000, "max_concurrency": 16}
    return {"url": core.gateway.url(), "shards": core.shards, "session_start_limit": limit}


@route("GET", "/users/@me")
def me(core: Core, call: Request) -> JSON:
    return payloads.user(core.world.bot) | {"verified": True, "mfa_enabled": True, "locale": "en-US", "email": None}


@route("PATCH", "/users/@me")
def change_me(core: Core, call: Request) -> JSON:
    if name := call.json.get("username"):
        core.world.bot = replace(core.world.bot, name=name)
        core.world.users[core.world.bot.id] = core.world.bot
        core.gateway.emit("USER_UPDATE", payloads.user(core.world.bot))
    return me(core, call)


@route("GET", "/users/{user_id}")
def user(core: Core, call: Request) -> JSON:
    return payloads.user(core.world.user(call.id("user_id")))


@route("POST", "/users/@me/channels")
def open_dm(core: Core, call: Request) -> JSON:
    person = core.world.user(int(call.json.get("recipient_id") or 0))
    if person.bot:
        raise DiscordError(400, 50007, "Cannot send messages to this user")
    return payloads.channel(core.world, core.world.dm(person.id))


@route("GET", "/users/@me/guilds")
def my_guilds(core: Core, call: Request) -> list[JSON]:
    world = core.world
    found = sorted(guild for guild, user in world.members if user == world.bot.id)
    after, limit = int(call.query.get("after", 0)), int(call.query.get("limit", 200))
    return [_partial(core, guild_id) for guild_id in found if guild_id > after][:limit]


def _partial(core: Core, guild_id: int) -> JSON:
    one = core.world.guilds[guild_id]
    held = core.world.guild_permissions(core.world.bot.id, guild_id)
    return {
        "id": str(one.id),
        "name": one.name,
        "icon": None,
        "banner": None,
        "owner": one.owner_id == core.world.bot.id,
        "permissions": str(int(held)),
        "features": [],
    }


@route("DELETE", "/users/@me/guilds/{guild_id}")
def leave(core: Core, call: Request) -> None:
    guild = core.world.guild(call.id("guild_id"))
    left(core, guild.id, core.world.bot.id)


@route("GET", "/applications/@me")
@route("GET", "/oauth2/applications/@me")
def application(core: Core, call: Request) -> JSON:
    world = core.world
    owner = core.owner
    return {
        "id": str(world.application_id),
        "name": world.bot.name,
        "icon": None,
        "description": "",
        "summary": "",
        "bot_public": True,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "flags": core.gateway.flags,
        "hook": True,
        "owner": payloads.user(owner),
        "team": None,
        "bot": payloads.user(world.bot),
        "approximate_guild_count": len(my_guilds(core, call)),
        "integration_types_config": {"0": {}},
        "rpc_origins": [],
        "redirect_uris": [],
    }
