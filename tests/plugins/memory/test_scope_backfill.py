"""Scopes by name are resolved once their channels are known (memory.md, Standing context)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio

from agent.places import ChannelRef, ServerRef
from agent.store.errors import DatabaseUnavailable
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from plugins.memory import scope_backfill
from plugins.memory.repository import Actor
from plugins.memory.scope_backfill import ScopeBackfill
from plugins.memory.scope_rows import ScopeRows
from plugins.memory.scope_rules import Settled, Waiting
from tests.plugins.memory.prompts import Prompts, add
from tests.plugins.memory.stage import GENERAL, HOME, Stage, author
from tests.plugins.memory.world import about_server, save

ANA = author("Ana")
PLANS = ChannelRef("console:plans", "plans")
OTHER = ChannelRef("console:other", "other")
THREAD = ChannelRef("console:t", "friday", parent_external_id=PLANS.external_id, parent_name="plans")


class Legacy:
    """A stage whose server has memories with scopes by name."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.rows = ScopeRows(stage.store)
        self.backfill = self.another(stage)

    def another(self, stage: Stage, batch: int = 100) -> ScopeBackfill:
        return ScopeBackfill(stage.store, self.rows, stage.announced, stage.clock, batch=batch)

    async def add(self, content: str, *tags: str, pending: bool = True, lineage: int = 1) -> int:
        [memory_id] = await add(self.stage, content, lineage=lineage)
        await self.stage.rows(
            "UPDATE server_memories SET channel_scope_pending = $2, legacy_channel_scope_tags = $3 "
            "WHERE server_memory_id = $1",
            memory_id,
            pending,
            list(tags),
        )
        return memory_id

    async def see(self, *channels: ChannelRef, server: ServerRef = HOME) -> int:
        places = [(await self.stage.enter(ANA, server, channel))[0] for channel in channels]
        return places[0].server.server_id

    async def scope(self, memory_id: int) -> tuple[list[str], bool, list[str]]:
        [row] = await self.stage.rows("SELECT * FROM server_memories WHERE server_memory_id = $1", memory_id)
        return row["channel_disc_ids"], row["channel_scope_pending"], row["legacy_channel_scope_tags"]


@pytest.fixture
def legacy(stage: Stage) -> Legacy:
    return Legacy(stage)


@pytest_asyncio.fixture
async def running(legacy: Legacy) -> AsyncIterator[ScopeBackfill]:
    legacy.backfill.start()
    yield legacy.backfill
    await legacy.backfill.stop()


async def test_a_pending_scope_counts_as_empty_until_the_backfill_narrows_it(legacy: Legacy, prompts: Prompts) -> None:
    await legacy.add("about plans", "#plans")
    server_id = await legacy.see(GENERAL, OTHER)
    assert await legacy.backfill.settle(server_id) == 0
    for channel in (GENERAL, OTHER, PLANS, THREAD):
        assert "about plans" in await prompts.server(ANA, channel=channel)
    assert await legacy.backfill.settle(server_id) == 1
    for channel in (GENERAL, OTHER):
        assert await prompts.server(ANA, channel=channel) == ""
    for channel in (PLANS, THREAD):
        assert "about plans" in await prompts.server(ANA, channel=channel)


async def test_an_admin_narrows_what_stays_pending(legacy: Legacy, prompts: Prompts) -> None:
    memory_id = await legacy.add("about plans", "#gone")
    server_id = await legacy.see(GENERAL, PLANS)
    await legacy.backfill.settle(server_id)
    [pending] = await legacy.rows.pending(server_id)
    assert (pending.memory_id, pending.tags, pending.scope) == (memory_id, ("#gone",), Waiting(("#gone",)))
    _, account = await legacy.stage.enter(ANA)
    actor, now = Actor(account.account_id, None, "/memories scope"), legacy.stage.clock.now()
    for expected in ((memory_id,), ()):
        async with legacy.stage.store.transaction() as conn:
            given = {memory_id: [PLANS.external_id]}
            assert await legacy.rows.settle(conn, server_id, given, actor, now, manually=True) == expected
    prompts.stage.cache.forget(f"server:{server_id}")
    assert "about plans" in await prompts.server(ANA, channel=PLANS)
    [row] = await legacy.stage.rows("SELECT manually_written FROM server_memories")
    assert row["manually_written"]
    assert [(row["kind"], row["source_tool"]) for row in await events(legacy)] == [("updated", "/memories scope")]


