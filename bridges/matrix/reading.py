"""Earlier messages of a room or thread."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from agent.bridge import HistoryMessage
from agent.events import Author
from agent.identity.keys import ParticipantKind
from bridges.matrix.client import CLIENT, room_path
from bridges.matrix.places import split_channel
from bridges.matrix.rules.content import is_reply, labelled, profile_name, said_in
from bridges.matrix.rules.relations import ENCRYPTED, SAID, is_redacted, relation_of
from bridges.matrix.rules.room import shown_name
from bridges.matrix.rules.values import Json, table, text, whole

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agent.places import ChannelRef
    from bridges.matrix.client import Client
    from bridges.matrix.encryption import Encryption
    from bridges.matrix.known import Known
    from bridges.matrix.world import World

_PAGES: Final = 4
"""Requests of one history: a room may hold much that nobody has said."""
_PAGE: Final = 100


class Reading:
    """Reads what was said, and says who did."""

    def __init__(
        self, client: Client, world: World, encryption: Encryption, known: Known, allowed_bots: frozenset[str]
    ) -> None:
        self._client = client
        self._world = world
        self._encryption = encryption
        self._known = known
        self._allowed_bots = allowed_bots

    def author(self, room_id: str, event: Json) -> Author:
        """Return who said something; notices are what bots say."""
        sender, content = text(event.get("sender")), table(event.get("content"))
        room = self._world.rooms.get(room_id)
        name = sender if room is None else shown_name(room, sender)
        return Author(
            ParticipantKind.MATRIX_USER,
            sender,
            labelled(name, profile_name(content), sender),
            username=sender[1:].partition(":")[0] or None,
            is_bot=content.get("msgtype") == "m.notice" and sender not in self._allowed_bots,
            can_manage=room is not None and self._world.can_manage(room_id, sender),
        )

    async def history(self, channel: ChannelRef, limit: int) -> tuple[HistoryMessage, ...]:
        """Return what people and the agent have said, oldest first.

        Raises:
            MatrixError: the homeserver refused.
            aiohttp.ClientError, TimeoutError, OSError: it did not answer.
        """
        origin, root = split_channel(channel.external_id)
        room_id = self._world.current(origin)
        if limit <= 0 or room_id not in self._world.rooms:
            return ()
        found: list[HistoryMessage] = []
        async for event in self.events(room_id, root):
            if (message := self._read(room_id, event, root)) is not None:
                found.append(message)
            if len(found) >= limit:
                break
        return tuple(reversed(found))

    async def events(self, room_id: str, root: str = "", begin: str = "", end: str = "") -> AsyncIterator[Json]:
        """Give the events of a room or thread, newest first, from one token (else now) back to another one."""
        path = room_path(room_id, "messages")
        if root:
            path = f"/_matrix/client/v1{room_path(room_id, 'relations', root)[len(CLIENT) :]}/m.thread"
        query = {"dir": "b", "limit": str(_PAGE), **({"from": begin} if begin else {}), **({"to": end} if end else {})}
        for _ in range(_PAGES):
            page = await self._client.call("GET", path, query=query)
            for event in page.get("chunk", ()):
                yield table(event)
            token = text(page.get("next_batch" if root else "end"))
            if not token:
                return
            query["from"] = token

    def _read(self, room_id: str, raw: Json, root: str) -> HistoryMessage | None:
        """Return a message as it stands now; None for what is none, or cannot be read."""
        if raw.get("type") not in {*SAID, ENCRYPTED} or is_redacted(raw) or "state_key" in raw:
            return None
        event = self._encryption.read(room_id, raw)
        if event is None or event.get("type") not in SAID or not table(event.get("content")):
            return None
        relation = relation_of(event)
        if relation.replaces or relation.thread != root:
            return None
        if (edit := self._known.edit_of(room_id, event)) is not None:
            self._known.is_latest(text(event.get("event_id")), edit)
        author = self.author(room_id, event)
        content = self._known.content_now(event)
        said = said_in(text(event.get("type")), content, author.display_name, is_reply=is_reply(event))
        return HistoryMessage(
            message_id=text(event.get("event_id")),
            author=author,
            text=said.text,
            occurred_at=moment_of(event),
            from_agent=author.external_id == self._world.agent_id,
            reply_to=relation.answers or None,
            attachments=said.attachments,
            extras=said.extras,
        )


def moment_of(event: Json) -> datetime:
    """Return when an event was sent, as its sender's homeserver says; nobody can name a moment that is none."""
    milliseconds = min(max(whole(event.get("origin_server_ts")), 0), _LATEST)
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


_LATEST: Final = 4_102_444_800_000
"""The year 2100, in milliseconds."""


def timeline_of(joined: Json) -> list[Json]:
    """Return the events of a room's timeline in a sync."""
    events = table(joined.get("timeline")).get("events")
    return [table(each) for each in events] if isinstance(events, list) else []
