"""Switches for what goes wrong over REST: 429, 5xx, slowness, refusals, answers that get lost."""

import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from random import Random

from tests.servers.discord.journal import Request


class Scope(Enum):
    USER = "user"
    GLOBAL = "global"
    SHARED = "shared"


@dataclass(slots=True)
class Fault:
    """Something that goes wrong with the requests it fits, `times` times (None: until it is taken away)."""

    times: int | None = 1
    method: str | None = None
    path: str | None = None
    """A path as Discord's description writes it, such as /channels/{channel_id}/messages."""
    status: int = 0
    """The status that is answered instead; 0: the request is carried out."""
    code: int = 0
    message: str = ""
    retry_after: float = 0.0
    scope: Scope = Scope.USER
    wait: float = 0.0
    """Seconds before anything else."""
    lost: bool = False
    """It is carried out, and the answer does not come."""
    cloudflare: bool = False
    """The 429 comes from in front of Discord: HTML, without `Via`."""
    chance: Callable[[], bool] | None = None
    met: int = 0
    """How many requests it struck."""

    def fits(self, request: Request) -> bool:
        if self.times is not None and self.met >= self.times:
            return False
        if self.method not in {None, request.method} or self.path not in {None, request.template}:
            return False
        return self.chance is None or self.chance()


class Faults:
    """The faults that are switched on. The first that fits a request strikes it."""

    def __init__(self) -> None:
        self._on: list[Fault] = []
        self.limits: dict[tuple[str, str], Limit] = {}

    def add(self, fault: Fault) -> Fault:
        self._on.append(fault)
        return fault

    def rate_limit(
        self,
        scope: Scope = Scope.USER,
        retry_after: float = 0.05,
        *,
        times: int | None = 1,
        method: str | None = None,
        path: str | None = None,
    ) -> Fault:
        """Answer 429; `retry_after` is seconds."""
        return self.add(Fault(times, method, path, status=429, retry_after=retry_after, scope=scope))

    def fail(
        self, status: int = 500, *, times: int | None = 1, method: str | None = None, path: str | None = None
    ) -> Fault:
        """Answer with an error of the server."""
        return self.add(Fault(times, method, path, status=status, message=f"{status}: Server Error"))

    def refuse(
        self, code: int = 50013, *, times: int | None = 1, method: str | None = None, path: str | None = None
    ) -> Fault:
        """Answer 403 with one of Discord's codes: 50013 no permission, 50001 no access."""
        text = {50001: "Missing Access", 50013: "Missing Permissions"}.get(code, "Forbidden")
        return self.add(Fault(times, method, path, status=403, code=code, message=text))

    def slow(
        self, seconds: float, *, times: int | None = 1, method: str | None = None, path: str | None = None
    ) -> Fault:
        return self.add(Fault(times, method, path, wait=seconds))

    def lose(self, *, times: int | None = 1, method: str | None = None, path: str | None = None) -> Fault:
        """Carry the request out and cut the line before the answer."""
        return self.add(Fault(times, method, path, lost=True))

    def sometimes(self, chance: float, random: Random, *faults: Fault) -> None:
        """Let one of `faults` strike a request with this chance, until `clear`."""
        for fault in faults:
            fault.times = None
            fault.chance = lambda: random.random() < chance / len(faults)
            self.add(fault)

    def limit(self, method: str, path: str, count: int, seconds: float) -> None:
        """Let a route take only so many requests in so many seconds, by channel, server or webhook."""
        self.limits[method, path] = Limit(count, seconds)

    def remove(self, fault: Fault) -> None:
        self._on.remove(fault)

    def clear(self) -> None:
        self._on.clear()
        self.limits.clear()

    def strike(self, request: Request) -> Fault | None:
        """The fault that strikes this request."""
        for fault in self._on:
            if fault.fits(request):
                fault.met += 1
                return fault
        return None


@dataclass(slots=True)
class Limit:
    """A bucket as Discord has them."""

    count: int = 1000
    seconds: float = 1.0
    _taken: dict[str, deque[float]] = field(default_factory=lambda: defaultdict(deque))

    def take(self, major: str, at: float | None = None) -> tuple[int, float, bool]:
        """How many requests remain, in how many seconds the bucket is whole again, and whether this one was let in."""
        instant = time.monotonic() if at is None else at
        taken = self._taken[major]
        while taken and taken[0] <= instant - self.seconds:
            taken.popleft()
        if len(taken) >= self.count:
            return 0, taken[0] + self.seconds - instant, False
        taken.append(instant)
        return self.count - len(taken), taken[0] + self.seconds - instant, True
