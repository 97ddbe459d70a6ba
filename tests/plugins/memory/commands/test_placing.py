"""`open`, `move` and `scope`: what says the same at the destination takes the memory up."""

import asyncio
from typing import Any

import pytest

from agent.contracts.people import Denial, Refusal
from tests.plugins.memory.commands.people import ANA, Counter, learned
from tests.plugins.memory.stage import BACKROOM, DIRECT, DIRECT_CHANNEL, Stage

OTTO = 7


async def add_otto(stage: Stage) -> None:
    """Let the server have another persona, of a lineage of its own."""
    server_id = (await stage.context(ANA)).place.server.server_id
    async with stage.store.connection() as conn:
        await conn.execute("INSERT INTO persona_lineages VALUES ($1, $2)", OTTO, stage.clock.now())
        await conn.execute(
            "INSERT INTO personas (server_id, persona_lineage_id, nickname, prompt, triggers, created_at) "
            "VALUES ($1, $2, 'Otto', 'You are {bot}.', '{}', $3)",
            server_id,
            OTTO,
            stage.clock.now(),
        )


async def kinds(stage: Stage, memory_id: int) -> list[str]:
    rows = await stage.rows("SELECT kind FROM memory_events WHERE memory_id = $1 ORDER BY memory_event_id", memory_id)
    return [row["kind"] for row in rows]


async def ids(stage: Stage, kind: str = "server") -> list[int]:
    rows = await stage.rows(f"SELECT {kind}_memory_id AS id FROM {kind}_memories ORDER BY 1")  # noqa: S608
    return [row["id"] for row in rows]


async def test_a_memory_moves_to_another_persona(stage: Stage, counter: Counter) -> None:
    memory_id = await counter.memory("a fact")
    server_id = (await stage.context(ANA)).place.server.server_id
    reply = await counter.run("memories move", id=memory_id, persona="Otto")
    assert (reply.ok, "Otto" in reply.text) == (False, True)
    async with stage.store.connection() as conn:
        await conn.execute("INSERT INTO persona_lineages VALUES (7, $1)", stage.clock.now())
        await conn.execute(
            "INSERT INTO personas (server_id, persona_lineage_id, nickname, prompt, triggers, created_at) "
            "VALUES ($1, 7, 'Otto', 'You are {bot}.', '{}', $2)",
            server_id,
            stage.clock.now(),
        )
    reply = await counter.run("memories move", id=memory_id, persona="otto")
    assert reply.ok, reply.text
    row = await counter.row(memory_id)
    assert (row["persona_lineage_id"], row["manually_written"]) == (7, True)
    assert "a fact" not in (await counter.run("memories list")).text
    assert "a fact" in (await counter.run("memories list", persona="Otto")).text
    assert not (await counter.run("memories move", id=memory_id, persona="Otto")).ok
    stage.configure(max_server_memories=1)
    full, other = Counter(stage), await counter.memory("another")
    assert "(1)" in (await full.run("memories move", id=other, persona="Otto")).text


async def test_a_memory_that_moves_to_its_like_is_taken_up_by_it(stage: Stage, counter: Counter) -> None:
    await add_otto(stage)
    standing = await learned(stage, "Game night is Friday.", lineage=OTTO)
    moved = await counter.memory("game night is Friday")
    await counter.run("memories tags", id=moved, tags="games, friday")
    async with stage.store.connection() as conn:
        await conn.execute("UPDATE server_memories SET tags = '{games}' WHERE server_memory_id = $1", standing)
    stage.announced.owners.clear()
    reply = await counter.run("memories move", id=moved, persona="Otto")
    assert reply.ok, reply.text
    assert reply.data == {"memory_id": standing, "removed_id": moved}
    assert (str(standing) in reply.text, str(moved) in reply.text) == (True, True)
    row = await counter.row(standing)
    assert (row["content"], row["manually_written"], row["tags"]) == (
        "Game night is Friday.",
        True,
        ["games", "friday"],
    )
    assert row["last_reinforced_at"] == stage.clock.now()
    assert (await ids(stage), len(stage.announced.owners)) == ([standing], 1)
    assert await kinds(stage, standing) == ["created", "reinforced"]
    assert (await kinds(stage, moved))[-1] == "deleted"
    assert (await counter.run("memories undo", id=moved)).ok
    assert (await counter.row(moved))["persona_lineage_id"] == 1


async def test_what_is_taken_up_needs_no_place(stage: Stage) -> None:
    await add_otto(stage)
    await learned(stage, "a fact", lineage=OTTO)
    stage.configure(max_server_memories=1)
    counter = Counter(stage)
    memory_id = await counter.memory("A fact!")
    assert (await counter.run("memories move", id=memory_id, persona="Otto")).ok
    assert len(await ids(stage)) == 1


@pytest.mark.parametrize(
    "change",
    [
        "content = 'another fact', content_key = '\\x00'",
        "audience = 'channel'",
        "channel_disc_ids = '{console:general}'",
        "channel_scope_pending = true",
        "legacy_channel_scope_tags = '{#general}'",
        "subject_account_id = (SELECT min(account_id) FROM accounts)",
        "persona_lineage_id = 8",
    ],
)
async def test_what_is_not_the_same_stays_beside_it(stage: Stage, counter: Counter, change: str) -> None:
    await add_otto(stage)
    standing = await learned(stage, "a fact", lineage=OTTO)
    async with stage.store.connection() as conn:
        await conn.execute(f"UPDATE server_memories SET {change}")  # noqa: S608
    moved = await counter.memory("a fact")
    assert (await counter.run("memories move", id=moved, persona="Otto")).ok
    assert await ids(stage) == sorted([standing, moved])


