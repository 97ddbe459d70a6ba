"""Memories of people who link and unlink accounts: limits, equal ones, undo copies, a plugin that was switched off."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.agent.linking.conftest import NOW, SETTINGS, World, opened

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

ANA, ANA_M, ANA_C = "discord:ana", "matrix:@ana:home", "console:ana"


@pytest_asyncio.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    async with opened(database_url) as made:
        yield made


async def owned(world: World, who: str) -> list[str]:
    return await world.owned((await world.account(who)).user_id)


async def test_more_than_the_limit_stays_and_the_next_save_finds_a_full_shelf(database_url: str) -> None:
    settings: dict[str, Any] = {"plugins": {"memory": {"enabled": True, "max_personal_memories": 3}}}
    async with opened(database_url, settings) as world:
        for who in (ANA, ANA_C):
            for number in range(3):
                await world.remember(who, f"{who} fact {number}")
        await world.linked(ANA, ANA_C)
        assert len(await owned(world, ANA)) == 6
        assert (await world.remember(ANA, "one more")).status == "memory_save_failed_limit_exceeded"
        await world.run(ANA, "unlink")
        assert await owned(world, ANA) == [f"{ANA} fact {number}" for number in range(3)]


async def test_what_both_sides_know_stands_twice_until_they_part(world: World) -> None:
    for who in (ANA, ANA_C):
        await world.remember(who, "likes tea")
    await world.linked(ANA, ANA_C)
    assert await owned(world, ANA) == ["likes tea", "likes tea"]
    assert (await world.remember(ANA, "Likes tea.")).status == "memory_already_known"
    await world.run(ANA_C, "unlink")
    assert await owned(world, ANA) == await owned(world, ANA_C) == ["likes tea"]


async def test_an_undo_copy_comes_back_to_whose_side_it_is(world: World) -> None:
    await world.account(ANA)  # the older row, so that what is console's moves twice
    saved = await world.remember(ANA_C, "likes tea")
    await world.run(ANA_C, "personal", "memories", "remove", ids=str(saved.data["memory_id"]))
    assert await owned(world, ANA_C) == []
    await world.linked(ANA, ANA_C)
    (copy,) = await world.rows("SELECT user_id, memory ->> 'user_id' AS inside FROM forgotten_memories")
    kept = (await world.account(ANA)).user_id
    assert copy == {"user_id": kept, "inside": str(kept)}
    await world.run(ANA_C, "unlink")
    undone = await world.run(ANA_C, "personal", "memories", "undo", id=saved.data["memory_id"])
    assert undone.ok, undone.text
    assert await owned(world, ANA_C) == ["likes tea"]


async def test_memories_that_name_no_account_go_back_to_the_side_that_had_them(world: World) -> None:
    for who in (ANA, ANA_C):
        await world.remember(who, f"{who} likes tea")
    async with world.agent.core.store.connection() as conn:  # as an import of an older program left them
        await conn.execute("UPDATE personal_memories SET subject_account_id = NULL, source_platform = 'fax'")
    await world.linked(ANA, ANA_C)
    await world.run(ANA, "unlink")
    for who in (ANA, ANA_C):
        assert await owned(world, who) == [f"{who} likes tea"]


async def test_server_memories_follow_whom_they_are_about(world: World) -> None:
    ana, console = await world.account(ANA), await world.account(ANA_C)
    platform, author = world.author(ANA_C)
    server = (await world.agent.core.people.enter(*platform.place(), author, NOW)).place.server.server_id
    async with world.agent.core.store.connection() as conn:
        await conn.execute(
            "INSERT INTO server_memories (server_id, persona_lineage_id, content, content_key, subject_account_id,"
            " subject_user_id, audience, origin, source_platform, created_at, updated_at)"
            " VALUES ($1, 1, 'x', 'x', $2, $3, 'server', 'model', 'console', $4, $4)",
            server, console.account_id, console.user_id, NOW,
        )  # fmt: skip
    await world.linked(ANA, ANA_C)
    assert await world.rows("SELECT subject_user_id FROM server_memories") == [{"subject_user_id": ana.user_id}]
    await world.run(ANA, "unlink", platform="console")
    again = (await world.account(ANA_C)).user_id
    assert again not in {ana.user_id, None}
    assert await world.rows("SELECT subject_user_id FROM server_memories") == [{"subject_user_id": again}]


async def test_a_plugin_that_was_switched_off_moves_its_part_when_it_comes_back(database_url: str) -> None:
    async with opened(database_url, SETTINGS) as world:
        await world.remember(ANA, "Ana keeps bees")
        await world.remember(ANA_C, "Ana climbs")
    async with opened(database_url, {}) as world:
        await world.linked(ANA, ANA_C)
    async with opened(database_url, SETTINGS) as world:
        assert await owned(world, ANA) == ["Ana keeps bees", "Ana climbs"]
    async with opened(database_url, {}) as world:
        await world.run(ANA, "unlink")
    for _ in range(2):  # and nothing twice
        async with opened(database_url, SETTINGS) as world:
            assert await owned(world, ANA) == ["Ana keeps bees"]
            assert await owned(world, ANA_C) == ["Ana climbs"]


async def test_nothing_is_left_of_somebody_forgotten_while_the_plugin_was_off(database_url: str) -> None:
    async with opened(database_url, SETTINGS) as world:
        for who in (ANA, ANA_C):
            await world.remember(who, f"{who} likes tea")
    async with opened(database_url, {"plugins": {"privacy": {"enabled": True}}}) as world:
        await world.linked(ANA, ANA_C)
        asked = await world.run(ANA_C, "privacy", "forget-me")
        assert asked.data is not None
        assert (await world.run(ANA_C, "privacy", "forget-me", code=asked.data["code"])).ok
    async with opened(database_url, SETTINGS) as world:
        assert await world.rows("SELECT content FROM personal_memories") == []
