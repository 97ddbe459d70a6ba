"""The API: message and system look-ups with the real service's behaviour, and switches for what goes wrong."""

import asyncio
import contextlib
import re
import time
from collections import Counter, deque
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Self

from aiohttp import web

from tests.servers.pluralkit.limiter import Limiter
from tests.servers.pluralkit.records import JSON, Member, Proxied, System

ACCOUNT = re.compile(r"[0-9]{17,19}")


class Behaviour(StrEnum):
    """What one answer does instead of the ordinary one."""

    OK = "ok"
    MISS = "miss"
    """404 with code 20006, although the row is there or will be."""
    EMPTY_404 = "empty_404"
    LIMITED = "limited"
    """429 with retry_after in milliseconds."""
    LIMITED_ZERO = "limited_zero"
    BROKEN = "broken"
    """500."""
    BLOCKED = "blocked"
    """403 with code 0."""
    STALL = "stall"
    """Nothing comes until the client gives up."""
    TRUNCATED = "truncated"
    NOT_JSON = "not_json"
    HUGE = "huge"
    REDIRECT = "redirect"
    OTHER_ID = "other_id"
    """An answer about another message."""
    OTHER_ORIGINAL = "other_original"
    OTHER_SENDER = "other_sender"
    NO_ORIGINAL = "no_original"
    NO_MEMBER = "no_member"
    NO_SYSTEM = "no_system"


class PluralKitServer:
    """A PluralKit on 127.0.0.1.

    Example::

        async with PluralKitServer() as pk:
            system = pk.system("Lark", "100000000000000001")
            wren = system.member("Wren", pronouns="they/them")
            pk.store(message_id, original_id, sender, channel, member=wren)
            pk.next(Behaviour.MISS, Behaviour.LIMITED)
    """

    def __init__(self, *, limited: bool = True) -> None:
        self.systems: list[System] = []
        self.rows: dict[str, Proxied] = {}
        self.script: deque[Behaviour] = deque()
        """What the next answers about messages do; afterwards they are ordinary."""
        self.otherwise = Behaviour.OK
        self.requests: list[tuple[float, str, dict[str, str]]] = []
        """Moment, path and headers of everything that was asked."""
        self.refused = 0
        """How often the limiter refused."""
        self.under_way: Counter[str] = Counter()
        self.most_at_once: Counter[str] = Counter()
        self.slow = 0.0
        """Seconds that each answer takes."""
        self.elsewhere = ""
        self._limiter = Limiter() if limited else None
        self._runner: web.AppRunner | None = None
        self._closing = asyncio.Event()
        self.port = 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def system(self, name: str, *accounts: str) -> System:
        made = System(name, set(accounts))
        self.systems.append(made)
        return made

    def system_of(self, member: Member) -> System:
        return next(each for each in self.systems if member in each.members)

    def store(
        self,
        message_id: str,
        original_id: str | None,
        sender: str,
        channel: str,
        *,
        member: Member,
        guild: str | None = None,
    ) -> None:
        """Commit the row of a proxied message."""
        self.rows[message_id] = Proxied(message_id, original_id, sender, channel, guild, self.system_of(member), member)

    def next(self, *behaviours: Behaviour) -> None:
        self.script.extend(behaviours)

    def asked(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(found == path for _, found, _ in self.requests)

    async def start(self) -> None:
        app = web.Application()
        app.router.add_get("/v2/messages/{id}", self._guarded(self._message))
        app.router.add_get("/v2/systems/{ref}", self._guarded(self._system))
        app.router.add_route("*", "/{rest:.*}", self._guarded(self._nothing))
        self._runner = web.AppRunner(app, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def _guarded(self, handler: Callable[[web.Request], Any]) -> Callable[[web.Request], Any]:
        async def handle(request: web.Request) -> web.StreamResponse:
            path = request.path
            self.requests.append((time.monotonic(), path, dict(request.headers)))
            if request.headers.get("User-Agent", "") in {"", "unknown"}:
                return web.Response(status=400)
            if self._limiter is not None and (wait := self._limiter.refuses(time.monotonic())) is not None:
                self.refused += 1
                return _limited(wait)
            self.under_way[path] += 1
            self.most_at_once[path] = max(self.most_at_once[path], self.under_way[path])
            try:
                if self.slow:
                    await asyncio.sleep(self.slow)
                response: web.StreamResponse = await handler(request)
                return response
            finally:
                self.under_way[path] -= 1

        return handle

    async def _message(self, request: web.Request) -> web.StreamResponse:
        behaviour = self.script.popleft() if self.script else self.otherwise
        asked = request.match_info["id"]
        row = self.rows.get(asked) or next((each for each in self.rows.values() if each.original_id == asked), None)
        if (failed := await self._failing(behaviour, request)) is not None:
            return failed
        if row is None:
            return _error(404, 20006, "Message not found.")
        return web.json_response(_changed(row.shown(), behaviour))

    async def _failing(self, behaviour: Behaviour, request: web.Request) -> web.StreamResponse | None:
        if behaviour is Behaviour.STALL:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), 30)
            return web.Response(status=504)
        if behaviour is Behaviour.TRUNCATED:
            return await _cut_off(request)
        if behaviour is Behaviour.REDIRECT:
            raise web.HTTPFound(self.elsewhere or f"{self.origin}/v2/messages/1")
        made = _FAILURES.get(behaviour)
        return None if made is None else made()

    async def _system(self, request: web.Request) -> web.StreamResponse:
        if self.otherwise is Behaviour.BROKEN:
            return _error(500, 0, "500: Internal Server Error")
        ref = request.match_info["ref"]
        found = next((each for each in self.systems if ref == each.uuid or ref in each.accounts), None)
        if found is None or not (ref == found.uuid or ACCOUNT.fullmatch(ref)):
            return _error(404, 20001, "System not found.")
        return web.json_response(found.shown())

    async def _nothing(self, request: web.Request) -> web.StreamResponse:
        if request.path.startswith("/v1"):
            return web.Response(status=410, text="Unsupported API version")
        return web.Response(status=404)


