"""A core for bridges under test: it keeps the events that it gets."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from agent.commands import CommandReply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.commands import Command
    from agent.events import Author, Event
    from agent.places import ChannelRef, ServerRef

PATIENCE: Final = 5.0
"""Seconds in which an event must come."""


class RecordingHost:
    """A `BridgeHost` that answers nothing."""

    def __init__(self, commands: Sequence[Command] = ()) -> None:
        self.commands: Sequence[Command] = commands
        self.events: list[Event] = []
        """Every event, in order."""
        self.ran: list[tuple[tuple[str, ...], dict[str, Any]]] = []
        """The commands that were run: path and options."""
        self._seen = 0
        self._faults: list[Exception] = []
        self._came = asyncio.Condition()

    async def receive(self, event: Event) -> None:
        """Keep an event."""
        async with self._came:
            self._came.notify_all()
            if self._faults:
                raise self._faults.pop(0)
            self.events.append(event)

    async def run_command(
        self, path: tuple[str, ...], options: dict[str, Any], server: ServerRef, channel: ChannelRef, author: Author
    ) -> CommandReply:
        """Keep what was to be run."""
        self.ran.append((path, options))
        return CommandReply(f"{author.display_name} ran {' '.join(path)} in {server.name}/{channel.name}")

    async def stop_turn(self, server: ServerRef, channel: ChannelRef) -> bool:
        """Stop nothing."""
        return bool(self.events) and (self.events[-1].server, self.events[-1].channel) == (server, channel)

    def fail_next(self, *faults: Exception) -> None:
        """Raise these, one with each of the next events, which are then not kept."""
        self._faults += faults

    async def failed(self) -> None:
        """Return when every fault has been raised."""
        async with self._came, asyncio.timeout(PATIENCE):
            await self._came.wait_for(lambda: not self._faults)

    async def next[E: Event](self, kind: type[E]) -> E:
        """Return the next event that was not returned before.

        Raises:
            AssertionError: it is of another kind.
            TimeoutError: none came.
        """
        async with self._came:
            async with asyncio.timeout(PATIENCE):
                await self._came.wait_for(lambda: len(self.events) > self._seen)
            event = self.events[self._seen]
            self._seen += 1
        assert isinstance(event, kind), f"expected {kind.__name__}, and {event!r} came"
        return event

    async def rest(self, seconds: float) -> list[Event]:
        """Return the events that were not returned before, and what comes within the next seconds."""
        await asyncio.sleep(seconds)
        rest, self._seen = self.events[self._seen :], len(self.events)
        return rest
