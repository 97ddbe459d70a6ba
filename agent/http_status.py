"""A small HTTP server for operators: `/metrics`, `/healthz` (the process answers), `/readyz` (it can do its work)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from agent import logs, metrics

if TYPE_CHECKING:
    from aiohttp import web

type Readiness = Callable[[], Awaitable[str | None]]
"""Answers None when its part is ready, else what is missing in a few words: no secrets, no names of people."""

CHECK_SECONDS = 2.0

_log = logs.get_logger("agent.http_status")


class HttpStatusError(Exception):
    """The status server cannot listen; the text names the address and the setting."""


class HttpStatus:
    """The server; `start()` it once, `stop()` it at the end."""

    def __init__(
        self,
        host: str,
        port: int,
        readiness: Mapping[str, Readiness],
        render: Callable[[], bytes] = metrics.render,
    ) -> None:
        """Take the address (port 0: any free one), the checks of `/readyz` by name, and what `/metrics` shows."""
        self._host = host
        self._port = port
        self._readiness = readiness
        self._render = render
        self._runner: web.AppRunner | None = None

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._port

    async def start(self) -> None:
        """Listen. Raises HttpStatusError when the address cannot be had."""
        from aiohttp import web

        app = web.Application()
        app.add_routes(
            [
                web.get("/metrics", self._metrics),
                web.get("/healthz", self._healthz),
                web.get("/readyz", self._readyz),
            ]
        )
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._host, self._port).start()
        except OSError as error:
            await runner.cleanup()
            raise HttpStatusError(
                f"cannot listen on {self._host}:{self._port} ({error.strerror or 'not a usable address'}): "
                "choose others in [metrics] host and port"
            ) from None
        self._runner = runner
        self._port = runner.addresses[0][1]

    async def stop(self) -> None:
        """Close; does nothing when it was not started."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _metrics(self, _request: web.Request) -> web.Response:
        from aiohttp import web

        return web.Response(body=self._render(), headers={"Content-Type": metrics.CONTENT_TYPE})

    async def _healthz(self, _request: web.Request) -> web.Response:
        from aiohttp import web

        return web.json_response({"status": "ok"})

    async def _readyz(self, _request: web.Request) -> web.Response:
        from aiohttp import web

        results = await asyncio.gather(*(self._check(name, check) for name, check in self._readiness.items()))
        missing = dict(result for result in results if result is not None)
        body = {"status": "not ready" if missing else "ready", "missing": missing}
        return web.json_response(body, status=503 if missing else 200)

    async def _check(self, name: str, check: Readiness) -> tuple[str, str] | None:
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                missing = await check()
        except TimeoutError:
            return name, f"no answer within {CHECK_SECONDS:g} s"
        except Exception as error:  # noqa: BLE001 - a check that fails is an answer, and the log has the detail
            _log.warning("readiness_check_failed", check=name, exc_info=error)
            return name, "the check failed"
        return None if missing is None else (name, missing)
