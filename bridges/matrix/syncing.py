"""The stream of what happens: taken in order, and noted as taken only when the core has it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from agent import logs
from agent.bridge import BridgeStartFailed
from agent.store.errors import StoreError
from bridges.matrix.client import NETWORK, Client, MatrixError, room_path
from bridges.matrix.login import SINCE
from bridges.matrix.reading import Reading, timeline_of
from bridges.matrix.rules.relations import is_overdue
from bridges.matrix.rules.values import Json, table, text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.bridge import State
    from agent.clock import Clock
    from bridges.matrix.encryption import Encryption
    from bridges.matrix.incoming import Incoming
    from bridges.matrix.joining import Joining
    from bridges.matrix.watching import Watching
    from bridges.matrix.world import World

log = logs.get_logger(__name__)

WAIT: Final = 30.0
"""Seconds that the homeserver waits for something to happen."""
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 30.0
_PAUSE: Final = 1.0
"""Seconds until an event is tried again that met no database."""
MOST_MISSED: Final = 200
"""Events of one room that are fetched when a sync has left some out."""


class Syncing:
    """Takes sync after sync."""

    def __init__(  # noqa: PLR0913, PLR0917 - it leads every part
        self,
        client: Client,
        world: World,
        state: State,
        encryption: Encryption,
        incoming: Incoming,
        watching: Watching,
        joining: Joining,
        reading: Reading,
        clock: Clock,
    ) -> None:
        self._client = client
        self._world = world
        self._state = state
        self._encryption = encryption
        self._incoming = incoming
        self._watching = watching
        self._joining = joining
        self._reading = reading
        self._clock = clock
        self._was_away = True
        """Whether nobody listened before the sync that is being taken."""
        self._since: str | None = None
        self._is_new = False
        self._is_untold = True
        self._entered: set[str] = set()
        """Rooms that the agent was not in before the sync that is being taken."""
        self._task: asyncio.Task[None] | None = None
        self._receipts: set[asyncio.Task[None]] = set()
        self.log_in_again: Callable[[], Awaitable[None]] | None = None

    async def start(self) -> None:
        """Learn the state of every room, tell it, and go on in the background.

        Raises:
            MatrixError: the homeserver refused.
            aiohttp.ClientError, TimeoutError, OSError: it did not answer.
        """
        self._since = await self._state.get(SINCE)
        self._is_new = self._since is None
        answer = await self._sync(0.0, full_state=True)
        self._take_state(answer, is_first=True)
        await self._settle()
        await self._encryption.maintain()
        if self._is_new:  # nothing of it was said to the agent
            await self._note(text(answer.get("next_batch")))
        self._task = asyncio.create_task(self._run(answer), name="matrix sync")

    async def stop(self) -> None:
        """Stop; what was not taken comes again at the next start."""
        for task in (self._task, *self._receipts):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        self._task = None

    async def _sync(self, wait: float, *, full_state: bool = False) -> dict[str, Any]:
        return await self._client.sync(self._since, wait, full_state=full_state)

    async def _run(self, first: dict[str, Any]) -> None:
        await self._guarded(first, is_first=True)
        pause = _FIRST_PAUSE
        while True:
            try:
                answer = await self._sync(WAIT)
            except (MatrixError, *NETWORK) as error:
                log.warning("sync_failed", reason=str(error) or type(error).__name__)
                self._was_away = True
                if isinstance(error, MatrixError) and error.ends_session:
                    await self._renew()
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
                continue
            pause = _FIRST_PAUSE
            await self._guarded(answer, is_first=False)

    async def _renew(self) -> None:
        """Begin another session; a failure is logged, and tried again after the pause."""
        if self.log_in_again is None:
            return
        try:
            await self.log_in_again()
        except BridgeStartFailed as error:
            log.error("session_not_renewed", reason=str(error))  # noqa: TRY400 - the reason says it all
        except StoreError as error:
            log.warning("session_not_renewed", reason=str(error))

    async def _guarded(self, answer: dict[str, Any], *, is_first: bool) -> None:
        """Take a sync; whatever is wrong with it does not end the stream."""
        try:
            await self._take(answer, is_first=is_first)
        except Exception:
            log.exception("sync_not_taken")
        self._was_away = False
        self._since = text(answer.get("next_batch"))

    async def _take(self, answer: dict[str, Any], *, is_first: bool) -> None:
        if not is_first:
            self._take_state(answer)
            await self._settle()
        rooms = table(answer.get("rooms"))
        joined = {room: table(each) for room, each in table(rooms.get("join")).items()}
        if not (is_first and self._is_new):
            await asyncio.gather(*(self._take_room(room, each) for room, each in joined.items()))
        for event_id, room, event in self._encryption.now_readable():
            await self._one(room, event)
            await self._encryption.taken(event_id)
        await self._joining.invited(table(rooms.get("invite")))
        await self._joining.follow()
        await self._encryption.maintain()
        if joined or rooms.get("invite") or is_first or table(answer.get("to_device")).get("events"):
            await self._note(text(answer.get("next_batch")))

    async def _note(self, token: str) -> None:
        try:
            await self._state.put({SINCE: token})
        except StoreError as error:
            log.warning("sync_not_noted", reason=str(error))

    def _take_state(self, answer: Json, *, is_first: bool = False) -> None:
        for event in _list(table(answer.get("account_data")).get("events")):
            if event.get("type") == "m.direct":
                self._world.mark_direct(table(event.get("content")))
        rooms = table(answer.get("rooms"))
        self._entered = set() if is_first else set(table(rooms.get("join"))) - set(self._world.rooms)
        for room_id, joined in table(rooms.get("join")).items():
            self._world.take(room_id, _list(table(table(joined).get("state")).get("events")))
            self._world.take(room_id, (each for each in timeline_of(table(joined)) if "state_key" in each))
        for room_id in table(rooms.get("leave")):
            self._world.leave(room_id)

    async def _settle(self) -> None:
        """Work out what follows from state that has changed, keep it, and tell the core."""
        if not self._world.touched and not self._is_untold:
            return
        self._is_untold = False
        self._world.settle()
        await self._world.keep(self._state)
        await self._watching.tell()

    async def _take_room(self, room_id: str, joined: Json) -> None:
        """Bring the events of one room, in order: those that the sync left out first."""
        events, since = timeline_of(joined), self._since
        if room_id in self._entered:
            events = since_invited(events, self._world.agent_id)
        elif table(joined.get("timeline")).get("limited") and since is not None:
            events = [*await self._missed(room_id, joined, since), *events]
        now = self._clock.now()
        for event in events:
            if not (self._was_away and is_overdue(event, now)):
                await self._one(room_id, event)
        if events and events[-1].get("sender") != self._world.agent_id:
            self._receive(room_id, text(events[-1].get("event_id")))

    async def _missed(self, room_id: str, joined: Json, since: str) -> list[Json]:
        found: list[Json] = []
        begin = text(table(joined.get("timeline")).get("prev_batch"))
        try:
            async for event in self._reading.events(room_id, begin=begin, end=since):
                found.append(event)
                if len(found) >= MOST_MISSED:
                    log.warning("events_left_out", room=room_id)
                    break
        except (MatrixError, *NETWORK) as error:
            log.warning("missed_events_unread", room=room_id, reason=str(error) or type(error).__name__)
        return found[::-1]

    async def _one(self, room_id: str, event: Json) -> None:
        """Bring one event; it waits for a database that is away, and a poisonous one does not keep the next away."""
        while True:
            try:
                await self._incoming.take(room_id, event)
            except StoreError as error:
                log.warning("event_waits_for_database", event_id=event.get("event_id"), reason=str(error))
                await asyncio.sleep(_PAUSE)
                continue
            except Exception:
                log.exception("event_not_taken", room=room_id, event_id=event.get("event_id"))
            return

    def _receive(self, room_id: str, event_id: str) -> None:
        """Show that everything up to an event was read; a failure is only comfort lost."""
        task = asyncio.create_task(self._send_receipt(room_id, event_id), name="matrix receipt")
        self._receipts.add(task)
        task.add_done_callback(self._receipts.discard)

    async def _send_receipt(self, room_id: str, event_id: str) -> None:
        try:
            await self._client.call("POST", room_path(room_id, "receipt", "m.read", event_id), {})
        except (MatrixError, *NETWORK) as error:
            log.debug("receipt_not_sent", reason=type(error).__name__)


def since_invited(events: list[Json], agent_id: str) -> list[Json]:
    """Return what was said in a room that is new since the agent was invited; nothing where that is too long ago.

    What stood in a room before is not said to the agent; what is said between the invitation and the joining is.
    """
    for number, event in enumerate(events):
        if event.get("type") == "m.room.member" and event.get("state_key") == agent_id:
            before = table(table(event.get("unsigned")).get("prev_content")).get("membership")
            if table(event.get("content")).get("membership") in {"invite", "join"} and before != "join":
                return events[number:]
    return []


def _list(value: Any) -> list[Json]:
    return [table(each) for each in value] if isinstance(value, list) else []
