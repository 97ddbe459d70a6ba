"""The HTTP side: reading requests, striking them with faults, limits, answers, files."""

import asyncio
import base64
import hashlib
import json
import traceback
from typing import Any

from aiohttp import BodyPartReader, web

from tests.servers.discord import rest
from tests.servers.discord.core import Core
from tests.servers.discord.errors import DiscordError, unauthorized
from tests.servers.discord.faults import Fault, Limit, Scope
from tests.servers.discord.journal import Request
from tests.servers.discord.records import Upload
from tests.servers.discord.routing import ENDPOINTS, match

API = "/api/v10"
HEADERS = {"Content-Type": "application/json"}
"""Clients compare it whole: there is no charset in it."""
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg=="
)
MAJOR = ("channel_id", "guild_id", "webhook_id")
assert rest.__all__, "the routes are registered"


class Server:
    """Serves a `Core` on the loopback interface."""

    def __init__(self, core: Core, port: int = 0) -> None:
        self.core = core
        self.failures: list[str] = []
        """What broke in this server itself, and what it was asked and does not know."""
        self._port = port
        self._plain = Limit()
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", API + "/{tail:.*}", self._api)
        app.router.add_get("/gateway", self.core.gateway.serve)
        app.router.add_get("/gateway/", self.core.gateway.serve)
        app.router.add_get("/cdn/{path:.*}", self._file)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]
        self.core.base = f"http://127.0.0.1:{self._port}"
        self.core.gateway.url = lambda: f"ws://127.0.0.1:{self._port}/gateway"

    async def stop(self) -> None:
        self.core.gateway.drop()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _file(self, request: web.Request) -> web.StreamResponse:
        path = request.match_info["path"]
        if path in self.core.world.files:
            data, kind = self.core.world.files[path]
            return web.Response(body=data, headers={"Content-Type": kind})
        if path.startswith(("avatars/", "icons/", "embed/avatars/", "emojis/", "stickers/", "guilds/")):
            return web.Response(body=PICTURE, headers={"Content-Type": "image/png"})
        return web.Response(status=404)

    async def _api(self, request: web.Request) -> web.StreamResponse:
        call = await _read(request)
        self.core.requests.append(call)
        self.core.changes.notify()
        fault = self.core.faults.strike(call)
        if fault is not None and fault.wait:
            await asyncio.sleep(fault.wait)
        answer = _struck(fault, call) if fault is not None and fault.status else self._carried_out(call)
        if fault is not None and fault.lost:
            if request.transport is not None:
                request.transport.abort()
            self.core.changes.notify()
            return answer
        call.status = answer.status
        self.core.changes.notify()
        return answer

    def _carried_out(self, call: Request) -> web.Response:
        limited, headers = self._limited(call)
        if limited is not None:
            return limited
        try:
            body = self._handled(call)
        except DiscordError as error:
            return _answer(error.status, error.body, headers)
        except Exception:  # noqa: BLE001 - it is reported when the server stops
            self.failures.append(f"{call.method} {call.path} broke this server:\n{traceback.format_exc()}")
            return _answer(500, {"message": "500: Internal Server Error", "code": 0}, headers)
        status = ENDPOINTS[call.method, call.template].status if body is not None else 204
        return _answer(status, body, headers)

    def _handled(self, call: Request) -> Any:
        if not call.template:
            self.failures.append(f"{call.method} {call.path}: this server does not know the route")
            raise DiscordError(404, 0, "404: Not Found")
        endpoint = ENDPOINTS[call.method, call.template]
        said = call.headers.get("Authorization")
        if (not endpoint.is_open or said is not None) and said != f"Bot {self.core.gateway.token}":
            raise unauthorized()
        return endpoint.handler(self.core, call)

    def _limited(self, call: Request) -> tuple[web.Response | None, dict[str, str]]:
        """The 429 when the route's bucket is empty, and the headers of the bucket."""
        limit = self.core.faults.limits.get((call.method, call.template), self._plain)
        remaining, reset, let_in = limit.take(_bucket(call))
        headers = {
            "X-RateLimit-Bucket": _bucket(call),
            "X-RateLimit-Limit": str(limit.count),
            "X-RateLimit-Remaining": str(remaining),
            "X-RateLimit-Reset-After": f"{reset:.3f}",
        }
        if let_in:
            return None, headers
        return _struck(Fault(status=429, retry_after=round(reset + 0.001, 3)), call), headers


async def _read(request: web.Request) -> Request:
    path = request.rel_url.raw_path.removeprefix(API)
    template, params = match(request.method, path)
    body: Any = None
    uploads: dict[int, Upload] = {}
    multipart = request.content_type == "multipart/form-data"
    if multipart:
        async for part in await request.multipart():
            if not isinstance(part, BodyPartReader):
                continue
            if part.name == "payload_json":
                body = json.loads(await part.text())
            elif (number := (part.name or "").removeprefix("files[").removesuffix("]")).isdecimal():
                data = bytes(await part.read())
                kind = part.headers.get("Content-Type", "application/octet-stream")
                uploads[int(number)] = Upload(part.filename or "file", data, kind)
    elif request.can_read_body:
        text = await request.text()
        try:
            body = json.loads(text) if text else None
        except ValueError:
            body = text
    query, headers = dict(request.query), dict(request.headers)
    return Request(request.method, path, template, params, query, headers, body, uploads, multipart)


def _answer(status: int, body: Any, headers: dict[str, str]) -> web.Response:
    if body is None:
        return web.Response(status=status, headers=headers)
    return web.Response(status=status, body=json.dumps(body).encode(), headers={**HEADERS, **headers})


def _bucket(call: Request) -> str:
    """The bucket that a request draws from: its route, for each channel, server or webhook."""
    major = ":".join(call.params.get(key, "") for key in MAJOR)
    return hashlib.sha256(f"{major}:{call.method}:{call.template}".encode()).hexdigest()[:32]


def _struck(fault: Fault, call: Request) -> web.Response:
    if fault.status != 429:
        return _answer(fault.status, {"message": fault.message, "code": fault.code}, {})
    if fault.cloudflare:
        page = {"Content-Type": "text/html", "Retry-After": str(fault.retry_after)}
        return web.Response(status=429, text="error code: 1015", headers=page)
    everywhere = fault.scope is Scope.GLOBAL
    headers = {
        "Via": "1.1 google",
        "Retry-After": str(max(1, round(fault.retry_after))),
        "X-RateLimit-Scope": fault.scope.value,
        "X-RateLimit-Reset-After": str(fault.retry_after),
        "X-RateLimit-Bucket": _bucket(call),
        "X-RateLimit-Limit": "5",
        "X-RateLimit-Remaining": "0",
        **({"X-RateLimit-Global": "true"} if everywhere else {}),
    }
    body = {"message": "You are being rate limited.", "retry_after": fault.retry_after, "global": everywhere}
    return _answer(429, body, headers)
