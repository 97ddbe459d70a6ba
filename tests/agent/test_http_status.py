from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from structlog.testing import capture_logs

from agent import http_status
from agent.http_status import HttpStatus, HttpStatusError
from agent.metrics import Metrics


class Part:
    def __init__(self) -> None:
        self.missing: str | None = None
        self.error: Exception | None = None
        self.delay = 0.0

    async def __call__(self) -> str | None:
        await asyncio.sleep(self.delay)
        if self.error:
            raise self.error
        return self.missing


@pytest.fixture
def part() -> Part:
    return Part()


@pytest.fixture
async def server(part: Part) -> AsyncIterator[HttpStatus]:
    own = Metrics()
    own.enable()
    own.declare("things", "counter", (), "Things.")
    own.emit("things", 2)
    server = HttpStatus("127.0.0.1", 0, {"database": part}, own.render)
    await server.start()
    yield server
    await server.stop()


async def get(server: HttpStatus, path: str) -> tuple[int, str, Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{server.port}{path}") as response,
    ):
        kind = response.headers["Content-Type"]
        return response.status, kind, await (response.json() if "json" in kind else response.text())


async def test_metrics(server: HttpStatus) -> None:
    status, kind, body = await get(server, "/metrics")
    assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert "isthmus_things_total 2.0" in body


async def test_health_does_not_depend_on_readiness(server: HttpStatus, part: Part) -> None:
    part.missing = "gone"
    assert (await get(server, "/healthz"))[::2] == (200, {"status": "ok"})


async def test_readiness(server: HttpStatus, part: Part) -> None:
    assert (await get(server, "/readyz"))[::2] == (200, {"status": "ready", "missing": {}})
    part.missing = "does not answer"
    expected = (503, {"status": "not ready", "missing": {"database": "does not answer"}})
    assert (await get(server, "/readyz"))[::2] == expected


async def test_a_check_that_fails_or_hangs_is_not_ready(
    server: HttpStatus, part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    part.error = ValueError("canary")
    with capture_logs() as lines:
        status, _, body = await get(server, "/readyz")
    assert (status, body["missing"]) == (503, {"database": "the check failed"})
    assert lines[0]["event"] == "readiness_check_failed"
    monkeypatch.setattr(http_status, "CHECK_SECONDS", 0.05)
    part.delay = 30
    status, _, body = await get(server, "/readyz")
    assert (status, body["missing"]) == (503, {"database": "no answer within 0.05 s"})


async def test_other_paths_are_not_there(server: HttpStatus) -> None:
    assert (await get(server, "/"))[0] == 404


async def test_a_port_in_use_is_named(server: HttpStatus) -> None:
    with pytest.raises(HttpStatusError, match=rf"127\.0\.0\.1:{server.port} .*\[metrics\] host and port"):
        await HttpStatus("127.0.0.1", server.port, {}).start()


async def test_stopping_twice_or_never_started() -> None:
    server = HttpStatus("127.0.0.1", 0, {})
    await server.stop()
    await server.start()
    await server.stop()
    await server.stop()
