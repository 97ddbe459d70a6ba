"""Asking a service about a message until it answers, within a budget; once for each message at a time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, Protocol

from plugins.message_proxy.values import Failed, Found, Instance, Lookup, Miss

if TYPE_CHECKING:
    from plugins.message_proxy.pace import Pace

FIRST_PAUSE: Final = 0.4
"""Seconds after the first miss; each further pause is twice as long."""
MISS_KEPT: Final = 30.0
"""Seconds that the last word "I do not know it" is believed."""
MOST_KEPT: Final = 2_000
"""Answers that are kept."""
AT_ONCE: Final = 8
"""Requests to one address that may be under way."""


class Adapter(Protocol):
    """One instance, as it is asked."""

    async def message(self, message_id: str) -> Lookup:
        """Ask once about a message."""
        ...

    async def system(self, account_id: str) -> str | Failed | None:
        """Ask once which system an account has."""
        ...

    async def close(self) -> None:
        """Let go of the connections."""
        ...


class Finder:
    """Asks one instance. What was found is kept, a miss for a while, a failure never."""

    def __init__(
        self,
        adapter: Adapter,
        pace: Pace,
        *,
        budget: float,
        monotonic: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._adapter = adapter
        self._pace = pace
        self._budget = budget
        self._monotonic = monotonic
        self._sleep = sleep
        self._found: OrderedDict[str, Found] = OrderedDict()
        self._missed: OrderedDict[str, float] = OrderedDict()
        self._running: dict[str, asyncio.Task[Lookup]] = {}
        self._free = asyncio.Semaphore(AT_ONCE)

    async def find(self, message_id: str) -> Lookup:
        """Return what the service says about a message; asked by several at once, it is asked once."""
        if (found := self._found.get(message_id)) is not None:
            return found
        missed = self._missed.get(message_id)
        if missed is not None and self._monotonic() - missed < MISS_KEPT:
            return Miss()
        task = self._running.get(message_id)
        if task is None:
            task = self._running[message_id] = asyncio.create_task(self._search(message_id))
            task.add_done_callback(lambda _: self._running.pop(message_id, None))
        return await asyncio.shield(task)

    async def system(self, account_id: str) -> str | Failed | None:
        """Return the key of an account's system, None when it has none."""
        await self._pace.turn()
        async with self._free:
            return await self._adapter.system(account_id)

    async def close(self) -> None:
        """Stop asking."""
        for task in list(self._running.values()):
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        await self._adapter.close()

    async def _search(self, message_id: str) -> Lookup:
        ends, pause = self._monotonic() + self._budget, FIRST_PAUSE
        last: Lookup = Failed("there was no time to ask")
        while self._monotonic() + self._pace.wait_of_next() < ends:
            await self._pace.turn()
            async with self._free:
                last = await self._adapter.message(message_id)
            if isinstance(last, Found):
                _keep(self._found, message_id, last)
                return last
            wait = pause
            if isinstance(last, Failed):
                if last.retry_after is None:
                    return last
                wait = max(pause / 2, last.retry_after)
            pause *= 2
            if self._monotonic() + wait >= ends:
                break
            await self._sleep(wait)
        if isinstance(last, Miss):
            _keep(self._missed, message_id, self._monotonic())
        return last


def _keep[V](kept: OrderedDict[str, V], key: str, value: V) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > MOST_KEPT:
        kept.popitem(last=False)


def known_instance(instances: tuple[Instance, ...], name: str) -> Instance | None:
    """Return an instance by its name."""
    return next((each for each in instances if each.name == name), None)
