"""What the relay keeps: links, what is still to be carried over, and which message stands for which."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.store.queries import load_queries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from asyncpg import Record

    from agent.clock import Clock
    from agent.store.pool import Store

QUERIES = load_queries("bridges.relay")
AT_ONCE: Final = 50
"""Events that are read at a time."""
MATRIX: Final = "matrix"
DISCORD: Final = "discord"
REACTION: Final = -1
"""The part under which a reaction is kept; its emoji stands as the voice."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Something that was heard and is to be kept."""

    event_id: str
    room_id: str
    kind: str
    payload: str
    """JSON."""
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something that is to be carried over."""

    number: int
    side: str
    event_id: str
    room_id: str
    kind: str
    target: str | None
    payload: str
    attempts: int
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Early:
    """Something that came before the message that it is about."""

    number: int
    kind: str
    payload: str | None
    """None once it was dealt with."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A message and what stands for it on the other side."""

    side: str
    room_id: str
    event_id: str
    channel: str
    message_id: str
    part: int
    voice: str | None = None
    """The relay's user who says it in the room; of a reaction its emoji."""
    is_gone: bool = False
    author: Author | None = None
    """Who said it; None for the agent and for whoever was forgotten."""
    number: int = 0
    """Of its row, once it has one."""


@dataclass(frozen=True, slots=True)
class Link:
    """A room and a channel that are one conversation, or are to be."""

    link_id: int
    room_id: str
    platform: str
    server: str
    channel: str
    state: str
    reason: str | None
    is_agreed: bool


