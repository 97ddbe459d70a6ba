"""How often one address is asked: never more than a number within any second, in the order of asking."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

SPAN: Final = 1.02
"""Seconds in which so many may begin: a little more than one, since requests do not leave the moment they begin."""


@dataclass(slots=True)
class Pace:
    """At most `most` starts within any second; a few that come together begin together."""

    most: int
    monotonic: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    _begun: deque[float] = field(default_factory=deque)
    """When the last of them began, `most` at most."""
    _waiting: int = 0
    _order: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def turn(self) -> None:
        """Return when a request may begin."""
        self._waiting += 1
        try:
            async with self._order:
                while (left := self._left()) > 0:
                    await self.sleep(left)
                if len(self._begun) == self.most:
                    self._begun.popleft()
                self._begun.append(self.monotonic())
        finally:
            self._waiting -= 1

    def wait_of_next(self) -> float:
        """Return about how many seconds a request that is asked for now would wait."""
        rounds, place = divmod(self._waiting, self.most)
        free = self.most - sum(self.monotonic() - begun < SPAN for begun in self._begun)
        if place < free:
            return rounds * SPAN
        return max(self._left(), 0.0) + rounds * SPAN

    def _left(self) -> float:
        """Return the seconds until the next may begin."""
        if len(self._begun) < self.most:
            return 0.0
        return self._begun[0] + SPAN - self.monotonic()
