"""The standing context of a stage, asked turn by turn."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from agent.contracts.context import ContextItem, Tag
from agent.events import Author, MessageCreated
from agent.store.pool import PooledConnection
from agent.store.revisions import read as read_revisions
from agent.tools import ToolContext
from agent.turn.recall import ask, rank
from agent.turn.values import Turn, Why, server_owner, user_owner
from plugins.memory.context import Forgetting, StandingContext
from plugins.memory.recall import MemoryRecall, RecallCollector
from tests.plugins.memory.stage import Stage, author
from tests.plugins.memory.world import about_server, save, source


def turn_of(context: ToolContext, **changes: Any) -> Turn:
    place, who = context.place, context.participants[0]
    event = MessageCreated(
        platform=place.platform,
        event_id="e1",
        message_id="m1",
        server=place.server.ref,
        channel=place.channel.ref,
        author=Author(context.account.key.kind, context.account.key.id, who.label),
        text="hello",
        occurred_at=context.now,
    )
    turn = Turn(
        turn_id=context.turn_id,
        event=event,
        place=place,
        account=context.account,
        speaker=context.speaker,
        persona=context.persona,
        bot_name="Mira",
        now=context.now,
        why=Why.MENTION,
        attempt=1,
        participants=context.participants,
    )
    return replace(turn, **changes)


class Prompts:
    """The standing context of a stage, asked turn by turn; counts the queries."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.collector = RecallCollector()
        self.recall = MemoryRecall(stage.search, self.collector, (), stage.announced)
        self.queries = 0
        self.turns = 0

    async def turn(self, *people: Author, changes: dict[str, Any] | None = None, **place: Any) -> Turn:
        self.turns += 1
        context = await self.stage.context(*people, turn_id=f"turn{self.turns}", **place)
        owners = [server_owner(context.place.server.server_id)]
        owners += [user_owner(user) for person in context.participants if (user := person.speaker.user_id) is not None]
        async with self.stage.store.connection() as conn:
            revisions = dict(await read_revisions(conn, owners))
        return turn_of(context, **{"revisions": revisions, **(changes or {})})

    async def items(self, turn: Turn) -> dict[Tag, ContextItem]:
        store = self.stage.store
        connection = store.connection

        @asynccontextmanager
        async def counted() -> AsyncIterator[PooledConnection]:
            self.queries += 1
            async with connection() as conn:
                yield conn

        self.queries = 0
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, "connection", counted)
            return {item.tag: item for item in await self.context.items(turn)}

    @property
    def context(self) -> StandingContext:
        stage = self.stage
        forgetting = Forgetting(stage.toolbox.writing.settings.decay, stage.retrieval, self.collector)
        return StandingContext(stage.repository, stage.cache, stage.guards, stage.seen, forgetting)

    async def called_back(self, turn: Turn) -> list[str]:
        """Return the lines that the core would place, best first; the standing context was asked before."""
        embedder = self.stage.embedder
        query = await ask(turn, embedder)
        candidates = await self.recall.candidates(turn, query)
        threshold = 1.0 if embedder is None else embedder.threshold
        return [candidate.line for candidate in rank(candidates, query, threshold=threshold)]

    async def blocks(self, *people: Author, changes: dict[str, Any] | None = None, **place: Any) -> dict[Tag, str]:
        items = await self.items(await self.turn(*people, changes=changes, **place))
        return {tag: item.render() for tag, item in items.items()}

    async def server(self, *people: Author, changes: dict[str, Any] | None = None, **place: Any) -> str:
        return (await self.blocks(*people, changes=changes, **place)).get(Tag.KNOWLEDGE_SERVER_MEMORIES, "")

    async def personal(self, *people: Author, changes: dict[str, Any] | None = None, **place: Any) -> str:
        return (await self.blocks(*people, changes=changes, **place)).get(Tag.KNOWLEDGE_USER_MEMORIES, "")


async def add(stage: Stage, *contents: str, **changes: Any) -> list[int]:
    """Save server memories of home, as another part might have."""
    place, _ = await stage.enter(author("Ana"))
    found = []
    for content in contents:
        changes.setdefault("source", source(server_id=place.server.server_id))
        write = about_server(place.server.server_id, content, **changes)
        added = await save(stage.repository, stage.store, write, now=stage.clock.now())
        assert added.memory_id is not None
        found.append(added.memory_id)
    return found
