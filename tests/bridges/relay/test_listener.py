"""The application-service API: who is let in, what is answered, and that nothing is acknowledged unkept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from agent.bridge import BridgeStartFailed
from agent.store.errors import DatabaseUnavailable
from bridges.relay.listener import Listener

TOKEN = "the homeserver's own token"
PUT = "/_matrix/app/v1/transactions/1"


class Kept:
    def __init__(self) -> None:
        self.events: list[Any] = []
        self.faults: list[Exception] = []

    async def take(self, events: Sequence[Any]) -> None:
        if self.faults:
            raise self.faults.pop()
        self.events += events


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest_asyncio.fixture
async def listener(kept: Kept) -> AsyncIterator[Listener]:
    made = Listener(TOKEN, kept.take, "127.0.0.1", 0)
    await made.start()
    yield made
    await made.stop()


async def ask(
    listener: Listener, method: str, path: str, *, token: str | None = TOKEN, body: Any = None, **query: str
) -> tuple[int, Any]:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    address = f"http://127.0.0.1:{listener.port}{path}"
    async with (
        aiohttp.ClientSession() as http,
        http.request(method, address, headers=headers, json=body, params=query) as answer,
    ):
        return answer.status, await answer.json()


async def test_a_transaction_is_kept_and_acknowledged(listener: Listener, kept: Kept) -> None:
    assert await ask(listener, "PUT", PUT, body={"events": [{"a": 1}], "ephemeral": []}) == (200, {})
    assert await ask(listener, "PUT", "/transactions/2", body={"events": [{"b": 2}]}) == (200, {})
    assert kept.events == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    ("token", "query"),
    [
        (None, {}),
        (None, {"access_token": TOKEN}),
        ("wrong", {}),
        ("", {}),
        (TOKEN + "x", {}),
        (TOKEN, {"access_token": "wrong"}),
        ("wrong", {"access_token": TOKEN}),
    ],
)
async def test_nobody_else_is_let_in(listener: Listener, kept: Kept, token: str | None, query: dict[str, str]) -> None:
    for method, path in (("PUT", PUT), ("POST", "/_matrix/app/v1/ping"), ("GET", "/anything"), ("GET", PUT)):
        status, answer = await ask(listener, method, path, token=token, body={"events": [1]}, **query)
        assert (status, answer["errcode"]) == (403, "M_FORBIDDEN")
    assert kept.events == []


async def test_an_old_homeserver_gives_the_token_twice(listener: Listener) -> None:
    assert (await ask(listener, "PUT", PUT, body={"events": []}, access_token=TOKEN))[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/_matrix/app/v1/users/@_isthmus_1:home.test", 404, "M_NOT_FOUND"),
        ("GET", "/_matrix/app/v1/rooms/%23room:home.test", 404, "M_NOT_FOUND"),
        ("GET", "/_matrix/app/v1/nothing", 404, "M_UNRECOGNIZED"),
        ("POST", PUT, 405, "M_UNRECOGNIZED"),
        ("GET", "/_matrix/app/v1/ping", 405, "M_UNRECOGNIZED"),
    ],
)
async def test_the_rest_is_answered_as_matrix_has_it(
    listener: Listener, method: str, path: str, status: int, code: str
) -> None:
    answered, body = await ask(listener, method, path)
    assert (answered, body["errcode"]) == (status, code)


async def test_a_ping_is_answered(listener: Listener) -> None:
    assert await ask(listener, "POST", "/_matrix/app/v1/ping", body={"transaction_id": "x"}) == (200, {})


@pytest.mark.parametrize("body", [[], {"events": {}}, {"nothing": []}, "text", None])
async def test_what_is_no_transaction_is_refused(listener: Listener, kept: Kept, body: Any) -> None:
    status, answer = await ask(listener, "PUT", PUT, body=body)
    assert (status, answer["errcode"]) == (400, "M_BAD_JSON")
    assert kept.events == []


async def test_what_cannot_be_kept_is_not_acknowledged(listener: Listener, kept: Kept) -> None:
    kept.faults.append(DatabaseUnavailable("away"))
    assert (await ask(listener, "PUT", PUT, body={"events": [{"a": 1}]}))[0] == 503
    assert (await ask(listener, "PUT", PUT, body={"events": [{"a": 1}]}))[0] == 200
    assert kept.events == [{"a": 1}]


async def test_a_taken_port_is_told_with_the_way_out(listener: Listener, kept: Kept) -> None:
    second = Listener(TOKEN, kept.take, "127.0.0.1", listener.port)
    with pytest.raises(BridgeStartFailed, match="set another port"):
        await second.start()
