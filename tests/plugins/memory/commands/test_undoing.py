import asyncio
from datetime import timedelta

import pytest

from agent.contracts.people import Denial, PrivacyLevel, Refusal
from tests.plugins.memory.commands.people import ANA, BEN, Counter, learned
from tests.plugins.memory.stage import BACKROOM, DIRECT, DIRECT_CHANNEL, Stage

DAY = timedelta(hours=24)


async def removed(stage: Stage, target: str | None = None, text: str = "a fact") -> int:
    memory_id = await learned(stage, text, target)
    await stage.update(await stage.context(ANA), memory_id, "", target)
    return memory_id


@pytest.mark.parametrize("target", [None, "me"])
async def test_a_deleted_memory_comes_back_whole_under_its_id(
    stage: Stage, counter: Counter, target: str | None
) -> None:
    memory_id = await learned(stage, "a fact", target)
    before = await counter.row(memory_id)
    await stage.update(await stage.context(ANA), memory_id, "", target)
    stage.clock.advance(DAY - timedelta(seconds=1))
    stage.woken.clear()
    reply = await counter.run("memories undo", id=memory_id)
    assert reply.ok, reply.text
    assert await counter.row(memory_id) == before
    assert stage.woken == [memory_id]
    events = await stage.rows("SELECT kind, source_tool FROM memory_events ORDER BY memory_event_id")
    assert [row["kind"] for row in events] == ["created", "deleted", "restored"]
    assert not (await counter.run("memories undo", id=memory_id)).ok


async def test_what_gave_way_comes_back_once_there_is_a_place(stage: Stage) -> None:
    stage.configure(max_server_memories=1)
    stage.allow_eviction()
    counter = Counter(stage)
    old = await learned(stage, "old")
    stage.clock.advance(timedelta(days=31))
    new = await learned(stage, "new")
    refused = await counter.run("memories undo", id=old)
    assert (refused.ok, "(1)" in refused.text) == (False, True)
    assert (await counter.run("memories remove", ids=str(new))).ok
    assert (await counter.run("memories undo", id=old)).ok
    assert (await counter.row(old))["content"] == "old"


async def test_after_a_day_nothing_comes_back(stage: Stage, counter: Counter) -> None:
    memory_id = await removed(stage)
    stage.clock.advance(DAY)
    assert not (await counter.run("memories undo", id=memory_id)).ok


async def test_only_its_person_undoes_a_personal_memory(stage: Stage, counter: Counter) -> None:
    memory_id = await removed(stage, "me")
    refused = await counter.run("memories undo", who=BEN, id=memory_id)
    assert refused.text == (await counter.run("memories undo", who=BEN, id=404)).text.replace("404", str(memory_id))
    direct = {"server": DIRECT, "channel": DIRECT_CHANNEL}
    assert (await counter.run("personal memories undo", id=memory_id, manages=False, place=direct)).ok


async def test_author_and_managers_undo_a_servers_memory_there(stage: Stage, counter: Counter) -> None:
    memory_id = await removed(stage)
    assert not (await counter.run("memories undo", who=BEN, id=memory_id, manages=False)).ok
    elsewhere = {"server": DIRECT, "channel": DIRECT_CHANNEL}
    assert not (await counter.run("memories undo", id=memory_id, place=elsewhere)).ok
    assert (await counter.run("memories undo", id=memory_id, manages=False)).ok
    await counter.run("memories remove", ids=str(memory_id))
    assert (await counter.run("memories undo", who=BEN, id=memory_id)).ok
    secret = await learned(stage, "a secret", channel=BACKROOM)
    await counter.run("memories remove", ids=str(secret), place={"channel": BACKROOM})
    assert not (await counter.run("memories undo", who=BEN, id=secret)).ok


async def test_privacy_and_guards_are_asked_again(stage: Stage, counter: Counter) -> None:
    memory_id = await removed(stage, "me")
    await stage.set_privacy(ANA, PrivacyLevel.PARTIAL)
    assert not (await counter.run("memories undo", id=memory_id)).ok
    await stage.set_privacy(ANA, PrivacyLevel.NONE)
    for guard in ("guard_memory_write", "recheck_memory_write"):
        stage.hooks.denials[guard] = Denial(Refusal.OTHER, "no")
        assert not (await counter.run("memories undo", id=memory_id)).ok
        stage.hooks.denials.clear()
    assert (await counter.run("memories undo", id=memory_id)).ok


