"""A place with people, in which the memory tools run as the model would call them: real identity, privacy, database."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent.clock import RandomIds
from agent.contracts.cards import Card
from agent.contracts.people import Account, Denial, Persona, PrivacyLevel, Speaker
from agent.embedding_worker import ENDLESS, embed_each
from agent.events import Author
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.people import People
from agent.identity.resolver import Resolver
from agent.models.embeddings import Embedder
from agent.places import ChannelRef, Place, ServerKind, ServerRef, Visibility
from agent.privacy.guards import MemoryGuards
from agent.privacy.repository import Privacy
from agent.store.pool import Store
from agent.tool_runner import run_tool
from agent.tools import Connection, ToolContext, ToolResult
from plugins.memory.remembered import RememberedCache
from plugins.memory.repository import MemoryRepository
from plugins.memory.saving import Writing
from plugins.memory.search import MemorySearch, MemoryVectors, Retrieval
from plugins.memory.seen import SeenVersions
from plugins.memory.settings import MemorySettings
from plugins.memory.toolbox import Toolbox
from plugins.memory.tools import memory_tools
from tests.clocks import ManualClock
from tests.plugins.memory.embedder import WordEmbedder
from tests.plugins.memory.world import NOW

HOME = ServerRef("console", "console:home", "home")
GENERAL = ChannelRef("console:general", "general")
BACKROOM = ChannelRef("console:backroom", "backroom", Visibility.RESTRICTED)
DIRECT = ServerRef("console", "console:dm", "Ana", ServerKind.DIRECT)
DIRECT_CHANNEL = ChannelRef("console:dm-channel", "Ana", Visibility.DIRECT)


def author(name: str, kind: ParticipantKind = ParticipantKind.CONSOLE_USER, number: str = "") -> Author:
    return Author(kind, f"console:{name.lower()}{number}", name)


@dataclass
class Hooks:
    """The plugin host, as guards need it: refuses what a test says, and is covered when a test says so."""

    denials: dict[str, Denial] = field(default_factory=dict)
    covered: bool = False
    asked: list[str] = field(default_factory=list)

    async def guard(self, name: str, /, **values: Any) -> Denial | None:
        self.asked.append(name)
        return self.denials.get(name)

    def covers(self, topic: str, hook: str | None = None) -> bool:
        return self.covered and topic == "proxy_identity"


@dataclass
class Effects:
    """The checkpoints of a turn."""

    fails_with: BaseException | None = None
    kept: list[tuple[ToolResult, tuple[Card, ...]]] = field(default_factory=list)

    async def __call__(self, conn: Connection, result: ToolResult, cards: tuple[Card, ...] = ()) -> None:
        assert conn.is_in_transaction()
        if self.fails_with is not None:
            raise self.fails_with
        self.kept.append((result, cards))

    @property
    def cards(self) -> list[Card]:
        return [card for _, cards in self.kept for card in cards]


@dataclass
class Announced:
    """What was announced, each only after its commit."""

    owners: list[str] = field(default_factory=list)

    def announce(self, *owners: str) -> None:
        self.owners += owners


class Stage:
    def __init__(self, store: Store, **settings: Any) -> None:
        self.store = store
        self.clock = ManualClock(NOW)
        self.hooks = Hooks()
        self.effects = Effects()
        self.announced = Announced()
        self.people = People(store)
        self.privacy = Privacy(store)
        self.guards = MemoryGuards(self.privacy, self.hooks)
        self.repository = MemoryRepository(store)
        self.cache = RememberedCache(self.repository, self.clock)
        self.seen = SeenVersions()
        self.search = MemorySearch(store)
        self.embedder: Embedder | None = None
        self.woken: list[int] = []
        self.toolbox = self._toolbox(MemorySettings(**settings))
        self._ids = RandomIds(self.clock)

    def _toolbox(self, settings: MemorySettings) -> Toolbox:
        writing = Writing(
            self.store,
            self.repository,
            self.guards,
            self.announced,
            self.clock,
            settings,
            can_recall=self.can_recall,
            wake=self.woken.append,
        )
        return Toolbox(writing, Resolver(self.people), self.seen)

    def configure(self, **settings: Any) -> None:
        self.toolbox = self._toolbox(MemorySettings(**settings))

    @property
    def retrieval(self) -> Retrieval:
        return Retrieval(self.search, self.embedder)

    async def can_recall(self) -> bool:
        return await self.retrieval.is_available()

    def allow_eviction(self) -> None:
        self.embedder = WordEmbedder()

    async def embed(self) -> None:
        """Do what the worker does in the background."""
        assert self.embedder is not None
        vectors, name = MemoryVectors(self.store, self.search), self.embedder.name
        while rows := await vectors.pending(name, 0, ENDLESS, 100):
            embedded, refused = await embed_each(self.embedder, rows)
            assert not refused
            assert await vectors.keep(name, embedded) == len(rows)

    async def enter(
        self, who: Author, server: ServerRef = HOME, channel: ChannelRef = GENERAL
    ) -> tuple[Place, Account]:
        entrance = await self.people.enter(server, channel, who, self.clock.now())
        return entrance.place, entrance.account

    async def context(
        self,
        who: Author,
        *others: Author,
        server: ServerRef = HOME,
        channel: ChannelRef = GENERAL,
        lineage: int = 1,
        speaker: Speaker | None = None,
        said_at: datetime | None = None,
        turn_id: str = "t1",
    ) -> ToolContext:
        place, account = await self.enter(who, server, channel)
        for other in others:
            await self.enter(other, server, channel)
        keys: list[ParticipantKey] = [who.key, *(other.key for other in others)]
        participants = await self.people.participants(place, keys, speaker, ("Isthmus",))
        return ToolContext(
            turn_id=turn_id,
            place=place,
            account=account,
            speaker=speaker or Speaker(who.key, account.user_id, account.display_name),
            persona=Persona(1, place.server.server_id, lineage, "Isthmus", "", None, (), is_default=True),
            participants=participants,
            now=self.clock.now(),
            message_id="m1",
            said_at=said_at or self.clock.now(),
            effect=self.effects,
        )

    async def create(self, context: ToolContext, content: Any, target: str | None = None, **more: Any) -> ToolResult:
        scope = "server_wide" if target is None else "target_user"
        arguments = {"memory_content": content, "memory_scope": scope, "target_user": target, **more}
        return await self._run("create_long_term_memory", context, arguments)

    async def update(self, context: ToolContext, memory_id: Any, content: Any, target: str | None = None) -> ToolResult:
        arguments = {"memory_id": memory_id, "memory_content": content, "target_user": target}
        return await self._run("update_long_term_memory", context, arguments)

    async def _run(self, name: str, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        tool = {tool.name: tool for tool in memory_tools(self.toolbox)}[name]
        return await run_tool(tool, arguments, context, ids=self._ids)

    async def set_privacy(self, who: Author, level: PrivacyLevel) -> None:
        _, account = await self.enter(who)
        await self.privacy.set_level(account.account_id, level)

    async def tell(self, *people: Author) -> None:
        """Have people told already that the agent remembers."""
        for who in people:
            _, account = await self.enter(who)
            async with self.store.connection() as conn:
                await conn.execute(
                    "UPDATE accounts SET disclosed_at = $2 WHERE account_id = $1", account.account_id, NOW
                )

    async def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        async with self.store.connection() as conn:
            return [dict(row) for row in await conn.fetch(query, *values)]
