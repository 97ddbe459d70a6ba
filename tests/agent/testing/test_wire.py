from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agent.testing.fake_values import ConnectionLost
from agent.testing.wire import CallFailed, Peer


async def handle(name: str, data: Any) -> Any:
    match name:
        case "wait":
            await asyncio.sleep(data)
        case "raise":
            raise ValueError(data)
        case "tell":
            raise CallFailed("Told", {"because": data})
    return data


@pytest_asyncio.fixture
async def peers(tmp_path: Path) -> AsyncIterator[tuple[Peer, Peer]]:
    accepted: asyncio.Future[Peer] = asyncio.get_running_loop().create_future()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(reader, writer, handle)
        accepted.set_result(peer)
        await peer.run()

    server = await asyncio.start_unix_server(connected, tmp_path / "wire")
    here = Peer(*await asyncio.open_unix_connection(tmp_path / "wire"), handle)
    reading = asyncio.create_task(here.run())
    there = await accepted
    yield here, there
    await there.close()
    await reading
    server.close()
    await server.wait_closed()


async def test_both_ends_may_call(peers: tuple[Peer, Peer]) -> None:
    here, there = peers
    data = {"text": "a\nb\u2028 ü", "list": [1, None, 2.5]}
    assert await here.call("echo", data) == data
    assert await there.call("echo", data) == data


async def test_a_slow_call_does_not_hold_up_the_next(peers: tuple[Peer, Peer]) -> None:
    here, _ = peers
    slow = asyncio.create_task(here.call("wait", 0.2))
    assert await here.call("echo", 1) == 1
    assert not slow.done()
    assert await slow == 0.2


@pytest.mark.parametrize(("name", "kind", "data"), [("raise", "ValueError", "no"), ("tell", "Told", {"because": "no"})])
async def test_what_is_raised_comes_back(peers: tuple[Peer, Peer], name: str, kind: str, data: Any) -> None:
    here, _ = peers
    with pytest.raises(CallFailed) as failure:
        await here.call(name, "no")
    assert (failure.value.kind, failure.value.data) == (kind, data)


@pytest.mark.parametrize("close", [Peer.close, Peer.abort])
async def test_open_calls_fail_when_the_connection_breaks(peers: tuple[Peer, Peer], close: Any) -> None:
    here, there = peers
    open_call = asyncio.create_task(here.call("wait", 0.05))
    await asyncio.sleep(0.01)
    closing = close(there)
    if closing is not None:
        await closing
    with pytest.raises(ConnectionLost):
        await open_call
    with pytest.raises(ConnectionLost):
        await here.call("echo", 1)
