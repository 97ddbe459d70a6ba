"""Memories against a plain model of the rules: saves, edits, deletions, reinforcements, caps, decay and clock steps."""

import asyncio
import re
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from structlog.testing import capture_logs

from agent import metrics
from agent.contracts.memory import MemoryScope, Origin
from agent.metrics import Metrics
from agent.privacy.guards import MemoryGuards
from agent.privacy.repository import Privacy
from agent.store.pool import ExternalServer, Store
from plugins.memory.cards import Wording
from plugins.memory.content import fold
from plugins.memory.remembered import Remembered
from plugins.memory.repository import Actor, Edit, MemoryRepository, Outcome, Room
from plugins.memory.rules import is_dormant
from plugins.memory.saving import Request, Writing, save
from plugins.memory.search import MemorySearch
from plugins.memory.settings import DecaySettings, MemorySettings
from plugins.memory.status import Status
from tests.clocks import ManualClock
from tests.plugins.memory.stage import Announced, Hooks
from tests.plugins.memory.world import NOW, World, about_person, about_server

LINEAGES = (0, 1, 2)
CONTENTS = ("tea", "Tea!", "coffee", "C#", "C", "1.5", "15", "cake", "pie")
NOBODY = Actor(None, None, None)
OUTCOMES = {
    str(Status.SAVED): Outcome.SAVED,
    str(Status.SAVED_WITH_EVICTION): Outcome.EVICTED,
    str(Status.ALREADY_KNOWN): Outcome.KNOWN,
    str(Status.SAVE_LIMIT_EXCEEDED): Outcome.FULL,
}


@dataclass(frozen=True)
class Row:
    memory_id: int
    owner: str
    lineage: int
    content: str
    manual: bool
    created_at: datetime
    reinforced_at: datetime | None = None
    version: int = 1


