"""A server with its default persona, and the parts that change personas, as the agent puts them together."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.identity.people import People
from agent.invalidation import Invalidation
from agent.personas.changes import PersonaChanges
from agent.personas.repository import Personas
from agent.store.pool import Store
from tests.agent.identity.builders import GENERAL, HOME, NOW, author
from tests.clocks import ManualClock


@dataclass(frozen=True)
class Defaults:
    name: str = "Isthmus"
    prompt: str = "You are {bot}."
    avatar: str | None = "https://example.org/a.png"
    triggers: tuple[str, ...] = ("robot",)


@dataclass
class Desk:
    store: Store
    defaults: Defaults = field(default_factory=Defaults)
    announced: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = ManualClock(NOW)
        self.people = People(self.store)
        self.personas = Personas(self.store, self.defaults, self.clock)
        revisions = Invalidation(self.store)
        revisions.listen(self.announced.append)
        revisions.listen(self.personas.forget)
        self.changes = PersonaChanges(self.store, self.personas, revisions, self.clock)

    async def server(self) -> int:
        return (await self.people.enter(HOME, GENERAL, author("ana"), NOW)).place.server.server_id

    async def revision(self) -> int:
        return (await self.people.enter(HOME, GENERAL, author("ana"), NOW)).revision

    def with_defaults(self, defaults: Defaults) -> Desk:
        return Desk(self.store, defaults)
