from dataclasses import replace

from agent.contracts.context import Tag
from agent.turn.values import server_owner
from tests.plugins.memory.prompts import Prompts, add
from tests.plugins.memory.stage import Stage, author

ANA = author("Ana")


async def test_at_most_two_queries_however_many_people_and_memories(stage: Stage, prompts: Prompts) -> None:
    people = [author(f"Person{number}") for number in range(10)]
    context = await stage.context(*people)
    for person in context.participants:
        await stage.create(context, f"likes {person.label}", f"@{{{person.handle}}}")
    for who in people:
        await stage.create(await stage.context(who), f"{{user}} hosts, says {who.display_name}")
    turn = await prompts.turn(*people)
    first = await prompts.items(turn)
    assert prompts.queries == 2
    again = await prompts.items(replace(turn, turn_id="again"))
    assert prompts.queries == 1
    assert again == first
    assert len(first[Tag.KNOWLEDGE_USER_MEMORIES].entries) == len(first[Tag.KNOWLEDGE_SERVER_MEMORIES].entries) == 10


async def test_without_people_in_it_a_cached_block_asks_nothing(stage: Stage, prompts: Prompts) -> None:
    await add(stage, "game night is Friday")
    await prompts.server(ANA)
    await prompts.items(await prompts.turn(ANA))
    assert prompts.queries == 0


async def test_a_committed_change_is_seen_by_the_next_turn_without_any_invalidation(
    stage: Stage, prompts: Prompts
) -> None:
    context = await stage.context(ANA)
    await stage.create(context, "one")
    assert "one" in await prompts.server(ANA)
    result = await stage.create(context, "two")
    assert "two" in await prompts.server(ANA)
    await stage.update(context, result.data["memory_id"], "three")
    assert "three" in await prompts.server(ANA)
    await stage.update(context, result.data["memory_id"], "")
    assert "three" not in await prompts.server(ANA)
    assert stage.announced.owners


async def test_what_was_announced_is_held_no_longer(stage: Stage, prompts: Prompts) -> None:
    await add(stage, "a canary")
    turn = await prompts.turn(ANA)
    await prompts.items(turn)
    stage.cache.forget(server_owner(turn.place.server.server_id))
    await prompts.items(turn)
    assert prompts.queries == 1


async def test_an_owner_without_a_revision_is_read_from_the_database(stage: Stage, prompts: Prompts) -> None:
    await add(stage, "one")
    turn = await prompts.turn(ANA, changes={"revisions": {}})
    assert "one" in (await prompts.items(turn))[Tag.KNOWLEDGE_SERVER_MEMORIES].render()
    await add(stage, "two")
    assert "two" in (await prompts.items(turn))[Tag.KNOWLEDGE_SERVER_MEMORIES].render()