class Rows:
    """The rows of the relay."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def keep(self, side: str, heard: Sequence[Heard]) -> frozenset[str]:
        """Keep what was heard, in one statement; return the rooms in which something is new."""
        if not heard:
            return frozenset()
        rows = await self._fetch(
            "keep",
            side,
            [each.event_id for each in heard],
            [each.room_id for each in heard],
            [each.kind for each in heard],
            [each.target for each in heard],
            [each.payload for each in heard],
            self._clock.now(),
        )
        return frozenset(row["room_id"] for row in rows)

    async def waiting(self, side: str, room_id: str) -> tuple[Waiting, ...]:
        """Return what is next in a room, in order."""
        rows = await self._fetch("waiting", side, room_id, AT_ONCE)
        return tuple(
            Waiting(
                row["relay_event_id"],
                row["side"],
                row["event_id"],
                row["room_id"],
                row["kind"],
                row["target"],
                row["payload"] or "{}",
                row["attempts"],
                row["received_at"],
            )
            for row in rows
        )

    async def lanes(self) -> tuple[tuple[str, str], ...]:
        """Return where something waits: sides and rooms."""
        return tuple((row["side"], row["room_id"]) for row in await self._fetch("lanes"))

    async def settle(self, number: int, state: str = "done", reason: str | None = None) -> None:
        """End an event."""
        await self._run("settle", number, state, reason, self._clock.now())

    async def put_off(self, number: int) -> int:
        """Count a try that failed; return how many there were."""
        async with self._store.connection() as conn:
            return int(await conn.fetchval(QUERIES["put_off"], number) or 0)

    async def set_early(self, number: int) -> None:
        """Keep an edit for the message that has not come yet."""
        await self._run("is_early", number, self._clock.now())

    async def about(self, side: str, room_id: str, target: str) -> tuple[Early, ...]:
        """Return what is known to be about a message."""
        rows = await self._fetch("about", side, room_id, target)
        return tuple(
            Early(row["relay_event_id"], row["kind"], row["payload"] if row["state"] == "early" else None)
            for row in rows
        )

    async def drop_room(self, room_id: str) -> None:
        """Give up what waits in a room."""
        await self._run("drop_room", room_id, self._clock.now())

    async def sweep(self, early_before: datetime, events_before: datetime, messages_before: datetime) -> None:
        """Forget what is old."""
        await self._run("sweep_early", early_before)
        await self._run("sweep_events", events_before)
        await self._run("sweep_messages", messages_before)

    # Messages -------------------------------------------------------------------------------------------------

    async def add(
        self,
        pair: Pair,
        *,
        webhook_id: str | None = None,
        account_id: int | None = None,
    ) -> None:
        """Keep which message stands for which; its number is given here."""
        await self._run(
            "add_message",
            pair.side,
            pair.room_id,
            pair.event_id,
            pair.channel,
            pair.message_id,
            webhook_id,
            pair.part,
            account_id,
            pair.voice,
            self._clock.now(),
        )

    async def of_event(self, event_id: str, room_id: str) -> tuple[Pair, ...]:
        """Return the messages that belong to an event, reactions aside."""
        return _messages(await self._fetch("of_event", event_id, room_id))

    async def of_message(self, message_id: str, room_id: str) -> tuple[Pair, ...]:
        """Return the events that belong to a message, reactions aside."""
        return _messages(await self._fetch("of_message", message_id, room_id))

    async def reaction(self, event_id: str, room_id: str) -> Pair | None:
        """Return a reaction that was carried over."""
        pairs = map(_pair, await self._fetch("of_event", event_id, room_id))
        return next((each for each in pairs if each.part == REACTION and not each.is_gone), None)

    async def reactions(self, message_id: str, room_id: str) -> tuple[Pair, ...]:
        """Return the reactions to a message that still stand."""
        pairs = map(_pair, await self._fetch("of_message", message_id, room_id))
        return tuple(each for each in pairs if each.part == REACTION and not each.is_gone)

    async def known_since(self, channel: str, moment: datetime) -> frozenset[str]:
        """Return the messages of a channel that are known since a moment."""
        return frozenset(row["message_id"] for row in await self._fetch("known_since", channel, moment))

    async def gone(self, pairs: Sequence[Pair]) -> None:
        """Keep that messages are deleted."""
        if pairs:
            await self._run("gone", [pair.number for pair in pairs], self._clock.now())

    # Links ----------------------------------------------------------------------------------------------------

    async def links(self) -> tuple[Link, ...]:
        """Return every link."""
        return tuple(Link(**dict(row)) for row in await self._fetch("links"))

    async def ask(self, room_id: str, platform: str, server: str, channel: str, *, is_agreed: bool) -> bool:
        """Ask for a link; False where one of the two is linked already."""
        rows = await self._fetch("ask", room_id, platform, server, channel, is_agreed, self._clock.now())
        return bool(rows)

    async def change_link(
        self, link: Link, state: str, reason: str | None = None, *, server: str | None = None
    ) -> None:
        """Make a link what it is now, unless its end is asked for; `server` is the channel's, once it is known."""
        await self._run("change_link", link.link_id, state, reason, self._clock.now(), server)

    async def agree(self, link: Link) -> None:
        """Keep that somebody who manages the room agrees to this link."""
        await self._run("agree", link.link_id, self._clock.now())

    async def end_link(self, link: Link, reason: str) -> None:
        """Ask for a link's end."""
        await self._run("end_link", link.link_id, reason, self._clock.now())

    async def drop_link(self, link: Link) -> None:
        """Forget a link."""
        await self._run("drop_link", link.link_id)

    async def move_link(self, link: Link, room_id: str) -> None:
        """Let a link follow its room."""
        await self._run("move_link", link.link_id, room_id, self._clock.now())

    async def _fetch(self, query: str, *arguments: object) -> Sequence[Record]:
        async with self._store.connection() as conn:
            return await conn.fetch(QUERIES[query], *arguments)

    async def _run(self, query: str, *arguments: object) -> None:
        async with self._store.connection() as conn:
            await conn.execute(QUERIES[query], *arguments)


def _messages(rows: Sequence[Record]) -> tuple[Pair, ...]:
    return tuple(pair for pair in map(_pair, rows) if pair.part != REACTION)


def _pair(row: Record) -> Pair:
    return Pair(
        side=row["side"],
        room_id=row["room_id"],
        event_id=row["event_id"],
        channel=row["channel"],
        message_id=row["message_id"],
        part=row["part"],
        voice=row["voice"],
        is_gone=row["gone_at"] is not None,
        author=_author(dict(row)),
        number=row["relay_message_id"],
    )


def _author(row: Mapping[str, Any]) -> Author | None:
    if row["external_id"] is None:
        return None
    return Author(ParticipantKind(row["kind"]), row["external_id"], row["display_name"], platform=row["platform"])
