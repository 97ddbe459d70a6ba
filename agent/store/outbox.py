"""Messages out, once only: committed before the platform is called, and settled when it has answered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Final

from pydantic import TypeAdapter

from agent import metrics
from agent.bridge import OutgoingMessage
from agent.contracts.cards import Subjects
from agent.store.queries import load_queries
from agent.store.worker import dead_workers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.clock import Clock
    from agent.store.pool import Store
    from agent.tools import Connection

QUERIES = load_queries("agent.store", "outbox.sql")

SENT_WITHIN: Final = timedelta(hours=1)
"""What is older when its worker is found dead is not sent any more."""
KEPT: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Posted:
    """A message that stands in the outbox."""

    outbox_id: int
    message: OutgoingMessage
    certain: bool = True
    """Whether the row is known to be committed; a card's is only when its tool's transaction was."""
    was_sending: bool = False
    """Whether a worker that died may have called the platform already."""
    edits: str | None = None
    """The platform's id of the message that gets this text, where it is no new one."""
    made_at: datetime | None = None
    """When its row was made."""
    left_for: float | None = None
    """Seconds between that and its taking over from a worker that died; None for what is this worker's own."""


@cache
def _adapter() -> TypeAdapter[OutgoingMessage]:
    return TypeAdapter(OutgoingMessage)


def dump_message(message: OutgoingMessage) -> str:
    """Return the message as JSON text."""
    return _adapter().dump_json(message).decode()


def load_message(text: str) -> OutgoingMessage:
    """Read a message that `dump_message` wrote."""
    return _adapter().validate_json(text)


def _about(message: OutgoingMessage) -> tuple[list[int] | None, list[int] | None, list[int] | None]:
    """Return whom a notice is about; None thrice for what nobody withdraws."""
    subjects = Subjects() if message.card is None else message.card.subjects
    if subjects == Subjects():
        return None, None, None
    return list(subjects.memories), list(subjects.accounts), list(subjects.users)


class OutboxRows:
    """The rows of `outbox` that belong to one worker."""

    def __init__(self, store: Store, clock: Clock, worker: int) -> None:
        self._store = store
        self._clock = clock
        self._worker = worker

    async def add(self, conn: Connection, messages: Sequence[OutgoingMessage]) -> tuple[Posted, ...]:
        """Add messages of one event and channel on the caller's transaction; a key that is there adds nothing.

        A notice is added alone: whom it is about is kept with its row.
        """
        if not messages:
            return ()
        first, now = messages[0], self._clock.now()
        rows = await conn.fetch(
            QUERIES["add"],
            first.platform,
            first.event_id,
            first.channel.external_id,
            self._worker,
            now,
            [message.key for message in messages],
            [dump_message(message) for message in messages],
            *_about(first),
        )
        ids = {row["key"]: row["outbox_id"] for row in rows}
        return tuple(
            Posted(ids[message.key], message, certain=False, made_at=now) for message in messages if message.key in ids
        )

    async def add_edit(self, conn: Connection, message_id: str, message: OutgoingMessage) -> tuple[Posted, ...]:
        """Add, on the caller's transaction, another text for a message that was sent.

        `message.key` is the edit's own.
        """
        outbox_id = await conn.fetchval(
            QUERIES["add_edit"],
            message.key,
            message.platform,
            message.event_id,
            message.channel.external_id,
            self._worker,
            dump_message(message),
            message_id,
            self._clock.now(),
        )
        return () if outbox_id is None else (Posted(outbox_id, message, certain=False, edits=message_id),)

    async def claim(self, outbox_id: int) -> bool:
        """Commit that the platform is about to be called; False when there is nothing to send (any more)."""
        async with self._store.connection() as conn:
            return await conn.fetchval(QUERIES["claim"], outbox_id, self._worker) is not None

    async def settle(
        self, posted: Posted, state: str, *, message_id: str | None = None, reason: str | None = None
    ) -> bool:
        """Commit what became of a message: `sent`, `unknown`, `failed` or `unsupported`; its text is forgotten.

        Returns True when it was withdrawn while it was being sent, and is now to be deleted.
        """
        async with self._store.connection() as conn:
            withdrawal = await conn.fetchval(
                QUERIES["settle"],
                posted.outbox_id,
                state,
                message_id,
                reason,
                self._clock.now(),
                posted.message.persona_id,
                posted.message.part,
            )
        return withdrawal is not None

    async def unsent(self, platform: str, event_id: str) -> tuple[Posted, ...]:
        """Return what is committed of an event and was not sent yet; some of it the sender may have already."""
        async with self._store.connection() as conn:
            rows = await conn.fetch(QUERIES["unsent_of_event"], platform, event_id, self._worker)
        return tuple(
            Posted(
                row["outbox_id"],
                load_message(row["payload"]),
                certain=False,
                edits=row["edits"],
                made_at=row["created_at"],
            )
            for row in rows
        )

    async def recover(self, platforms: Iterable[str]) -> tuple[Posted, ...]:
        """Take over what dead workers left unsent on these platforms, in order; cancel what is too old."""
        names, now = list(platforms), self._clock.now()
        async with self._store.transaction() as conn:
            holders = [row["worker"] for row in await conn.fetch(QUERIES["unsent_workers"], names, self._worker)]
            dead = await dead_workers(conn, holders)
            if not dead:
                return ()
            stale = await conn.fetch(QUERIES["cancel_stale"], names, dead, now - SENT_WITHIN, now)
            rows = await conn.fetch(QUERIES["take_over"], names, dead, self._worker)
        if stale:
            metrics.emit("messages_unsent", len(stale), reason="found_at_start")
        return tuple(
            Posted(
                row["outbox_id"],
                load_message(row["payload"]),
                was_sending=row["state"] == "sending",
                edits=row["edits"],
                made_at=row["created_at"],
                left_for=(now - row["created_at"]).total_seconds(),
            )
            for row in rows
        )

    async def sweep(self) -> None:
        """Forget settled rows, and who said which message, after 30 days."""
        before = self._clock.now() - KEPT
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["sweep"], before)
            await conn.execute(QUERIES["sweep_messages"], before)
