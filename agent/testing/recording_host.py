"""A core for bridges under test: it keeps the events that it gets."""

from __future__ import annotations

import asyncio
import shutil
import weakref
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final

from agent.commands import CommandReply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agent.ailments import Ailment
    from agent.commands import Choice, Command, CommandCall
    from agent.directory_changes import DirectoryChange
    from agent.events import Author, Event
    from agent.places import ChannelRef, ServerRef
    from agent.relaying.services import Relaying

PATIENCE: Final = 5.0
"""Seconds in which an event must come."""


class MemoryState:
    """What a bridge keeps, in memory (`agent.bridge.State`)."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.secrets: set[str] = set()
        """The keys whose values are to be encrypted."""

    async def get(self, key: str) -> str | None:
        """Return a value; None when there is none."""
        return self.values.get(key)

    async def below(self, prefix: str) -> dict[str, str]:
        """Return every value whose key begins with `prefix`, by key."""
        return {key: value for key, value in sorted(self.values.items()) if key.startswith(prefix)}

    async def put(self, values: Mapping[str, str], *, secret: bool = False) -> None:
        """Keep values."""
        self.values.update(values)
        (self.secrets.update if secret else self.secrets.difference_update)(values)

    async def remove(self, *keys: str) -> None:
        """Forget values."""
        for key in keys:
            self.values.pop(key, None)


class RecordingHost:
    """A `BridgeHost` that answers nothing."""

    def __init__(self, commands: Sequence[Command] = ()) -> None:
        self.commands: Sequence[Command] = commands
        self.events: list[Event] = []
        """Every event, in order."""
        self.changes: list[DirectoryChange] = []
        """What was told of members, channels and servers, in order."""
        self.ran: list[tuple[tuple[str, ...], dict[str, Any]]] = []
        """The commands that were run: path and options."""
        self.states: dict[str, MemoryState] = {}
        """What bridges keep, by their names."""
        self.sent: dict[str, int | None] = {}
        """The agent's own messages: id and persona."""
        self.ails: Ailment | None = None
        """What keeps it from answering."""
        self._folder: Path | None = None
        self.others: dict[str, Author] = {}
        """Messages that a relay has posted for people from elsewhere: id and author."""
        self.trusted: set[str] = set()
        """Webhooks that an administrator has named."""
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

    async def observe(self, change: DirectoryChange) -> None:
        """Keep what is so now."""
        async with self._came:
            self.changes.append(change)
            self._came.notify_all()

    async def told(self, fits: Callable[[DirectoryChange], bool]) -> DirectoryChange:
        """Return the last change that fits, as soon as there is one.

        Raises:
            TimeoutError: none came.
        """
        async with self._came, asyncio.timeout(PATIENCE):
            await self._came.wait_for(lambda: any(map(fits, self.changes)))
        return next(change for change in reversed(self.changes) if fits(change))

    async def run_command(
        self, path: tuple[str, ...], options: dict[str, Any], server: ServerRef, channel: ChannelRef, author: Author
    ) -> CommandReply:
        """Keep what was to be run."""
        self.ran.append((path, options))
        return CommandReply(f"{author.display_name} ran {' '.join(path)} in {server.name}/{channel.name}")

    def state(self, bridge: str) -> MemoryState:
        """Return what the bridge of that name keeps."""
        return self.states.setdefault(bridge, MemoryState())

    def folder(self, bridge: str) -> Path:
        """Return a directory that goes with this host."""
        if self._folder is None:
            self._folder = Path(mkdtemp(prefix="isthmus-host-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder / bridge

    async def own_messages(self, platform: str, message_ids: Sequence[str]) -> Mapping[str, int | None]:  # noqa: ARG002  # one platform
        """Return those of `sent` that are asked for; the platform is the bridge's own."""
        return {each: self.sent[each] for each in message_ids if each in self.sent}

    async def relayed(self, server: ServerRef, message_ids: Sequence[str]) -> Mapping[str, Author]:  # noqa: ARG002  # ids are unique
        """Return those of `others` that are asked for."""
        return {each: self.others[each] for each in message_ids if each in self.others}

    def trusts(self, platform: str, webhook_id: str) -> bool:  # noqa: ARG002  # one platform
        """Tell whether it stands in `trusted`."""
        return webhook_id in self.trusted

    @property
    def relaying(self) -> Relaying:
        """There is none."""
        raise NotImplementedError("a host for one bridge joins nothing")

    async def suggest(self, call: CommandCall, option: str, typed: str) -> Sequence[Choice]:  # noqa: ARG002  # it offers nothing
        """Offer nothing."""
        return ()

    async def prefill(self, call: CommandCall, option: str) -> str:  # noqa: ARG002  # it holds nothing
        """Hold nothing."""
        return ""

    async def ailment(self) -> Ailment | None:
        """Return what a test has set."""
        return self.ails

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
