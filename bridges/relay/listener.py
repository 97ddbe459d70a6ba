"""Where the homeserver brings events: a small server of the application-service API."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from aiohttp import web

from agent import logs, metrics
from agent.bridge import BridgeStartFailed
from agent.store.errors import StoreError

if TYPE_CHECKING:
    from aiohttp.typedefs import Handler

log = logs.get_logger(__name__)

metrics.declare("relay_transactions", "counter", ("outcome",), "Transactions of the homeserver, by outcome.")

LARGEST: Final = 32 * 1024 * 1024
"""Bytes of one transaction."""
_PREFIX: Final = "/_matrix/app/v1"

type Take = Callable[[Sequence[Any]], Awaitable[None]]
"""Keeps events; returns when that is committed."""


class Listener:
    """Takes transactions; each is acknowledged as soon as it is kept."""

    def __init__(self, token: str, take: Take, host: str, port: int) -> None:
        self._token = token.encode()
        self._take = take
        self._host = host
        self._port = port
        self._runner: web.AppRunner | None = None

    @property
    def port(self) -> int:
        """Where it listens, once it does."""
        if self._runner is None:
            return self._port
        return int(self._runner.addresses[0][1])

    async def start(self) -> None:
        """Begin to listen.

        Raises:
            BridgeStartFailed: the port is taken.
        """
        app = web.Application(client_max_size=LARGEST, middlewares=[self._guard])
        for prefix in (_PREFIX, ""):  # old homeservers know no prefix
            app.router.add_put(prefix + "/transactions/{transaction}", self._transaction)
            app.router.add_get(prefix + "/users/{user}", _nobody)
            app.router.add_get(prefix + "/rooms/{alias}", _nobody)
        app.router.add_post(_PREFIX + "/ping", _pong)
        # What is logged of a request would hold a token where a homeserver puts one into the address.
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            await self.stop()
            raise BridgeStartFailed(
                f"bridge relay: {self._host}:{self._port} cannot be listened on ({error.strerror}): set another port "
                "in [bridges.relay], and write the registration anew"
            ) from None

    async def stop(self) -> None:
        """Listen no more."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Let in nobody but the homeserver, and answer what is not known in Matrix's way."""
        if not self._is_homeserver(request):
            metrics.emit("relay_transactions", outcome="forbidden")
            return _refusal(403, "M_FORBIDDEN", "the token is missing or wrong")
        try:
            return await handler(request)
        except web.HTTPNotFound:
            return _refusal(404, "M_UNRECOGNIZED", "there is nothing here")
        except web.HTTPMethodNotAllowed:
            return _refusal(405, "M_UNRECOGNIZED", "not in this way")
        except web.HTTPRequestEntityTooLarge:
            return _refusal(413, "M_TOO_LARGE", "the transaction is too large")

    def _is_homeserver(self, request: web.Request) -> bool:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._token):
            return False
        old = request.query.get("access_token")
        return old is None or hmac.compare_digest(old.encode(), self._token)

    async def _transaction(self, request: web.Request) -> web.StreamResponse:
        try:
            body = json.loads(await request.read())
            events = body["events"]
            if not isinstance(events, list):
                raise TypeError
        except (ValueError, KeyError, TypeError):
            return _refusal(400, "M_BAD_JSON", "expected an object with events")
        try:
            await self._take(events)
        except StoreError as error:
            log.warning("transaction_not_kept", reason=str(error))
            metrics.emit("relay_transactions", outcome="postponed")
            return _refusal(503, "M_UNKNOWN", "try again later")
        metrics.emit("relay_transactions", outcome="kept")
        return web.json_response({})


async def _nobody(_: web.Request) -> web.StreamResponse:
    """Tell that a user or room is not made by being asked for."""
    return _refusal(404, "M_NOT_FOUND", "there is none")


async def _pong(_: web.Request) -> web.StreamResponse:
    return web.json_response({})


def _refusal(status: int, code: str, text: str) -> web.Response:
    return web.json_response({"errcode": code, "error": text}, status=status)
