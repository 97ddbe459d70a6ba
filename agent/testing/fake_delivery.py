"""How the fake platform brings events to agents: in order within a channel, again when asked to, or out of order."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from agent.store.errors import DatabaseUnavailable
from agent.testing.fake_values import ConnectionLost, EventRefused, Replay

if TYPE_CHECKING:
    import random
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence

    from agent.commands import CommandReply
    from agent.directory_changes import DirectoryChange
    from agent.events import Author, Event
    from agent.places import ChannelRef, ServerRef


AGAIN: Final = 4
"""Times that an event is given to an agent whose database is away; each takes as long as the agent is patient."""
_PAUSE: Final = 0.5


class Listener(Protocol):
    """A connected agent as the platform sees it; an `agent.bridge.BridgeHost` is one.

    Each method raises `ConnectionLost` when the agent is gone.
    """

    async def receive(self, event: Event) -> None:
        """Take an event; returns when it is acknowledged."""
        ...

    async def observe(self, change: DirectoryChange) -> None:
        """Take what is so now of members, channels or a server."""
        ...

    async def run_command(
        self, path: tuple[str, ...], options: dict[str, Any], server: ServerRef, channel: ChannelRef, author: Author
    ) -> CommandReply:
        """Run a command."""
        ...

    async def stop_turn(self, server: ServerRef, channel: ChannelRef) -> bool:
        """Abort the running turn of a channel."""
        ...


@dataclass(eq=False, slots=True)
class _Line:
    """The connection to one agent."""

    listener: Listener
    locks: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    """One a channel: its events go one after another, those of other channels beside them."""
    directory: asyncio.Lock = field(default_factory=asyncio.Lock)
    replays: set[asyncio.Task[None]] = field(default_factory=set)


class Delivery:
    """Every event that the platform ever had, and the agents that are told of them."""

    def __init__(self, replay: Replay = Replay.MISSED) -> None:
        self.journal: list[Event] = []
        """Every event, in order."""
        self.acknowledged: set[str] = set()
        """The ids of the events that an agent has taken."""
        self.replay = replay
        """What an agent is told when it connects."""
        self.doubled = False
        """Whether each event is brought twice at once."""
        self.standing: Callable[[], Sequence[DirectoryChange]] = tuple
        """What an agent is told of members when it connects."""
        self.is_up = True
        self._lines: list[_Line] = []
        self._held: list[Event] | None = None
        self._on_their_way = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.connections = 0
        """How often an agent has connected."""
        self._changed = asyncio.Event()

    @property
    def listener(self) -> Listener:
        """Return the agent that connected last.

        Raises:
            ConnectionLost: none is connected.
        """
        if not self._lines or not self.is_up:
            raise ConnectionLost("no agent is connected to the fake platform")
        return self._lines[-1].listener

    @property
    def unacknowledged(self) -> tuple[Event, ...]:
        """Return the events that no agent has taken yet, in order."""
        return tuple(event for event in self.journal if event.event_id not in self.acknowledged)

    def connect(self, listener: Listener) -> None:
        """Begin to tell an agent, with what it missed first."""
        line = _Line(listener)
        self._lines.append(line)
        self.connections += 1
        self._notify()
        if self.is_up:
            self._begin_replay(line)

    async def disconnect(self, listener: Listener) -> None:
        """Tell an agent no longer."""
        for line in [line for line in self._lines if line.listener is listener]:
            self._lines.remove(line)
            await _end(line.replays)
        self._notify()

    async def connected(self, times: int = 1) -> None:
        """Return when agents have connected so many times in all."""
        while self.connections < times:
            await self._changed.wait()

    async def gone(self, listener: Listener) -> None:
        """Return when an agent is not connected any more."""
        while any(line.listener is listener for line in self._lines):
            await self._changed.wait()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def bring(self, event: Event) -> None:
        """Keep an event and tell the connected agents; returns when they have taken it.

        Raises:
            EventRefused: an agent raised.
        """
        self.journal.append(event)
        if self._held is not None:
            self._held.append(event)
        else:
            await self._tell(event)

    async def observe(self, change: DirectoryChange) -> None:
        """Tell the connected agents what is so now; one that is cut off learns it when it is back."""
        if self.is_up:
            with self._under_way():
                await asyncio.gather(*(self._tell_change(line, [change]) for line in self._lines))

    async def again(self, event: Event) -> None:
        """Tell of an event once more, as platforms do now and then."""
        await self._tell(event)

    @contextlib.asynccontextmanager
    async def held(self, shuffle: random.Random | None = None) -> AsyncIterator[None]:
        """Hold back the events of a block, and bring them at its end, in another order when `shuffle` is given."""
        self._held = []
        try:
            yield
        finally:
            events, self._held = self._held, None
        if shuffle is not None:
            shuffle.shuffle(events)
        for event in events:
            await self._tell(event)

    def lose_connection(self) -> None:
        """Cut every agent off; events pile up until `reconnect`."""
        self.is_up = False
        for line in self._lines:
            for task in line.replays:
                task.cancel()

    def reconnect(self) -> None:
        """Let agents be told again, with what they missed first."""
        self.is_up = True
        for line in self._lines:
            self._begin_replay(line)

    async def settled(self) -> None:
        """Return when no event is on its way to a connected agent."""
        await self._idle.wait()

    async def _tell(self, event: Event) -> None:
        if self.is_up:
            with self._under_way():
                await asyncio.gather(*(self._along(line, [event]) for line in self._lines))

    async def _tell_change(self, line: _Line, changes: Sequence[DirectoryChange]) -> None:
        with contextlib.suppress(ConnectionLost):
            async with line.directory:
                for change in changes:
                    await line.listener.observe(change)

    async def _stand(self, line: _Line, changes: Sequence[DirectoryChange]) -> None:
        with self._under_way():
            await self._tell_change(line, changes)

    def _begin_replay(self, line: _Line) -> None:
        if changes := self.standing():
            self._begin(line, self._stand(line, changes))
        if self.replay is Replay.NOTHING:
            return
        events = self.journal if self.replay is Replay.EVERYTHING else self.unacknowledged
        channels: defaultdict[str, list[Event]] = defaultdict(list)
        for event in events:
            channels[event.channel.external_id].append(event)
        for missed in channels.values():
            # Begun at once, so that nothing that is said from now on is told before it.
            self._begin(line, self._again(line, missed))

    def _begin(self, line: _Line, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.Task(work, loop=asyncio.get_running_loop(), eager_start=True)
        line.replays.add(task)
        task.add_done_callback(line.replays.discard)

    async def _again(self, line: _Line, events: Sequence[Event]) -> None:
        with self._under_way():
            await self._along(line, events)

    @contextlib.contextmanager
    def _under_way(self) -> Iterator[None]:
        self._on_their_way += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._arrived()

    def _arrived(self) -> None:
        self._on_their_way -= 1
        if not self._on_their_way:
            self._idle.set()

    async def _along(self, line: _Line, events: Sequence[Event]) -> None:
        """Bring events of one channel to one agent, in order."""
        with contextlib.suppress(ConnectionLost):  # it is told again when it is back
            async with line.locks[events[0].channel.external_id]:
                for event in events:
                    await self._give(line, event)

    async def _give(self, line: _Line, event: Event) -> None:
        """Give an event, again while the agent says that its database is away (`agent.bridge.BridgeHost.receive`)."""
        times = 2 if self.doubled else 1
        results: list[BaseException | None] = []
        for left in reversed(range(AGAIN)):
            gifts = (line.listener.receive(event) for _ in range(times))
            results = await asyncio.gather(*gifts, return_exceptions=True)
            if not left or not any(isinstance(error, DatabaseUnavailable) for error in results):
                break
            await asyncio.sleep(_PAUSE)
        for error in results:
            if isinstance(error, ConnectionLost):
                raise error
            if isinstance(error, BaseException):
                raise EventRefused(f"the agent refused {event.event_id}: {error!r}") from error
        self.acknowledged.add(event.event_id)


async def _end(tasks: set[asyncio.Task[None]]) -> None:
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running)
