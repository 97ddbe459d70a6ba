"""How often one address is asked: an even pace, in the order of asking; the clock and the waiting are given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Pace:
    """At most `per_second` starts within any second: each at least that far behind the one before."""

    per_second: float
    monotonic: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    _next: float = field(default=float("-inf"))

    async def turn(self) -> None:
        """Return when a request may begin."""
        now = self.monotonic()
        begins = max(self._next, now)
        self._next = begins + 1 / self.per_second
        if begins > now:
            await self.sleep(begins - now)

    def wait_of_next(self) -> float:
        """Return the seconds that a request which is asked for now would wait."""
        return max(0.0, self._next - self.monotonic())
