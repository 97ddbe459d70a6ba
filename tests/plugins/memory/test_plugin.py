"""The plugin as a running agent uses it."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from agent.app import Agent
from agent.contracts.cards import CardKind
from agent.contracts.memory import MemoryScope, MemoryWritten, Origin, WriteKind
from agent.contracts.people import PrivacyLevel
from agent.hookspecs import Health
from agent.plugin_host import HookFailed, State
from agent.plugin_loader import section_model
from agent.preferences import Preferences
from agent.privacy.erase import erase_person
from agent.settings import load_settings
from agent.store.pool import Store
from plugins.memory import MemoryPlugin
from plugins.memory.settings import MemorySettings
from plugins.memory.status import Status
from tests.plugins.memory.stage import GENERAL, HOME, author
from tests.plugins.memory.world import World, about_person, about_server, source

ANA, BEN = author("Ana"), author("Ben")

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts


@pytest_asyncio.fixture
async def agent(tmp_path: Path, database_url: str) -> AsyncIterator[Agent]:
    (tmp_path / "plugins.toml").write_text(f'[database]\nurl = "{database_url}"\n')
    loaded = load_settings(None, {}, tmp_path, tmp_path, data_dir=tmp_path, section_model=section_model)
    running = await Agent.start(loaded, bridges=())
    yield running
    await running.stop()


async def create(agent: Agent, content: str, target: str | None = None) -> int:
    scope = "server_wide" if target is None else "target_user"
    arguments = {"memory_content": content, "memory_scope": scope, "target_user": target}
    result, _ = await agent.call_tool("create_long_term_memory", json.dumps(arguments), HOME, GENERAL, ANA)
    memory_id = result.data["memory_id"]
    assert isinstance(memory_id, int)
    return memory_id


async def prompt(agent: Agent) -> str:
    return "\n".join(item.render() for item in (await agent.build_prompt(HOME, GENERAL, ANA, "hello")).items)


async def test_what_a_tool_saves_stands_in_the_prompt_and_in_the_lists(agent: Agent) -> None:
    assert State.FAILED not in {status.state for status in agent.plugins.plugins}
    server = await create(agent, "game night is every Friday at 20:00")
    personal = await create(agent, "{user} likes tea", "me")
    text = await prompt(agent)
    assert f"Memories about home\nID:{server} game night is every Friday at 20:00" in text
    assert f"Memories about Ana\nID:{personal} Ana likes tea" in text
    manager = replace(ANA, can_manage=True)
    reply = await agent.run_command(("memories", "list"), {}, HOME, GENERAL, manager)
    assert reply.text == f"ID:{server} game night is every Friday at 20:00 [new]"
    assert not (await agent.run_command(("memories", "list"), {}, HOME, GENERAL, BEN)).ok
    reply = await agent.run_command(("personal", "memories", "list"), {}, HOME, GENERAL, ANA)
    assert reply.text == f"ID:{personal} Ana likes tea [new]"


async def test_a_tool_shows_its_cards(agent: Agent) -> None:
    arguments = '{"memory_content": "likes tea", "memory_scope": "target_user", "target_user": "me"}'
    _, cards = await agent.call_tool("create_long_term_memory", arguments, HOME, GENERAL, ANA)
    assert [card.kind for card in cards] == [CardKind.SAVED, CardKind.DISCLOSURE]


async def test_other_plugins_save_through_the_same_steps(agent: Agent) -> None:
    entrance = await agent.core.people.enter(HOME, GENERAL, ANA, agent.core.clock.now())
    server, user = entrance.place.server.server_id, entrance.account.user_id
    assert user is not None
    later = source(occurred_at=agent.core.clock.now())

    async def write(**changes: object) -> MemoryWritten:
        plain = about_server(server, "a {char}fact", source=later)
        written = await agent.core.hooks.first("write_memory", write=replace(plain, **changes))  # type: ignore[arg-type]
        assert isinstance(written, MemoryWritten)
        return written

    first = await write()
    assert (first.status, first.saved) == (Status.SAVED, True)
    assert "a fact" in await prompt(agent)
    again = await write()
    assert (again.status, again.memory_id) == (Status.ALREADY_KNOWN, first.memory_id)
    refused = {
        "empty": await write(content="{char}"),
        "long": await write(content="x" * 1001),
        "update": await write(kind=WriteKind.UPDATE),
        "no owner": await write(server_id=None),
        "no user": await write(scope=MemoryScope.PERSONAL),
        "no such server": await write(server_id=404),
        "lineage": await write(lineage_id=0),
        "negative lineage": await write(lineage_id=-1),
    }
    assert {what: written.status for what, written in refused.items()} == {
        "empty": Status.SAVE_INVALID_PARAMETERS,
        "long": Status.SAVE_TOO_LONG,
        "update": Status.SAVE_INVALID_PARAMETERS,
        "no owner": Status.SAVE_INVALID_PARAMETERS,
        "no user": Status.SAVE_INVALID_PARAMETERS,
        "no such server": Status.SAVE_UNAVAILABLE,
        "lineage": Status.SAVE_INVALID_LINEAGE,
        "negative lineage": Status.SAVE_INVALID_LINEAGE,
    }
    assert not any(written.saved for written in refused.values())
    bio = about_person(user, "plays the harp", lineage=0, source=later, server_id=server)
    assert (await agent.core.hooks.first("write_memory", write=replace(bio, origin=Origin.BIO))).saved
    await agent.core.privacy.set_level(entrance.account.account_id, PrivacyLevel.PARTIAL)
    denied = await agent.core.hooks.first("write_memory", write=replace(bio, origin=Origin.BIO, content="plays chess"))
    assert denied.status == Status.SAVE_PRIVACY_RESTRICTED


async def test_an_export_holds_everything_about_the_person(agent: Agent) -> None:
    personal = await create(agent, "likes tea", "me")
    server = await create(agent, "{user} hosts")
    await create(agent, "game night is Friday")
    gone = await create(agent, "likes coffee", "me")
    update = f'{{"memory_id": {gone}, "memory_content": "", "target_user": "me"}}'
    await agent.call_tool("update_long_term_memory", update, HOME, GENERAL, ANA)
    entrance = await agent.core.people.enter(HOME, GENERAL, ANA, agent.core.clock.now())
    [(plugin, export)] = await agent.core.hooks.collect_by_plugin("export_person", account=entrance.account)
    assert plugin == "memory"
    held = {kind: [row["memory_id"] for row in rows] for kind, rows in export.items()}
    assert held == {"personal_memories": [personal], "server_memories": [server], "undo_copies": [gone]}


async def test_an_erasure_leaves_no_word_and_no_authorship(agent: Agent, store: Store, world: World) -> None:
    await create(agent, "canary likes tea", "me")
    await create(agent, "{user} is the canary")
    kept = await create(agent, "game night is Friday")
    gone = await create(agent, "canary likes coffee", "me")
    update = f'{{"memory_id": {gone}, "memory_content": "", "target_user": "me"}}'
    await agent.call_tool("update_long_term_memory", update, HOME, GENERAL, ANA)
    shared = await create(agent, "shared and gone")
    await agent.call_tool(
        "update_long_term_memory", f'{{"memory_id": {shared}, "memory_content": ""}}', HOME, GENERAL, ANA
    )
    entrance = await agent.core.people.enter(HOME, GENERAL, ANA, agent.core.clock.now())
    before = await world.rows("SELECT * FROM owner_revisions ORDER BY owner")
    receipt = await erase_person(store, agent.core.hooks, entrance.account.account_id, agent.core.clock.now())
    assert {key: receipt.counts[key] for key in ("personal_memories", "server_memories", "undo_copies")} == {
        "personal_memories": 1,
        "server_memories": 1,
        "undo_copies": 1,
    }
    assert receipt.counts["authorships"] == 2
    tables = ("server_memories", "personal_memories", "forgotten_memories", "memory_events")
    for table in tables:
        rows = await world.rows(f"SELECT t::text AS text FROM {table} t")  # noqa: S608  # tables of ours
        assert not [row for row in rows if "canary" in row["text"]]
    [row] = await world.rows("SELECT server_memory_id, author_account_id FROM server_memories")
    assert row == {"server_memory_id": kept, "author_account_id": None}
    [copy] = await world.rows("SELECT memory FROM forgotten_memories")
    assert copy["memory"]["author_account_id"] is None
    assert await world.rows("SELECT FROM memory_events WHERE actor_account_id IS NOT NULL") == []
    erased = await world.rows("SELECT kind FROM memory_events WHERE kind = 'erased'")
    assert len(erased) == 2
    after = {row["owner"]: row["revision"] for row in await world.rows("SELECT * FROM owner_revisions")}
    raised = {row["owner"] for row in before if after[row["owner"]] > row["revision"]}
    assert raised >= {f"server:{entrance.place.server.server_id}", f"user:{entrance.account.user_id}"}
    assert "canary" not in await prompt(agent)


async def test_an_erasure_that_fails_here_removes_nothing(
    agent: Agent, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create(agent, "likes tea", "me")
    entrance = await agent.core.people.enter(HOME, GENERAL, ANA, agent.core.clock.now())

    async def fails(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr("plugins.memory.repository.MemoryRepository.erase", fails)
    with pytest.raises(HookFailed):
        await erase_person(store, agent.core.hooks, entrance.account.account_id, agent.core.clock.now())
    assert "likes tea" in await prompt(agent)


async def healths(agent: Agent) -> dict[str, Health]:
    return {line.name: line for lines in await agent.core.hooks.collect("health") for line in lines}


async def test_health_counts_and_tells_whether_meaning_can_be_searched(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create(agent, "game night is Friday")
    lines = await healths(agent)
    assert (lines["memory"].state, lines["memory"].text) == ("ok", "1 server memories, 0 personal memories")
    assert lines["memories embeddings"].state == "ok"

    async def absent(_: object) -> bool:
        return False

    monkeypatch.setattr("plugins.memory.search.MemorySearch.has_embeddings", absent)
    warning = (await healths(agent))["memory search"]
    assert (warning.state, bool(warning.remedy)) == ("warn", True)
    await agent.core.store.close()
    failure = (await healths(agent))["memory"]
    assert (failure.state, bool(failure.remedy)) == ("fail", True)
    await agent.core.store.open()


async def test_undo_copies_go_after_a_day(agent: Agent, store: Store, world: World) -> None:
    server = await world.server()
    async with store.connection() as conn:
        for memory_id, hours in ((1, 25), (2, 23)):
            await conn.execute(
                "INSERT INTO forgotten_memories (memory_id, scope, server_id, reason, memory, forgotten_at) "
                "VALUES ($1, 'server', $2, 'deleted', '{}', $3)",
                memory_id,
                server,
                agent.core.clock.now() - timedelta(hours=hours),
            )
    plugin = MemoryPlugin(MemorySettings())
    await plugin.start(replace(agent.core, preferences=Preferences()))
    try:
        async with asyncio.timeout(10):
            while len(rows := await world.rows("SELECT memory_id FROM forgotten_memories")) > 1:  # noqa: ASYNC110  # the database tells nobody
                await asyncio.sleep(0.01)
    finally:
        await plugin.stop()
    assert rows == [{"memory_id": 2}]
