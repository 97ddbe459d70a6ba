"""Events in, once only, by rows (architecture.md, Once only)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from agent import metrics
from agent.events import Event, MessageCreated, MessageDeleted, MessageEdited, dump_event, load_event
from agent.store.outbox import Posted, dump_message
from agent.store.queries import load_queries
from agent.store.worker import dead_workers
from agent.tools import TurnLost

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.bridge import OutgoingMessage
    from agent.clock import Clock
    from agent.store.pool import Store
    from agent.tools import Connection
    from agent.turn.values import Outcome

QUERIES = load_queries("agent.store", "inbound.sql")

RESUME_WITHIN: Final = timedelta(minutes=5)
"""What is older when its worker is found dead is abandoned."""
MOST_ATTEMPTS: Final = 2
"""Runs of one event, the first one included."""
KEPT: Final = timedelta(days=30)
"""How long finished rows stay, so that an event is known when it comes again."""

type Unfinished = MessageCreated | MessageDeleted
"""What is dealt with after it was taken."""


class Inbound:
    """The rows of `inbound_events` that belong to one worker."""

    def __init__(self, store: Store, clock: Clock, worker: int) -> None:
        self._store = store
        self._clock = clock
        self._worker = worker

    async def receive(
        self, event: Event, conversation: str, *, wanted: bool, held_until: datetime | None = None
    ) -> bool:
        """Commit the arrival of an event; tell whether it is new.

        What is not wanted (no reply is due) is finished at once, and its content is not kept.
        """
        now = self._clock.now()
        async with self._store.connection() as conn:
            row = await conn.fetchrow(
                QUERIES["receive"],
                event.platform,
                event.event_id,
                "received" if wanted else "ignored",
                self._worker,
                conversation,
                dump_event(event) if wanted else None,
                held_until,
                now,
                None if wanted else now,
                event.message_id,
            )
        return row is not None

    async def answered(self, event: MessageEdited, conversation: str, since: datetime) -> tuple[str, int] | None:
        """Return the event that brought a message which was answered since then, and how often it was answered.

        None when it was not, when its answer is still on its way, or when the turn has told of something that it kept.
        """
        async with self._store.connection() as conn:
            row = await conn.fetchrow(QUERIES["answered"], event.platform, event.message_id, conversation, since)
        return None if row is None else (str(row["event_id"]), int(row["times"]))

    async def was_passed_over(self, event: MessageEdited, conversation: str) -> bool:
        """Tell whether a message came before this edit of it, and nobody has answered it or will."""
        async with self._store.connection() as conn:
            found = await conn.fetchval(QUERIES["was_passed_over"], event.platform, event.message_id, conversation)
        return bool(found)

    async def parts(self, platform: str, message_id: str) -> tuple[str, ...]:
        """Return the ids of the messages that answer a message and still stand, in order."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["parts"], platform, message_id)
        return tuple(row["message_id"] for row in rows)

    async def receive_deletion(self, event: MessageDeleted, conversation: str) -> bool:
        """Commit the arrival of a deletion, which is unfinished until `finish`; tell whether it is new.

        A run of the message that is under way is lost (`TurnLost`) from that moment on; what waits is not begun.
        """
        async with self._store.connection() as conn:
            row = await conn.fetchrow(
                QUERIES["receive_deletion"],
                event.platform,
                event.event_id,
                self._worker,
                conversation,
                dump_event(event),
                self._clock.now(),
                event.message_id,
            )
        return row is not None

    async def receive_edit(self, event: MessageEdited, conversation: str) -> MessageCreated | None:
        """Commit the arrival of an edit; return the message with its new text when its turn has still to be taken.

        None as well when the edit came before, or the turn has taken effect already: then it goes on as it began. A run
        that is under way must have been stopped before this.
        """
        async with self._store.connection() as conn:
            row = await conn.fetchrow(
                QUERIES["receive_edit"],
                event.platform,
                event.event_id,
                self._worker,
                conversation,
                self._clock.now(),
                event.message_id,
                event.text,
            )
        if row is None or row["payload"] is None:
            return None
        mended = load_event(row["payload"])
        return mended if isinstance(mended, MessageCreated) else None

    async def held(self, event: MessageCreated) -> MessageCreated | None:
        """Return a held message as it is by now, edits included; None when it was dealt with or given up meanwhile."""
        async with self._store.connection() as conn:
            payload = await conn.fetchval(QUERIES["held"], event.platform, event.event_id, self._worker)
        found = None if payload is None else load_event(payload)
        return found if isinstance(found, MessageCreated) else None

    async def restate(self, event: MessageCreated) -> None:
        """Keep a held message as its speaker is now known: whoever goes on with it after a restart sees that."""
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["restate"], event.platform, event.event_id, self._worker, dump_event(event))

    async def waits(self, event: Event) -> bool:
        """Tell whether an event was taken by this worker and has not begun."""
        async with self._store.connection() as conn:
            return await conn.fetchval(QUERIES["waits"], event.platform, event.event_id, self._worker) is not None

    async def begin(self, event: MessageCreated) -> int:
        """Begin a run; return which attempt it is, from 1.

        Raises:
            TurnLost: the event is finished or another worker's.
        """
        async with self._store.connection() as conn:
            attempt = await conn.fetchval(QUERIES["begin"], event.platform, event.event_id, self._worker)
        if attempt is None:
            raise TurnLost(event.event_id)
        return int(attempt)

    async def finish(
        self,
        event: Unfinished,
        outcome: Outcome,
        answer: Sequence[OutgoingMessage] = (),
        surplus: Sequence[str] = (),
    ) -> tuple[Posted, ...]:
        """End an event and commit its answer to the outbox, both or neither.

        `surplus` are messages of an earlier answer that the new one does not replace: they are withdrawn.

        Raises:
            TurnLost: the event is finished already or another worker's; nothing was written.
        """
        now = self._clock.now()
        async with self._store.connection() as conn:
            row = await conn.fetchrow(
                QUERIES["finish"],
                event.platform,
                event.event_id,
                self._worker,
                outcome,
                now,
                event.channel.external_id,
                [message.key for message in answer],
                [dump_message(message) for message in answer],
                [message.replaces for message in answer],
                list(surplus),
            )
        if row is None or not row["finished"]:
            raise TurnLost(event.event_id)
        ids = row["outbox_ids"] or ()
        return tuple(
            Posted(outbox_id, message, edits=message.replaces, made_at=now)
            for outbox_id, message in zip(ids, answer, strict=True)
        )

    async def recover(self, platforms: Iterable[str]) -> tuple[Unfinished, ...]:
        """Take over what dead workers left unfinished on these platforms, oldest first; abandon what is too old."""
        names, now = list(platforms), self._clock.now()
        async with self._store.transaction() as conn:
            holders = [row["worker"] for row in await conn.fetch(QUERIES["unfinished_workers"], names, self._worker)]
            dead = await dead_workers(conn, holders)
            if not dead:
                return ()
            stale = await conn.fetch(QUERIES["abandon_stale"], names, dead, now - RESUME_WITHIN, now, MOST_ATTEMPTS)
            rows = await conn.fetch(QUERIES["take_over"], names, dead, self._worker)
        if stale:
            metrics.emit("turns_abandoned", len(stale), reason="found_at_start")
        events = (load_event(row["payload"]) for row in rows)
        return tuple(event for event in events if isinstance(event, MessageCreated | MessageDeleted))

    async def load_checkpoint(self, event: MessageCreated) -> str | None:
        """Return the loop's messages of the last checkpoint of an event, as JSON."""
        async with self._store.connection() as conn:
            messages: str | None = await conn.fetchval(QUERIES["load_checkpoint"], event.platform, event.event_id)
        return messages

    async def write_checkpoint(self, conn: Connection, event: MessageCreated, position: int, messages: str) -> None:
        """Keep the loop's messages up to a call that takes effect, on that call's own connection.

        Raises:
            TurnLost: the event is finished or another worker's; the transaction must roll back.
        """
        written = await conn.fetchval(
            QUERIES["write_checkpoint"], event.platform, event.event_id, self._worker, position, messages
        )
        if not written:
            raise TurnLost(event.event_id)

    async def sweep(self) -> None:
        """Forget finished rows that are 30 days old."""
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["sweep"], self._clock.now() - KEPT)
