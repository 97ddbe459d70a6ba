"""The application's commands, everywhere and of one server."""

import re
from collections.abc import Callable

from tests.servers.discord.core import Core
from tests.servers.discord.errors import DiscordError, bad_form, no_access, unknown
from tests.servers.discord.journal import Request
from tests.servers.discord.records import JSON
from tests.servers.discord.routing import route

NAME = re.compile(r"^[-_'\w]{1,32}$")
MOST = 100
CHAT = 1
GLOBAL = "/applications/{application_id}/commands"
LOCAL = "/applications/{application_id}/guilds/{guild_id}/commands"
KEYS = (
    "name",
    "name_localizations",
    "description",
    "description_localizations",
    "options",
    "default_member_permissions",
    "dm_permission",
    "contexts",
    "integration_types",
    "nsfw",
    "type",
)


def both(method: str, tail: str = "", status: int = 200) -> Callable[..., Callable[[Core, Request], object]]:
    """Register a handler for the commands that are everywhere and for those of one server."""

    def register(handler: Callable[[Core, Request], object]) -> Callable[[Core, Request], object]:
        route(method, GLOBAL + tail, status=status)(handler)
        return route(method, LOCAL + tail, status=status)(handler)

    return register


def _place(core: Core, call: Request) -> int | None:
    if call.id("application_id") != core.world.application_id:
        raise DiscordError(403, 20012, "You are not authorized to perform this action on this application")
    if "guild_id" not in call.params:
        return None
    guild_id = call.id("guild_id")
    if guild_id not in core.world.guilds or (guild_id, core.world.bot.id) not in core.world.members:
        raise no_access()
    return guild_id


def _check(body: JSON) -> None:
    name = str(body.get("name") or "")
    if body.get("type", CHAT) == CHAT:
        if not NAME.match(name) or name != name.lower():
            raise bad_form("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
        if not 1 <= len(str(body.get("description") or "")) <= 100:
            raise bad_form("description", "BASE_TYPE_REQUIRED", "This field is required")
        _check_options(body.get("options") or [], "options")
    elif not 1 <= len(name) <= 32:
        raise bad_form("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 32 in length.")


def _check_options(options: list[JSON], path: str) -> None:
    if len(options) > 25:
        raise bad_form(path, "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
    names = [one["name"] for one in options]
    if len(set(names)) != len(names):
        raise bad_form(path, "APPLICATION_COMMAND_OPTIONS_NAME_DUPLICATED", "Option name must be unique")
    needed = [bool(one.get("required")) for one in options if one["type"] > 2]
    if needed != sorted(needed, reverse=True):
        raise bad_form(path, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed first")
    for at, one in enumerate(options):
        if len(one.get("choices") or ()) > 25:
            raise bad_form(f"{path}.{at}.choices", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
        _check_options(one.get("options") or [], f"{path}.{at}.options")


def _made(core: Core, place: int | None, body: JSON) -> JSON:
    """Keep a command; one of the same name and type is put away for it."""
    _check(body)
    kept = core.world.commands.setdefault(place, {})
    kind = body.get("type", CHAT)
    same = next((each for each in kept.values() if (each["name"], each["type"]) == (body["name"], kind)), None)
    number = int(same["id"]) if same is not None else core.world.ids.next()
    if same is None and sum(each["type"] == kind for each in kept.values()) >= MOST:
        raise DiscordError(400, 30032, f"Maximum number of application commands reached ({MOST}).")
    kept[number] = _whole(core, place, number, body)
    return kept[number]


def _whole(core: Core, place: int | None, number: int, body: JSON) -> JSON:
    made: JSON = {
        "id": str(number),
        "application_id": str(core.world.application_id),
        "version": str(core.world.ids.next()),
        "type": CHAT,
        "description": "",
        "default_member_permissions": None,
        "nsfw": False,
        "name_localizations": None,
        "description_localizations": None,
        "integration_types": [0],
        "contexts": None,
        **({"dm_permission": True} if place is None else {"guild_id": str(place)}),
    }
    return made | {key: body[key] for key in KEYS if key in body}


@both("GET")
def commands(core: Core, call: Request) -> list[JSON]:
    return list(core.world.commands.get(_place(core, call), {}).values())


@both("POST", status=201)
def create(core: Core, call: Request) -> JSON:
    return _made(core, _place(core, call), call.json)


@both("PUT")
def replace_all(core: Core, call: Request) -> list[JSON]:
    place = _place(core, call)
    if not isinstance(call.body, list):
        raise bad_form("commands", "BASE_TYPE_REQUIRED", "A list is required")
    for one in call.body:
        _check(one)
    made = [_made(core, place, one) for one in call.body]
    core.world.commands[place] = {int(one["id"]): one for one in made}
    return made


def _one(core: Core, call: Request) -> tuple[int | None, JSON]:
    place = _place(core, call)
    found = core.world.commands.get(place, {}).get(call.id("command_id"))
    if found is None:
        raise unknown("application command")
    return place, found


@both("GET", "/{command_id}")
def command(core: Core, call: Request) -> JSON:
    return _one(core, call)[1]


@both("PATCH", "/{command_id}")
def change(core: Core, call: Request) -> JSON:
    place, found = _one(core, call)
    body = {key: found[key] for key in KEYS if key in found} | call.json
    _check(body)
    made = _whole(core, place, int(found["id"]), body)
    core.world.commands[place][int(found["id"])] = made
    return made


@both("DELETE", "/{command_id}")
def delete(core: Core, call: Request) -> None:
    place, found = _one(core, call)
    del core.world.commands[place][int(found["id"])]