async def test_what_is_older_than_a_request_to_be_forgotten_stays_gone(stage: Stage, counter: Counter) -> None:
    memory_id = await removed(stage, "me")
    async with stage.store.connection() as conn:
        await conn.execute("UPDATE accounts SET forgotten_before = $1", stage.clock.now())
    assert not (await counter.run("memories undo", id=memory_id)).ok


async def test_what_was_said_again_is_not_doubled(stage: Stage, counter: Counter) -> None:
    for target in (None, "me"):
        memory_id = await removed(stage, target, "Game night!")
        again = await learned(stage, "game night", target)
        assert f"Memory {again} says the same" in (await counter.run("memories undo", id=memory_id)).text


async def test_the_same_about_a_person_by_another_account_is_not_doubled(stage: Stage, counter: Counter) -> None:
    memory_id = await removed(stage, text="{user} hosts")
    _, other = await stage.enter(BEN)
    again = await learned(stage, "{user} hosts")
    async with stage.store.connection() as conn:
        await conn.execute(
            "UPDATE server_memories SET subject_account_id = $1, subject_user_id = $2", other.account_id, other.user_id
        )
        await conn.execute(
            "UPDATE forgotten_memories SET memory = memory || jsonb_build_object('subject_user_id', $1::bigint)",
            other.user_id,
        )
    assert f"Memory {again} says the same" in (await counter.run("memories undo", id=memory_id)).text


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE server_memories SET source_platform = 'discord', audience = 'channel'",
        "UPDATE server_memories SET channel_scope_pending = true",
        "UPDATE personal_memories SET audience = 'server', source_server_id = NULL",
    ],
)
async def test_the_same_that_is_told_elsewhere_hinders_no_undo(stage: Stage, counter: Counter, change: str) -> None:
    target = "me" if "personal" in change else None
    memory_id = await removed(stage, target)
    await learned(stage, "a fact", target)
    async with stage.store.connection() as conn:
        await conn.execute(change)
        if "audience" in change:
            audience = "server" if target else "channel"
            await conn.execute(
                "UPDATE forgotten_memories SET memory = memory || jsonb_build_object('audience', $1::text)", audience
            )
    assert (await counter.run("memories undo", id=memory_id)).ok


async def test_two_undos_at_once_restore_once(stage: Stage, counter: Counter) -> None:
    memory_id = await removed(stage)
    replies = await asyncio.gather(*(counter.run("memories undo", id=memory_id) for _ in range(5)))
    assert sum(reply.ok for reply in replies) == 1
    assert len(await stage.rows("SELECT 1 FROM server_memories")) == 1


async def test_a_source_and_an_author_that_are_gone_meanwhile_do_not_hinder(stage: Stage, counter: Counter) -> None:
    memory_id = await removed(stage, "me")
    async with stage.store.connection() as conn:
        await conn.execute(
            'UPDATE forgotten_memories SET memory = memory || \'{"source_server_id": 404, "author_account_id": 404}\''
        )
    assert (await counter.run("memories undo", id=memory_id)).ok
    row = await counter.row(memory_id)
    assert (row["source_server_id"], row["author_account_id"]) == (None, None)


async def test_undos_and_saves_at_once_never_exceed_the_places(stage: Stage) -> None:
    for path in ("memories", "personal memories"):
        stage.configure(max_server_memories=10, max_personal_memories=10)
        counter = Counter(stage)
        gone = [await counter.memory(f"gone {number}", f"{path} add") for number in range(6)]
        for memory_id in gone:
            assert (await counter.run(f"{path} remove", ids=str(memory_id))).ok
        stage.configure(max_server_memories=3, max_personal_memories=3)
        full = Counter(stage)
        replies = await asyncio.gather(
            *(full.run(f"{path} undo", id=memory_id) for memory_id in gone),
            *(full.run(f"{path} add", text=f"new {number}") for number in range(6)),
        )
        assert sum(reply.ok for reply in replies) == 3
        kind = "server" if path == "memories" else "personal"
        assert len(await stage.rows(f"SELECT 1 FROM {kind}_memories")) == 3  # noqa: S608 - one of two names