@dataclass
class Model:
    """The rules in plain words: rows in the order of their ids."""

    rows: dict[int, Row] = field(default_factory=dict)
    revisions: dict[str, int] = field(default_factory=dict)
    events: list[tuple[str, int]] = field(default_factory=list)
    evictions: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By scope and days of decay."""

    def add(self, wanted: Row, room: Room) -> tuple[Outcome, int | None, str | None]:
        """Save what is wanted under the id that the database gave it; 0 when it gave none."""
        owner, lineage, content, now = wanted.owner, wanted.lineage, wanted.content, wanted.created_at
        mine = [row for row in self.rows.values() if row.owner == owner]
        same = [row for row in mine if row.lineage == lineage and fold(row.content) == fold(content)]
        if same:
            row = min(same, key=lambda row: row.memory_id)
            reinforced = max(row.reinforced_at or now, now)
            self.rows[row.memory_id] = replace(row, reinforced_at=reinforced, manual=row.manual or wanted.manual)
            self._note(owner, "reinforced", row.memory_id)
            return Outcome.KNOWN, row.memory_id, None
        forgotten = None
        if self._taken(mine, lineage) >= room.cap:
            victim = self._victim(mine, lineage, room, now)
            if victim is None:
                return Outcome.FULL, None, None
            del self.rows[victim.memory_id]
            self.events.append(("evicted", victim.memory_id))
            self.evictions["server" if owner.startswith("server") else "personal", str(room.decay_days)] += 1
            forgotten = victim.content
        self.rows[wanted.memory_id] = wanted
        self._note(owner, "created", wanted.memory_id)
        return Outcome.SAVED if forgotten is None else Outcome.EVICTED, wanted.memory_id, forgotten

    @staticmethod
    def _taken(mine: list[Row], lineage: int) -> int:
        of = {each: sum(row.lineage == each for row in mine) for each in LINEAGES}
        return of[0] + (of[lineage] if lineage else max(of[1], of[2]))

    @staticmethod
    def _victim(mine: list[Row], lineage: int, room: Room, now: datetime) -> Row | None:
        if not room.may_evict or lineage == 0:
            return None
        candidates = [
            row
            for row in mine
            if row.lineage == lineage
            and not row.manual
            and is_dormant(row.reinforced_at, row.created_at, now, room.decay_days)
        ]
        first = datetime.min.replace(tzinfo=NOW.tzinfo)
        return min(
            candidates, key=lambda row: (row.reinforced_at or first, row.created_at, row.memory_id), default=None
        )

    def reinforce(self, rows: list[Row], now: datetime) -> set[str]:
        for row in sorted(rows, key=lambda row: row.memory_id):
            self.rows[row.memory_id] = replace(row, reinforced_at=max(row.reinforced_at or now, now))
            self.events.append(("reinforced", row.memory_id))
        owners = {row.owner for row in rows}
        for owner in owners:
            self.revisions[owner] = self.revisions.get(owner, 0) + 1
        return owners

    def dormant(self, now: datetime, days: int) -> set[int]:
        rows = self.rows.values()
        return {row.memory_id for row in rows if is_dormant(row.reinforced_at, row.created_at, now, days)}

    def edit(self, row: Row, content: str, version: int) -> int | None:
        if version != row.version:
            return None
        self.rows[row.memory_id] = replace(row, content=content, version=version + 1)
        self._note(row.owner, "updated", row.memory_id)
        return version + 1

    def remove(self, row: Row) -> str:
        del self.rows[row.memory_id]
        self._note(row.owner, "deleted", row.memory_id)
        return row.content

    def _note(self, owner: str, kind: str, memory_id: int) -> None:
        self.events.append((kind, memory_id))
        self.revisions[owner] = self.revisions.get(owner, 0) + 1


class Machine(RuleBasedStateMachine):
    """Two servers and two people, three lineages; each example has owners of its own."""

    runner: asyncio.Runner
    store: Store
    outcomes: Counter[Outcome]
    """How often each was met, over all examples."""
    evictions: Counter[tuple[str, str]]
    """What the model counted, over all examples."""

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    @initialize()
    def begin(self) -> None:
        self.repository = MemoryRepository(self.store)
        self.search = MemorySearch(self.store)
        self.guards = MemoryGuards(Privacy(self.store), Hooks())
        self.model = Model()
        self.now = NOW
        self.room = Room(cap=2, may_evict=True, decay_days=1)
        world = World(self.store)
        self.servers = [self.run(world.server()), self.run(world.server())]
        self.people = [self.run(world.person()).user_id, self.run(world.person()).user_id]

    @rule(
        owner=st.integers(0, 3),
        lineage=st.sampled_from(LINEAGES),
        content=st.sampled_from(CONTENTS),
        manual=st.booleans(),
    )
    def save(self, owner: int, lineage: int, content: str, manual: bool) -> None:
        self.save_one(owner, lineage, content, manual=manual)

    def save_one(self, owner: int, lineage: int, content: str, *, manual: bool) -> None:
        if owner < 2:
            lineage = lineage or 1
            key = f"server:{self.servers[owner]}"
            write = about_server(self.servers[owner], content, lineage=lineage, manually_written=manual)
        else:
            key = f"user:{self.people[owner - 2]}"
            write = about_person(self.people[owner - 2], content, lineage=lineage, manually_written=manual)

        # Only what a person does may touch lineage 0.
        origin = Origin.MODEL if lineage else Origin.COMMAND
        result = self.run(save(self.writing(), Request(replace(write, origin=origin), Wording(""))))
        memory_id, forgotten = result.data.get("memory_id"), result.data.get("content_forgotten")
        wanted = Row(memory_id or 0, key, lineage, content, manual, self.now)
        outcome = OUTCOMES[result.status]
        self.outcomes[outcome] += 1
        assert (outcome, memory_id, forgotten) == self.model.add(wanted, self.room)

    def writing(self) -> Writing:
        async def can_recall() -> bool:
            return self.room.may_evict

        return Writing(
            self.store,
            self.repository,
            self.guards,
            Announced(),
            ManualClock(self.now),
            MemorySettings(
                max_server_memories=self.room.cap,
                max_personal_memories=self.room.cap,
                decay=DecaySettings(days=self.room.decay_days),
            ),
            can_recall=can_recall,
        )

    @rule(picks=st.lists(st.integers(0, 99), min_size=1, max_size=4))
    def call_back(self, picks: list[int]) -> None:
        """Reinforce what a turn has called back, of several owners at once; what is gone is passed over."""
        rows = {row.memory_id: row for pick in picks if (row := self._pick(pick)) is not None}
        owners = self.run(self.search.reinforce([*rows, 0], "t1", self.now))
        assert set(owners) == self.model.reinforce(list(rows.values()), self.now)

    @rule(owner=st.integers(0, 3), lineage=st.sampled_from((1, 2)), hours=st.sampled_from((1, 25)))
    def crowd(self, owner: int, lineage: int, hours: int) -> None:
        """Save more than there are places, while time passes: what evictions are made of."""
        for content in CONTENTS:
            self.save_one(owner, lineage, content, manual=False)
            self.now += timedelta(hours=hours)

    @rule(pick=st.integers(0, 99), content=st.sampled_from(CONTENTS), stale=st.booleans())
    def edit(self, pick: int, content: str, stale: bool) -> None:
        if (row := self._pick(pick)) is None:
            return
        version = row.version - 1 if stale else row.version
        memory = self._read(row)

        async def edit() -> int | None:
            async with self.store.transaction() as conn:
                return await self.repository.edit(conn, memory, Edit(content, version, None, None), NOBODY, self.now)

        assert self.run(edit()) == self.model.edit(row, content, version)

    @rule(pick=st.integers(0, 99))
    def remove(self, pick: int) -> None:
        if (row := self._pick(pick)) is None:
            return
        memory = self._read(row)

        async def remove() -> str | None:
            async with self.store.transaction() as conn:
                return await self.repository.remove(conn, memory, NOBODY, self.now)

        assert self.run(remove()) == self.model.remove(row)

    @rule(hours=st.sampled_from((1, 23, 24, 25, 24 * 31)))
    def time_passes(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    @rule(cap=st.integers(1, 3), may_evict=st.booleans(), days=st.sampled_from((1, 30)))
    def configure(self, cap: int, may_evict: bool, days: int) -> None:
        self.room = Room(cap, may_evict, days)

    @invariant()
    def both_hold_the_same(self) -> None:
        if not hasattr(self, "model"):
            return
        rows = self.run(self._rows())
        assert rows == sorted(self.model.rows.values(), key=lambda row: row.memory_id)
        dormant = self.model.dormant(self.now, self.room.decay_days)
        assert self.run(self._withheld()) == dormant
        assert self.run(self._dormant()) == dormant
        assert self.run(self._revisions()) == self.model.revisions

    def teardown(self) -> None:
        if hasattr(self, "model"):
            assert self.run(self._events()) == self.model.events
            self.evictions.update(self.model.evictions)

    def _pick(self, pick: int) -> Row | None:
        rows = list(self.model.rows.values())
        return rows[pick % len(rows)] if rows else None

    def _read(self, row: Row) -> Any:
        scope = MemoryScope.SERVER if row.owner.startswith("server") else MemoryScope.PERSONAL
        owner = int(row.owner.partition(":")[2])
        return self.run(self.repository.read(scope, row.memory_id, owner, row.lineage))

    async def _rows(self) -> list[Row]:
        columns = "persona_lineage_id, content, manually_written, created_at, last_reinforced_at, version"
        async with self.store.connection() as conn:
            found = await conn.fetch(
                f"SELECT server_memory_id AS id, 'server:' || server_id AS owner, {columns} "  # noqa: S608
                f"FROM server_memories WHERE server_id = ANY ($1) UNION ALL SELECT personal_memory_id, "
                f"'user:' || user_id, {columns} FROM personal_memories WHERE user_id = ANY ($2) ORDER BY id",
                self.servers,
                self.people,
            )
        return [Row(*row) for row in found]

    async def _withheld(self) -> set[int]:
        """Return what a prompt would withhold, as it is decided from rows that were read."""
        found: set[int] = set()
        for lineage in (1, 2):
            for server, people in ((self.servers[0], self.people), (self.servers[1], [])):
                held = Remembered(await self.repository.block(server, people, lineage))
                found |= set(held.dormant(self.now, self.room.decay_days))
        return found

    async def _dormant(self) -> set[int]:
        """Return what an eviction would take to be dormant."""
        predicate = "memory_is_dormant(last_reinforced_at, created_at, $3, $4)"
        async with self.store.connection() as conn:
            rows = await conn.fetch(
                "SELECT server_memory_id AS id FROM server_memories "  # noqa: S608
                f"WHERE server_id = ANY ($1) AND {predicate} "
                "UNION ALL SELECT personal_memory_id FROM personal_memories "
                f"WHERE user_id = ANY ($2) AND {predicate}",
                self.servers,
                self.people,
                self.now,
                self.room.decay_days,
            )
        return {row["id"] for row in rows}

    async def _revisions(self) -> dict[str, int]:
        owners = [*(f"server:{each}" for each in self.servers), *(f"user:{each}" for each in self.people)]
        async with self.store.connection() as conn:
            found = await conn.fetch("SELECT owner, revision FROM owner_revisions WHERE owner = ANY ($1)", owners)
        return {row["owner"]: row["revision"] for row in found}

    async def _events(self) -> list[tuple[str, int]]:
        async with self.store.connection() as conn:
            found = await conn.fetch(
                "SELECT kind, memory_id FROM memory_events WHERE (scope = 'server' AND owner_id = ANY ($1)) "
                "OR (scope = 'personal' AND owner_id = ANY ($2)) ORDER BY memory_event_id",
                self.servers,
                self.people,
            )
        return [(row["kind"], row["memory_id"]) for row in found]


def test_repository_and_model_agree(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Metrics()
    counted.declare("memory_eviction", "counter", ("scope", "decay_days"), "Evictions.")
    counted.enable()
    monkeypatch.setattr(metrics, "emit", counted.emit)
    with asyncio.Runner() as runner, capture_logs() as lines:
        store, outcomes = Store(ExternalServer(database_url)), Counter[Outcome]()
        evictions: Counter[tuple[str, str]] = Counter()
        runner.run(store.open())
        names = {"runner": runner, "store": store, "outcomes": outcomes, "evictions": evictions}
        bound = type("BoundMachine", (Machine,), names)
        try:
            run_state_machine_as_test(
                bound,
                settings=settings(
                    max_examples=40,
                    stateful_step_count=50,
                    deadline=None,
                    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
                ),
            )
        finally:
            runner.run(store.close())
    assert set(outcomes) == set(Outcome), f"the examples met {outcomes} alone"
    logged = [line for line in lines if line["event"] == "memory_eviction"]
    assert all(line.keys() == {"event", "log_level", "scope", "decay_days"} for line in logged)
    assert Counter((line["scope"], str(line["decay_days"])) for line in logged) == evictions
    series = re.findall(rb'memory_eviction_total{decay_days="(.+)",scope="(.+)"} (.+)', counted.render())
    assert {(scope.decode(), days.decode()): float(count) for days, scope, count in series} == evictions