async def _cut_off(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "500", "Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(b'{"id": "1", "orig')
    if request.transport is not None:
        request.transport.close()
    return response


def _changed(shown: JSON, behaviour: Behaviour) -> JSON:
    changes: dict[Behaviour, JSON] = {
        Behaviour.OTHER_ID: {"id": "900000000000000001"},
        Behaviour.OTHER_ORIGINAL: {"original": "900000000000000002"},
        Behaviour.OTHER_SENDER: {"sender": "900000000000000003"},
        Behaviour.NO_ORIGINAL: {"original": ""},
        Behaviour.NO_MEMBER: {"member": None},
        Behaviour.NO_SYSTEM: {"system": None, "member": None},
    }
    return shown | changes.get(behaviour, {})


def _error(status: int, code: int, message: str) -> web.Response:
    return web.json_response({"message": message, "code": code}, status=status)


def _limited(milliseconds: int) -> web.Response:
    body = {"message": "429: too many requests", "retry_after": milliseconds, "code": 0}
    return web.json_response(body, status=429, headers={"X-RateLimit-Scope": "message"})


_FAILURES: dict[Behaviour, Callable[[], web.Response]] = {
    Behaviour.MISS: lambda: _error(404, 20006, "Message not found."),
    Behaviour.EMPTY_404: lambda: web.Response(status=404),
    Behaviour.LIMITED: lambda: _limited(150),
    Behaviour.LIMITED_ZERO: lambda: _limited(0),
    Behaviour.BROKEN: lambda: _error(500, 0, "500: Internal Server Error"),
    Behaviour.BLOCKED: lambda: _error(403, 0, "You have been blocked."),
    Behaviour.NOT_JSON: lambda: web.Response(text="<html>hello</html>"),
    Behaviour.HUGE: lambda: web.Response(text='{"a": "' + "x" * 600_000 + '"}'),
}