async def events(legacy: Legacy) -> Sequence[dict[str, Any]]:
    return await legacy.stage.rows("SELECT * FROM memory_events WHERE kind <> 'created' ORDER BY memory_event_id")


async def test_tags_neither_hide_nor_show_before_and_after(legacy: Legacy, prompts: Prompts) -> None:
    memory_id = await legacy.add("about plans", "#plans")
    await legacy.see(GENERAL, PLANS)
    await legacy.stage.rows("UPDATE server_memories SET tags = '{#other,secret}'")
    server_id = await legacy.see(GENERAL)
    assert (await prompts.server(ANA)).splitlines()[1:] == [f"ID:{memory_id} about plans"]
    await legacy.backfill.settle(server_id)
    assert (await prompts.server(ANA, channel=PLANS)).splitlines()[1:] == [f"ID:{memory_id} about plans"]


async def test_what_is_ambiguous_or_unknown_stays_pending(legacy: Legacy) -> None:
    both = await legacy.add("two of that name", "#twin")
    half = await legacy.add("one is known", "#general", "#gone")
    none = await legacy.add("no names at all")
    server_id = await legacy.see(GENERAL, ChannelRef("console:a", "twin"), ChannelRef("console:b", "Twin"))
    assert await legacy.backfill.settle(server_id) == 1
    assert await legacy.scope(both) == ([], True, ["#twin"])
    assert await legacy.scope(half) == ([], True, ["#general", "#gone"])
    assert await legacy.scope(none) == ([], False, [])
    scopes = {each.memory_id: each.scope for each in await legacy.rows.pending(server_id)}
    assert scopes[half] == Waiting(("#gone",))
    assert scopes[both] == Waiting(ambiguous={"#twin": ("console:a", "console:b")})


async def test_a_parent_is_known_by_its_thread_until_it_is_seen_itself(legacy: Legacy) -> None:
    memory_id = await legacy.add("about plans", "#plans")
    server_id = await legacy.see(THREAD)
    [pending] = await legacy.rows.pending(server_id)
    assert pending.scope == Settled((PLANS.external_id,))
    await legacy.see(ChannelRef(PLANS.external_id, "old plans"))
    assert await legacy.backfill.settle(server_id) == 0
    assert await legacy.scope(memory_id) == ([], True, ["#plans"])


async def test_channels_of_other_servers_do_not_count(legacy: Legacy) -> None:
    await legacy.add("about plans", "#plans")
    await legacy.see(ChannelRef("console:elsewhere", "plans"), server=ServerRef("console", "console:work", "work"))
    server_id = await legacy.see(GENERAL)
    assert await legacy.backfill.settle(server_id) == 0


async def test_every_lineage_is_settled_and_pending_ones_are_listed_by_lineage(legacy: Legacy) -> None:
    ids = [await legacy.add(f"of lineage {lineage}", "#gone", lineage=lineage) for lineage in (1, 2)]
    server_id = await legacy.see(GENERAL)
    assert [each.memory_id for each in await legacy.rows.pending(server_id, 2)] == [ids[1]]
    assert [each.memory_id for each in await legacy.rows.pending(server_id, limit=1)] == [ids[0]]
    assert [each.memory_id for each in await legacy.rows.pending(server_id, after=ids[0])] == [ids[1]]
    await legacy.see(ChannelRef("console:gone", "gone"))
    assert await legacy.backfill.settle(server_id) == 2


async def test_it_is_done_in_batches_and_once(legacy: Legacy) -> None:
    ids = [await legacy.add(f"memory {number}", "#plans" if number % 2 else "#gone") for number in range(7)]
    server_id = await legacy.see(PLANS)
    legacy.stage.announced.owners.clear()
    assert await legacy.another(legacy.stage, batch=2).settle(server_id) == 3
    assert [row["memory_id"] for row in await events(legacy)] == [ids[1], ids[3], ids[5]]
    assert {row["source_tool"] for row in await events(legacy)} == {"scope_backfill"}
    assert legacy.stage.announced.owners == [f"server:{server_id}"] * 3
    [revision] = await legacy.stage.rows("SELECT * FROM owner_revisions WHERE owner = $1", f"server:{server_id}")
    assert await legacy.backfill.settle(server_id) == 0
    assert [revision] == await legacy.stage.rows(
        "SELECT * FROM owner_revisions WHERE owner = $1", f"server:{server_id}"
    )
    [row] = await legacy.stage.rows("SELECT * FROM server_memories WHERE server_memory_id = $1", ids[1])
    assert (row["version"], row["manually_written"]) == (1, False)


