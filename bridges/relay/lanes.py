"""Carries over what waits: in order within a room and direction, side by side elsewhere."""

from __future__ import annotations

import asyncio
import contextvars
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agent import logs, metrics
from agent.files import FileRefused
from agent.store.errors import StoreError
from bridges.relay.homeserver import HomeserverRefused, Unreachable
from bridges.relay.ties import SOON, KeptEarly, Later, Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bridges.relay.repository import Rows, Waiting

log = logs.get_logger(__name__)

metrics.declare("relayed", "counter", ("side", "outcome"), "What a relay has carried over, by what became of it.")

MOST_TRIES: Final = 3
"""Tries of an event that fails in a way nobody has foreseen, before it is set aside."""
LONGEST_PAUSE: Final = 10.0

type Carry = Callable[[Waiting, bool], Awaitable[None]]
"""Carries one event; the second argument says that it may have been begun before, so that it may stand there."""


@dataclass(frozen=True, slots=True)
class _Pause:
    """It is tried again after some seconds."""

    seconds: float
    is_doubtful: bool = True
    """Whether it may stand there already."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """It is not tried again."""

    state: str
    reason: str | None


class Lanes:
    """One lane for each room and direction that has something waiting."""

    def __init__(self, rows: Rows, carriers: Mapping[str, Carry]) -> None:
        self._rows = rows
        self._carriers = carriers
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._again: set[tuple[str, str]] = set()
        self._fresh: set[tuple[str, str]] = set()
        """Lanes whose first event is known not to have been begun before this process."""

    async def start(self) -> None:
        """Go on with what an earlier process left."""
        for side, room in await self._rows.lanes():
            self.wake(side, room)

    async def stop(self) -> None:
        """Stop; what waits is carried at the next start."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks.clear()

    def wake(self, side: str, room: str) -> None:
        """Look at once whether something waits in a lane."""
        lane = (side, room)
        if lane in self._tasks:
            self._again.add(lane)
        else:
            # Its log lines are nobody's turn, whoever wakes it.
            context = contextvars.Context()
            self._tasks[lane] = asyncio.create_task(self._run(lane), name=f"relay {side} {room}", context=context)

    async def idle(self) -> None:
        """Return when nothing waits."""
        while self._tasks:
            await asyncio.wait(set(self._tasks.values()))

    async def _run(self, lane: tuple[str, str]) -> None:
        try:
            while True:
                self._again.discard(lane)
                try:
                    waiting = await self._rows.waiting(*lane)
                    for each in waiting:
                        await self._carry(lane, each)
                except StoreError as error:
                    log.warning("relay_waits_for_database", reason=str(error))
                    self._fresh.discard(lane)  # what was posted may have no row yet
                    await asyncio.sleep(SOON)
                    continue
                if not waiting and lane not in self._again:
                    return
        finally:
            del self._tasks[lane]
            self._fresh.add(lane)

    async def _carry(self, lane: tuple[str, str], waiting: Waiting) -> None:
        """Carry one event, for as long as that can be hoped for."""
        pause, is_doubtful = SOON / 4, lane not in self._fresh
        while True:
            ended = await self._try(waiting, is_doubtful, pause)
            if not isinstance(ended, _Pause):
                break
            await asyncio.sleep(ended.seconds)
            pause, is_doubtful = min(pause * 2, LONGEST_PAUSE), is_doubtful or ended.is_doubtful
        self._fresh.add(lane)
        if ended is None:
            return
        await self._rows.settle(waiting.number, ended.state, ended.reason)
        if ended.reason is not None:
            log.warning("not_relayed", side=waiting.side, room=waiting.room_id, kind=waiting.kind, reason=ended.reason)
        metrics.emit("relayed", side=waiting.side, outcome="carried" if ended.reason is None else ended.state)

    async def _try(self, waiting: Waiting, is_doubtful: bool, pause: float) -> _Ended | _Pause | None:  # noqa: FBT001
        """Try once; None for what is kept for later in a state of its own."""
        try:
            await self._carriers[waiting.side](waiting, is_doubtful)
        except (Later, Unreachable) as later:
            log.info("relay_waits", side=waiting.side, room=waiting.room_id, reason=str(later))
            told = later if isinstance(later, Later) else Later("", pause, is_doubtful=True)
            return _Pause(told.seconds, is_doubtful=told.is_doubtful)
        except HomeserverRefused as refused:
            if refused.retry_after is not None:
                return _Pause(min(refused.retry_after, LONGEST_PAUSE), is_doubtful=False)
            return _Ended("done", f"refused: {refused}")
        except KeptEarly:
            return None
        except (Refused, FileRefused) as refused:
            return _Ended("done", str(refused))
        except StoreError:
            raise
        except Exception:
            log.exception("relay_failed", side=waiting.side, room=waiting.room_id, event_id=waiting.event_id)
            if await self._rows.put_off(waiting.number) < MOST_TRIES:
                return _Pause(pause)
            return _Ended("set_aside", "it failed again and again")
        return _Ended("done", None)
