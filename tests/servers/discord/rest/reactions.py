"""Reactions."""

from tests.servers.discord import payloads, reacting
from tests.servers.discord.core import Core
from tests.servers.discord.errors import unknown
from tests.servers.discord.journal import Request
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import JSON, Message
from tests.servers.discord.rest.channels import readable
from tests.servers.discord.routing import route

BASE = "/channels/{channel_id}/messages/{message_id}/reactions"


def _message(core: Core, call: Request, *needed: Permission) -> Message:
    found = readable(core, call, *needed)
    return core.world.message(found.id, call.id("message_id"))


def _sign(call: Request) -> str:
    sign = call.params["emoji_name"]
    if sign.isascii() and ":" not in sign:
        raise unknown("emoji")
    return sign


@route("PUT", BASE + "/{emoji_name}/@me")
def add(core: Core, call: Request) -> None:
    found = _message(core, call, Permission.READ_MESSAGE_HISTORY)
    sign = _sign(call)
    if all(one.emoji != sign for one in found.reactions):
        readable(core, call, Permission.ADD_REACTIONS)
    reacting.react(core, found, sign, core.world.bot.id)


@route("DELETE", BASE + "/{emoji_name}/@me")
def remove_own(core: Core, call: Request) -> None:
    reacting.unreact(core, _message(core, call), _sign(call), core.world.bot.id)


@route("DELETE", BASE + "/{emoji_name}/{user_id}")
def remove(core: Core, call: Request) -> None:
    found = _message(core, call, Permission.MANAGE_MESSAGES)
    reacting.unreact(core, found, _sign(call), call.id("user_id"))


@route("DELETE", BASE)
def clear(core: Core, call: Request) -> None:
    reacting.clear(core, _message(core, call, Permission.MANAGE_MESSAGES))


@route("DELETE", BASE + "/{emoji_name}")
def clear_sign(core: Core, call: Request) -> None:
    reacting.clear(core, _message(core, call, Permission.MANAGE_MESSAGES), _sign(call))


@route("GET", BASE + "/{emoji_name}")
def who(core: Core, call: Request) -> list[JSON]:
    found = _message(core, call)
    users = next((one.users for one in found.reactions if one.emoji == _sign(call)), ())
    after = int(call.query.get("after", 0))
    given = [payloads.user(core.world.user(one)) for one in sorted(users) if one > after]
    return given[: int(call.query.get("limit", 25))]