async def test_two_at_once_settle_each_memory_once(legacy: Legacy) -> None:
    for number in range(20):
        await legacy.add(f"memory {number}", "#plans")
    server_id = await legacy.see(PLANS)
    several = [legacy.another(legacy.stage, batch=3) for _ in range(4)]
    counts = await asyncio.gather(*(each.settle(server_id) for each in several))
    assert sum(counts) == 20
    assert len(await events(legacy)) == 20


async def test_it_begins_at_the_start_and_goes_on_when_a_channel_is_seen(
    legacy: Legacy, running: ScopeBackfill
) -> None:
    one, two = await legacy.add("about plans", "#plans"), await legacy.add("elsewhere", "#other")
    await running.idle()
    server_id = await legacy.see(PLANS)
    running.wake(server_id)
    await running.idle()
    assert await legacy.scope(one) == ([PLANS.external_id], False, [])
    assert await legacy.scope(two) == ([], True, ["#other"])
    await legacy.see(OTHER)
    running.wake()
    await running.idle()
    assert await legacy.scope(two) == ([OTHER.external_id], False, [])


async def test_a_server_that_is_gone_is_nothing_to_do(legacy: Legacy) -> None:
    assert await legacy.backfill.settle(77) == 0


async def test_it_goes_on_when_the_database_is_back(legacy: Legacy, monkeypatch: pytest.MonkeyPatch) -> None:
    memory_id = await legacy.add("about plans", "#plans")
    await legacy.see(PLANS)
    failures = [DatabaseUnavailable("away"), DatabaseUnavailable("away")]
    servers = legacy.rows.servers

    async def fails_at_first() -> tuple[int, ...]:
        if failures:
            raise failures.pop()
        return await servers()

    monkeypatch.setattr(legacy.rows, "servers", fails_at_first)
    monkeypatch.setattr(scope_backfill, "PAUSE", 0.01)
    legacy.backfill.start()
    await legacy.backfill.idle()
    await legacy.backfill.stop()
    assert failures == []
    assert await legacy.scope(memory_id) == ([PLANS.external_id], False, [])


async def test_a_save_at_the_same_time_waits_its_turn(legacy: Legacy) -> None:
    for number in range(10):
        await legacy.add(f"memory {number}", "#plans")
    server_id = await legacy.see(PLANS)
    await asyncio.gather(
        legacy.backfill.settle(server_id),
        *(save(legacy.stage.repository, legacy.stage.store, about_server(server_id, f"new {n}")) for n in range(10)),
    )
    [row] = await legacy.stage.rows(
        "SELECT count(*) AS all, count(*) FILTER (WHERE channel_scope_pending) AS pending FROM server_memories"
    )
    assert (row["all"], row["pending"]) == (20, 0)


@pytest.mark.unwatched_loop  # an agent imports its model's library when it starts
async def test_a_running_agent_settles_scopes_when_somebody_speaks_in_a_channel(database_url: str) -> None:
    platform = FakePlatform()
    settings = {"plugins": {"memory": {"enabled": True}}}
    async with running_agent(database_url, settings, bridge=FakeBridge(platform=platform)) as agent:
        await platform.ask("ana", "hello")
        arguments = '{"memory_content": "about plans", "memory_scope": "server_wide"}'
        place = platform.place()
        await agent.call_tool("create_long_term_memory", arguments, *place, platform.person("ana"))
        async with agent.core.store.connection() as conn:
            await conn.execute(
                "UPDATE server_memories SET channel_scope_pending = true, legacy_channel_scope_tags = '{#plans}'"
            )
            await platform.say("ana", "to nobody", channel="plans", to_agent=False)
            async with asyncio.timeout(10):
                while await conn.fetchval("SELECT channel_scope_pending FROM server_memories"):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            ids = await conn.fetchval("SELECT channel_disc_ids FROM server_memories")
            assert ids == [platform.place("plans")[1].external_id]
