"""Calls in both directions over one stream, a line of JSON each: a fake platform and an agent across processes.

A call is `{"call": name, "id": n, "data": …}`, its result `{"result": n, "data": …}`, and a call that failed
`{"error": n, "kind": …, "data": …}`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, Final

from agent.testing.fake_values import ConnectionLost

type Handler = Callable[[str, Any], Awaitable[Any]]
"""Answers a call: gets its name and data, returns what can be JSON, or raises."""

LINE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one line."""
_GRACE: Final = 1.0
"""Seconds that running handlers get when the stream has ended."""


class CallFailed(Exception):
    """The other side raised; `kind` is the name of its exception, `data` what it wanted to tell."""

    def __init__(self, kind: str, data: Any) -> None:
        super().__init__(f"{kind}: {data}")
        self.kind = kind
        self.data = data


class Peer:
    """One end of the stream; `run` reads until it ends."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler) -> None:
        self._reader = reader
        self._writer = writer
        self._handler = handler
        self._ids = count(1)
        self._open: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def call(self, name: str, data: Any = None) -> Any:
        """Call the other side and return its result.

        Raises:
            CallFailed: it raised.
            ConnectionLost: it is gone, perhaps after it took the call.
        """
        if self._closed:
            raise ConnectionLost(f"the connection is closed: {name} was not called")
        number = next(self._ids)
        future = self._open[number] = asyncio.get_running_loop().create_future()
        self._write({"call": name, "id": number, "data": data})
        try:
            return await future
        finally:
            self._open.pop(number, None)

    async def run(self) -> None:
        """Take what comes until the stream ends; then open calls fail, and running handlers may still finish."""
        try:
            while line := await self._reader.readline():
                self._take(json.loads(line))
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            await self.close()

    async def close(self) -> None:
        """End the stream."""
        if self._closed:
            return
        self._closed = True
        for future in self._open.values():
            if not future.done():
                future.set_exception(ConnectionLost("the connection was lost"))
        self._writer.close()
        if tasks := [task for task in self._tasks if task is not asyncio.current_task()]:
            _, late = await asyncio.wait(tasks, timeout=_GRACE)
            for task in late:
                task.cancel()
        with contextlib.suppress(ConnectionError, TimeoutError):
            await asyncio.wait_for(self._writer.wait_closed(), 1.0)

    def abort(self) -> None:
        """Break the connection, as a lost network does."""
        self._writer.transport.abort()

    def _take(self, line: dict[str, Any]) -> None:
        if "call" in line:
            task = asyncio.create_task(self._answer(line), name=f"call {line['call']}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            return
        number: int = line["error"] if "error" in line else line["result"]
        future = self._open.get(number)
        if future is None or future.done():
            return
        if "error" in line:
            future.set_exception(CallFailed(line["kind"], line["data"]))
        else:
            future.set_result(line["data"])

    async def _answer(self, line: dict[str, Any]) -> None:
        try:
            data = await self._handler(line["call"], line["data"])
            answer = {"result": line["id"], "data": data}
        except CallFailed as failure:
            answer = {"error": line["id"], "kind": failure.kind, "data": failure.data}
        except Exception as error:  # noqa: BLE001 - whoever called is told, and decides
            answer = {"error": line["id"], "kind": type(error).__name__, "data": str(error)}
        if not self._closed:
            self._write(answer)

    def _write(self, line: dict[str, Any]) -> None:
        self._writer.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
