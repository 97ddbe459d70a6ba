"""The service's own rate limiter, its mistake included: the tenth call of a burst is used up and refused, with 0 ms."""

import math

RATE = 10
INTERVAL = 1 / RATE


class Limiter:
    """GCRA over one address."""

    def __init__(self) -> None:
        self._arrival = 0.0

    def refuses(self, now: float) -> int | None:
        """Milliseconds to wait, or None where the call may pass."""
        arrival = max(now, self._arrival) + INTERVAL
        remaining = math.floor(round((now - (arrival - RATE * INTERVAL)) / INTERVAL, 6))
        if remaining > 0:
            self._arrival = arrival
            return None
        if remaining == 0:
            self._arrival = arrival
            return 0
        return -remaining * 100
