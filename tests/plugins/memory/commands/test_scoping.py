import pytest

from tests.plugins.memory.commands.people import ANA, BEN, Counter, learned
from tests.plugins.memory.stage import BACKROOM, Stage


@pytest.mark.parametrize("named", ["#general", "general", "console:general", "<#console:general>", "#general, general"])
async def test_a_scope_is_given_by_names_or_ids_and_protects(stage: Stage, counter: Counter, named: str) -> None:
    memory_id = await learned(stage, "a fact")
    reply = await counter.run("memories scope", id=str(memory_id), channels=named)
    assert reply.ok, reply.text
    row = await counter.row(memory_id)
    assert (row["channel_disc_ids"], row["manually_written"], row["version"]) == (["console:general"], True, 2)
    assert (await counter.run("memories scope", id=str(memory_id), channels="everywhere")).ok
    assert (await counter.row(memory_id))["channel_disc_ids"] == []


async def test_a_scope_that_is_not_known_changes_nothing(stage: Stage, counter: Counter) -> None:
    memory_id = await learned(stage, "a fact")
    for named in ("", "#nowhere", "#general #nowhere", "everywhere #general"):
        assert not (await counter.run("memories scope", id=str(memory_id), channels=named)).ok
    assert not (await counter.run("memories scope", id="x", channels="#general")).ok
    assert not (await counter.run("memories scope", id="404", channels="#general")).ok
    assert not (await counter.run("memories scope", who=BEN, manages=False, id=str(memory_id), channels="#general")).ok
    assert (await counter.row(memory_id))["version"] == 1


async def test_channels_of_one_name_must_be_told_apart(stage: Stage, counter: Counter) -> None:
    memory_id = await learned(stage, "a fact")
    await stage.enter(ANA, channel=BACKROOM)
    async with stage.store.connection() as conn:
        await conn.execute("UPDATE channels SET name = 'general'")
    reply = await counter.run("memories scope", id=str(memory_id), channels="#general")
    assert (reply.ok, "console:backroom" in reply.text) == (False, True)
    assert (await counter.run("memories scope", id=str(memory_id), channels="console:backroom")).ok


async def test_pending_scopes_are_listed_and_settled_by_hand(stage: Stage, counter: Counter) -> None:
    memory_id = await learned(stage, "a fact")
    async with stage.store.connection() as conn:
        await conn.execute(
            "UPDATE server_memories SET channel_scope_pending = true, legacy_channel_scope_tags = '{#old,#general}'"
        )
    listed = await counter.run("memories scope", id="pending")
    assert listed.text == f"ID:{memory_id} a fact [#old #general: not seen yet]"
    assert not (await counter.run("memories scope", id="pending", manages=False)).ok
    assert "channels not settled" in (await counter.run("memories list")).text
    assert (await counter.run("memories scope", id=str(memory_id), channels="#general")).ok
    row = await counter.row(memory_id)
    assert (row["channel_scope_pending"], row["legacy_channel_scope_tags"]) == (False, [])
    assert (await counter.run("memories scope", id="pending")).text == "No memory waits for its channels."
