"""Requests to services: addresses checked, redirects refused, answers bounded; what fails is a value."""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from plugins.message_proxy.addresses import Resolve, forbidden, resolve

if TYPE_CHECKING:
    import aiohttp

    from plugins.message_proxy.services import Approved

MOST_BYTES: Final = 256 * 1024
"""Of one answer; a system with long texts has a few thousand."""
PATIENCE: Final = 3.0
"""Seconds that one request may take."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: HTTP's status, the JSON of the body or None, and whether there was a body."""

    status: int
    body: Any
    is_empty: bool
    retry_after: float | None = None
    """Seconds, from the header that something in front of the service may add."""


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Nothing came back that could be read."""

    reason: str


def user_agent(version: str, contact: str | None) -> str:
    """Return what every request calls itself: product, version, and whom to ask, or plainly that nobody is named."""
    return f"Isthmus/{version} ({'contact not set' if contact is None else f'+{contact}'})"


class Asker:
    """Asks one instance."""

    def __init__(self, approved: Approved, user_agent: str, resolve: Resolve = resolve) -> None:
        self._approved = approved
        self._user_agent = user_agent
        self._resolve = resolve
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def get(self, path: str) -> Answer | NoAnswer:
        """Ask for a path below the instance's origin."""
        import aiohttp

        if (refused := self._refused()) is not None:
            return NoAnswer(refused)
        if self._session is None:
            self._session = self._open()
        try:
            async with asyncio.timeout(PATIENCE):
                async with self._session.get(
                    self._approved.origin + path, headers=self._headers(), allow_redirects=False
                ) as response:
                    content = await response.content.read(MOST_BYTES + 1)
                    while len(content) <= MOST_BYTES and (more := await response.content.read(MOST_BYTES)):
                        content += more
                    return _answer(response.status, content, response.headers)
        except TimeoutError:
            return NoAnswer("it took too long")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return NoAnswer(type(error).__name__)

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        from plugins.message_proxy.addresses import CheckedResolver

        resolver = None if self._approved.allow_private_networks else CheckedResolver(self._resolve)
        connector = aiohttp.TCPConnector(limit=16, resolver=resolver)
        return aiohttp.ClientSession(connector=connector, trust_env=False, cookie_jar=aiohttp.DummyCookieJar())

    def _headers(self) -> dict[str, str]:
        headers = {"User-Agent": self._user_agent, "Accept": "application/json"}
        if (token := self._approved.token) is not None:
            bare = token.resolve().get_secret_value()
            headers["Authorization"] = f"Bearer {bare}" if self._approved.descriptor.bearer else bare
        return headers

    def _refused(self) -> str | None:
        """Return why the address must not be asked."""
        if self._approved.allow_private_networks:
            return None
        parts = urlsplit(self._approved.origin)
        if parts.scheme != "https":
            return "only https is asked outside of private networks"
        try:
            literal = ipaddress.ip_address(parts.hostname or "")
        except ValueError:
            return None  # a name: every address that it resolves to is checked where the connection is made
        return "it is no address of the public internet" if forbidden(str(literal)) else None


def _answer(status: int, content: bytes, headers: Mapping[str, str]) -> Answer | NoAnswer:
    if len(content) > MOST_BYTES:
        return NoAnswer("it is too long")
    seconds = headers.get("Retry-After", "")
    retry_after = float(seconds) if seconds.isdigit() else None
    try:
        body = json.loads(content) if content else None
    except (ValueError, RecursionError):
        body = None
    return Answer(status, body, not content, retry_after)
