"""What Discord says of a token: whose it is, which intents are switched on, what is missing in which server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import aiohttp

from agent.hookspecs import Health

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bridges.discord.settings import DiscordSettings

PORTAL: Final = "https://discord.com/developers/applications"
PERMISSIONS: Final = {
    "View Channels": 1 << 10,
    "Send Messages": 1 << 11,
    "Embed Links": 1 << 14,
    "Attach Files": 1 << 15,
    "Read Message History": 1 << 16,
    "Manage Webhooks": 1 << 29,
    "Send Messages in Threads": 1 << 38,
}
"""What the agent needs: Manage Webhooks for personas with names and pictures of their own, the rest to answer."""
_ADMINISTRATOR: Final = 1 << 3
_MEMBERS: Final = 1 << 14 | 1 << 15
_CONTENT: Final = 1 << 18 | 1 << 19
"""Flags of an application whose intent is switched on; the second of each: as a bot of few servers."""
_SECONDS: Final = 15.0
_PAGE: Final = 200
_MOST: Final = 1_000
"""Servers that are looked at."""


class Unreachable(Exception):
    """Discord did not answer; the text says how."""


class TokenRefused(Exception):
    """Discord does not take the token."""


@dataclass(frozen=True, slots=True)
class Application:
    """The application that a token belongs to."""

    application_id: int
    name: str
    has_content: bool
    """Whether the Message Content Intent is switched on."""
    has_members: bool
    """Whether the Server Members Intent is switched on."""

    @property
    def invite(self) -> str:
        """Return the link with which it is let into a server, with the permissions that it needs and no others."""
        query = {
            "client_id": self.application_id,
            "scope": "bot applications.commands",
            "permissions": sum(PERMISSIONS.values()),
        }
        return f"https://discord.com/oauth2/authorize?{urlencode(query)}"

    @property
    def intents_page(self) -> str:
        """Return where its intents are switched on."""
        return f"{PORTAL}/{self.application_id}/bot"


async def application_of(token: str, api_base: str) -> Application:
    """Ask whose token it is.

    Raises:
        TokenRefused: nobody's.
        Unreachable: Discord did not answer as it does.
    """
    found = await _ask(token, api_base, "/applications/@me")
    try:
        flags = int(found.get("flags") or 0)
        return Application(int(found["id"]), str(found["name"]), bool(flags & _CONTENT), bool(flags & _MEMBERS))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise Unreachable(f"{api_base} does not answer as Discord does") from None


async def lacking(token: str, api_base: str) -> dict[str, list[str]]:
    """Return each server that the bot is in, by name, with the permissions that its roles lack there.

    Raises:
        TokenRefused: nobody's.
        Unreachable: Discord did not answer as it does.
    """
    servers: list[Any] = []
    while len(servers) < _MOST:
        after = f"&after={servers[-1]['id']}" if servers else ""
        page = await _ask(token, api_base, f"/users/@me/guilds?limit={_PAGE}{after}")
        servers += page
        if len(page) < _PAGE:
            break
    found: dict[str, list[str]] = {}
    for server in servers:
        held = int(server["permissions"])
        missing = [] if held & _ADMINISTRATOR else [name for name, bit in PERMISSIONS.items() if not held & bit]
        found.setdefault(str(server["name"]), []).extend(missing)
    return found


async def health(settings: DiscordSettings) -> Sequence[Health]:
    """Return a line for everything that keeps the agent from being what the settings say, or one that says: well."""
    token, api_base = settings.token.resolve().get_secret_value(), settings.api_base
    try:
        application = await application_of(token, api_base)
        servers = await lacking(token, api_base)
    except TokenRefused:
        text = f"Discord refuses the token ({settings.token})"
        return [
            Health("bridge discord", "fail", text, "make a new one with Reset Token, and run isthmus setup discord")
        ]
    except Unreachable as error:
        return [Health("bridge discord", "fail", str(error), "check the network, or api_base in [bridges.discord]")]
    return [
        Health("bridge discord", "ok", f"{application.name} ({application.application_id}), servers: {len(servers)}"),
        *_intents(application, settings),
        *_servers(application, servers),
    ]


def _intents(application: Application, settings: DiscordSettings) -> Iterator[Health]:
    for intent, key, is_wanted, has in (
        ("Message Content Intent", "message_content", settings.message_content, application.has_content),
        ("Server Members Intent", "members", settings.members, application.has_members),
    ):
        if is_wanted and not has:
            yield Health(
                "bridge discord",
                "fail",
                f"the {intent} is switched off in the developer portal",
                f"switch it on at {application.intents_page}, or set {key} = false in [bridges.discord]",
            )


def _servers(application: Application, servers: dict[str, list[str]]) -> Iterator[Health]:
    if not servers:
        yield Health("bridge discord", "warn", "it is in no server", f"let it in: {application.invite}")
    for name, missing in servers.items():
        if missing:
            text = f"in {name} it lacks {', '.join(missing)}"
            yield Health(
                "bridge discord", "warn", text, f"give its role that, or let it in again: {application.invite}"
            )


async def _ask(token: str, api_base: str, path: str) -> Any:
    own_version = await asyncio.to_thread(version, "isthmus")  # it looks through every installed package
    headers = {"Authorization": f"Bot {token}", "User-Agent": f"DiscordBot (isthmus, {own_version})"}
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(api_base + path, headers=headers) as response,
        ):
            if response.status == 401:  # noqa: PLR2004  # HTTP's own number
                raise TokenRefused
            if response.status != 200:  # noqa: PLR2004  # HTTP's own number
                raise Unreachable(f"{api_base} answers {response.status}")
            return await response.json(content_type=None)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise Unreachable(f"{api_base} cannot be reached ({type(error).__name__})") from None