async def test_a_memory_that_is_opened_to_its_like_is_taken_up_by_it(stage: Stage, counter: Counter) -> None:
    backroom, direct = {"channel": BACKROOM}, {"server": DIRECT, "channel": DIRECT_CHANNEL}
    cases: list[tuple[str, str, dict[str, Any]]] = [
        ("server", "memories", backroom),
        ("personal", "personal memories", direct),
    ]
    for kind, group, place in cases:
        standing = await counter.memory("likes tea", f"{group} add")
        secret = await counter.memory("likes tea!", f"{group} add", place=place)
        assert standing != secret
        reply = await counter.run(f"{group} open", id=secret, place=place)
        assert (reply.ok, reply.data) == (True, {"memory_id": standing, "removed_id": secret}), reply.text
        assert await ids(stage, kind) == [standing]
        assert (await counter.run(f"{group} undo", id=secret, place=place)).ok
        assert len(await ids(stage, kind)) == 2


async def test_a_memory_that_gets_the_channels_of_its_like_is_taken_up_by_it(stage: Stage, counter: Counter) -> None:
    await stage.enter(ANA, channel=BACKROOM)
    first = await counter.memory("a fact")
    both = "#general #backroom"
    assert (await counter.run("memories scope", id=str(first), channels=both)).ok
    async with stage.store.connection() as conn:
        await conn.execute("UPDATE server_memories SET channel_disc_ids = '{console:general,console:backroom}'")
    second = await counter.memory("a fact")
    assert second != first
    reply = await counter.run("memories scope", id=str(second), channels=both)
    assert (reply.ok, reply.data) == (True, {"memory_id": first, "removed_id": second}), reply.text
    again = await counter.run("memories scope", id=str(first), channels=both)
    assert again.data is not None
    assert "removed_id" not in again.data


async def test_a_guard_refuses_also_what_would_be_taken_up(stage: Stage, counter: Counter) -> None:
    await add_otto(stage)
    await learned(stage, "a fact", lineage=OTTO)
    moved = await counter.memory("a fact")
    stage.hooks.denials["recheck_memory_write"] = Denial(Refusal.OTHER, "no")
    assert not (await counter.run("memories move", id=moved, persona="Otto")).ok
    assert len(await ids(stage)) == 2


def desks(stage: Stage, count: int, **settings: Any) -> list[Counter]:
    """Return commands that share nothing but the database, as those of several processes."""
    found = []
    for _ in range(count):
        stage.configure(**settings)
        found.append(Counter(stage))
    return found


async def test_moves_and_saves_of_the_same_at_once_leave_one(stage: Stage) -> None:
    await add_otto(stage)
    for number in range(6):
        text = f"fact {number}"
        movers = desks(stage, 4)
        memory_id = await movers[0].memory(text)
        done = await asyncio.gather(
            *(mover.run("memories move", id=memory_id, persona="Otto") for mover in movers),
            *(learned(each.stage, text, lineage=OTTO) for each in desks(stage, 3)),
            return_exceptions=True,
        )
        assert [each for each in done if isinstance(each, BaseException)] == []
        rows = await stage.rows(
            "SELECT server_memory_id, persona_lineage_id AS lineage FROM server_memories WHERE content = $1", text
        )
        assert [row["lineage"] for row in rows] == [OTTO]
    removed = await stage.rows("SELECT memory_id FROM memory_events WHERE kind = 'deleted'")
    assert len({row["memory_id"] for row in removed}) == len(removed)


async def test_moves_at_once_never_exceed_the_places(stage: Stage) -> None:
    await add_otto(stage)
    [first, *_] = movers = desks(stage, 6, max_server_memories=6)
    memories = [await first.memory(f"fact {number}") for number in range(6)]
    for number in range(4):
        await learned(stage, f"old {number}", lineage=OTTO)
    done = await asyncio.gather(
        *(
            mover.run("memories move", id=memory_id, persona="Otto")
            for mover, memory_id in zip(movers, memories, strict=True)
        )
    )
    assert sorted(each.ok for each in done) == [False] * 4 + [True] * 2
    rows = await stage.rows("SELECT FROM server_memories WHERE persona_lineage_id = $1", OTTO)
    assert len(rows) == 6


async def test_a_move_beside_the_deletion_of_its_like_loses_nothing(stage: Stage) -> None:
    await add_otto(stage)
    for number in range(6):
        mover, remover = desks(stage, 2)
        text = f"fact {number}"
        standing = await learned(stage, text, lineage=OTTO)
        moved = await mover.memory(text)
        reply, gone = await asyncio.gather(
            mover.run("memories move", id=moved, persona="Otto"),
            remover.run("memories remove", ids=str(standing)),
        )
        assert (reply.ok, gone.ok) == (True, True), (reply.text, gone.text)
        left = await stage.rows("SELECT FROM server_memories WHERE content = $1", text)
        copies = await stage.rows("SELECT FROM forgotten_memories WHERE memory ->> 'content' = $1", text)
        assert len(left) + len(copies) == 2
