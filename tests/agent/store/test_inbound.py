from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import asyncpg
import pytest

from agent.bridge import OutgoingMessage
from agent.events import MessageDeleted
from agent.store.inbound import Inbound
from agent.store.outbox import OutboxRows, load_message
from agent.store.pool import Store
from agent.tools import TurnLost
from agent.turn.values import Outcome
from tests.agent.turn.builders import NOW, a_message
from tests.clocks import ManualClock

ME, OTHER = 11, 22


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def inbound(store: Store, clock: ManualClock) -> Inbound:
    return Inbound(store, clock, ME)


@asynccontextmanager
async def alive(store: Store, worker: int) -> AsyncIterator[None]:
    async with store.dedicated() as conn:
        await conn.execute("SELECT pg_advisory_lock($1)", worker)
        yield


async def state_of(store: Store, number: int = 1) -> asyncpg.Record:
    async with store.connection() as conn:
        row = await conn.fetchrow("SELECT * FROM inbound_events WHERE event_id = $1", f"e{number}")
    assert row is not None
    return row


def a_part(number: int = 0) -> OutgoingMessage:
    event = a_message()
    return OutgoingMessage(f"fake:e1:{number}", "fake", event.channel, event.server, f"part {number}", event_id="e1")


async def test_an_event_is_taken_once(inbound: Inbound, store: Store) -> None:
    assert await inbound.receive(a_message(), "c", wanted=True)
    assert not await inbound.receive(a_message(), "c", wanted=True)
    assert (await state_of(store))["state"] == "received"


async def test_what_is_not_wanted_is_finished_and_its_text_not_kept(inbound: Inbound, store: Store) -> None:
    assert await inbound.receive(a_message("a secret"), "c", wanted=False)
    row = await state_of(store)
    assert (row["state"], row["payload"]) == ("ignored", None)
    assert not await inbound.receive(a_message(), "c", wanted=True)


async def test_answer_and_end_are_committed_together(inbound: Inbound, store: Store) -> None:
    event = a_message()
    await inbound.receive(event, "c", wanted=True)
    assert await inbound.begin(event) == 1
    posted = await inbound.finish(event, Outcome.ANSWERED, [a_part(0), a_part(1)])
    assert [each.message.text for each in posted] == ["part 0", "part 1"]
    assert posted[0].outbox_id < posted[1].outbox_id
    row = await state_of(store)
    assert (row["state"], row["payload"], row["finished_at"]) == ("answered", None, NOW)
    async with store.connection() as conn:
        rows = await conn.fetch("SELECT key, state, payload::text AS payload FROM outbox ORDER BY outbox_id")
    assert [load_message(each["payload"]) for each in rows] == [a_part(0), a_part(1)]
    assert {each["state"] for each in rows} == {"pending"}


async def test_an_ended_event_is_neither_begun_nor_ended_again(inbound: Inbound, store: Store) -> None:
    event = a_message()
    await inbound.receive(event, "c", wanted=True)
    await inbound.finish(event, Outcome.IGNORED)
    with pytest.raises(TurnLost):
        await inbound.begin(event)
    with pytest.raises(TurnLost):
        await inbound.finish(event, Outcome.ANSWERED, [a_part()])
    async with store.connection() as conn:
        assert await conn.fetchval("SELECT count(*) FROM outbox") == 0


async def test_another_worker_s_event_is_not_ours(inbound: Inbound, store: Store, clock: ManualClock) -> None:
    event = a_message()
    await Inbound(store, clock, OTHER).receive(event, "c", wanted=True)
    with pytest.raises(TurnLost):
        await inbound.begin(event)
    with pytest.raises(TurnLost):
        await inbound.finish(event, Outcome.ANSWERED)
    async with store.transaction() as conn:
        with pytest.raises(TurnLost):
            await inbound.write_checkpoint(conn, event, 0, "[]")


async def test_the_last_checkpoint_counts_and_goes_with_the_turn(inbound: Inbound, store: Store) -> None:
    event = a_message()
    await inbound.receive(event, "c", wanted=True)
    await inbound.begin(event)
    assert await inbound.load_checkpoint(event) is None
    for position, messages in ((0, '["a"]'), (2, '["a", "b"]')):
        async with store.transaction() as conn:
            await inbound.write_checkpoint(conn, event, position, messages)
    assert await inbound.load_checkpoint(event) == '["a", "b"]'
    await inbound.finish(event, Outcome.ANSWERED)
    async with store.connection() as conn:
        assert await conn.fetchval("SELECT count(*) FROM turn_checkpoints") == 0


async def test_a_checkpoint_of_a_rolled_back_tool_is_not_there(inbound: Inbound, store: Store) -> None:
    event = a_message()
    await inbound.receive(event, "c", wanted=True)
    await inbound.begin(event)

    async def failing_tool() -> None:
        async with store.transaction() as conn:
            await inbound.write_checkpoint(conn, event, 0, "[]")
            raise RuntimeError("the tool failed behind its effect")

    with pytest.raises(RuntimeError):
        await failing_tool()
    assert await inbound.load_checkpoint(event) is None


async def test_what_a_dead_worker_left_is_taken_over_in_order(
    inbound: Inbound, store: Store, clock: ManualClock
) -> None:
    dead = Inbound(store, clock, OTHER)
    for number in (1, 2, 3):
        await dead.receive(a_message(f"text {number}", number=number), "c", wanted=True)
        clock.advance(timedelta(seconds=1))
    await dead.begin(a_message(number=1))
    events = await inbound.recover(["fake"])
    assert events == tuple(a_message(f"text {number}", number=number) for number in (1, 2, 3))
    assert await inbound.begin(a_message(number=1)) == 2
    with pytest.raises(TurnLost):
        await dead.finish(a_message(number=1), Outcome.ANSWERED, [a_part()])


async def test_a_live_worker_keeps_its_events(inbound: Inbound, store: Store, clock: ManualClock) -> None:
    async with alive(store, OTHER):
        await Inbound(store, clock, OTHER).receive(a_message(), "c", wanted=True)
        assert await inbound.recover(["fake"]) == ()
    assert len(await inbound.recover(["fake"])) == 1


async def test_only_the_platforms_that_are_served_are_recovered(
    inbound: Inbound, store: Store, clock: ManualClock
) -> None:
    await Inbound(store, clock, OTHER).receive(a_message(), "c", wanted=True)
    assert await inbound.recover(["discord"]) == ()
    assert (await state_of(store))["worker"] == OTHER


async def test_what_is_too_old_or_tried_twice_is_abandoned(inbound: Inbound, store: Store, clock: ManualClock) -> None:
    dead = Inbound(store, clock, OTHER)
    await dead.receive(a_message(number=1), "c", wanted=True)
    clock.advance(timedelta(minutes=5, seconds=1))
    await dead.receive(a_message(number=2), "c", wanted=True)
    await dead.begin(a_message(number=2))
    await dead.begin(a_message(number=2))
    await dead.receive(a_message(number=3), "c", wanted=True)
    assert [event.event_id for event in await inbound.recover(["fake"])] == ["e3"]
    assert [(await state_of(store, number))["state"] for number in (1, 2)] == ["abandoned", "abandoned"]


async def test_two_that_recover_at_once_take_each_event_once(store: Store, clock: ManualClock) -> None:
    for number in range(20):
        await Inbound(store, clock, OTHER).receive(a_message(number=number), "c", wanted=True)
    async with alive(store, 31), alive(store, 32), alive(store, 33):
        found = await asyncio.gather(*(Inbound(store, clock, worker).recover(["fake"]) for worker in (31, 32, 33)))
    ids = [event.event_id for events in found for event in events]
    assert len(ids) == len(set(ids)) == 20


async def test_finished_rows_are_forgotten_after_30_days(inbound: Inbound, store: Store, clock: ManualClock) -> None:
    await inbound.receive(a_message(number=1), "c", wanted=False)
    await inbound.receive(a_message(number=2), "c", wanted=True)
    clock.advance(timedelta(days=31))
    await inbound.sweep()
    async with store.connection() as conn:
        assert await conn.fetchval("SELECT array_agg(event_id) FROM inbound_events") == ["e2"]


async def test_a_message_stays_unsent_only_until_it_is_settled(
    inbound: Inbound, store: Store, clock: ManualClock
) -> None:
    outbox = OutboxRows(store, clock, ME)
    event = a_message()
    await inbound.receive(event, "c", wanted=True)
    (posted,) = await inbound.finish(event, Outcome.ANSWERED, [a_part()])
    await outbox.settle(posted, "sent", message_id="x1")
    async with store.connection() as conn:
        row = await conn.fetchrow("SELECT state, message_id, payload FROM outbox")
    assert row is not None
    assert tuple(row) == ("sent", "x1", None)


def a_deletion() -> MessageDeleted:
    event = a_message()
    return MessageDeleted("fake", "gone", event.message_id, event.server, event.channel, NOW)


async def test_a_deletion_ends_what_is_unfinished_about_the_message(inbound: Inbound, store: Store) -> None:
    event, other = a_message(), replace(a_message(), event_id="e2", message_id="another")
    for each in (event, other):
        await inbound.receive(each, "c", wanted=True)
        await inbound.begin(each)
    async with store.transaction() as conn:
        await inbound.write_checkpoint(conn, event, 0, "[]")
    assert await inbound.receive_deletion(replace(a_deletion(), event_id="e3"), "elsewhere")
    assert (await state_of(store))["state"] == "running"
    assert await inbound.receive_deletion(a_deletion(), "c")
    assert not await inbound.receive_deletion(a_deletion(), "c")
    row = await state_of(store)
    assert (row["state"], row["payload"], row["finished_at"]) == ("ignored", None, NOW)
    assert (await state_of(store, 2))["state"] == "running"
    assert await inbound.load_checkpoint(event) is None
    with pytest.raises(TurnLost):
        await inbound.finish(event, Outcome.ANSWERED, [a_part()])
    with pytest.raises(TurnLost):
        async with store.transaction() as conn:
            await inbound.write_checkpoint(conn, event, 1, "[]")
    await inbound.finish(a_deletion(), Outcome.IGNORED)
    assert not await inbound.receive_deletion(a_deletion(), "c")


async def test_a_deletion_waits_for_what_a_turn_is_about_to_keep(inbound: Inbound, store: Store) -> None:
    event = a_message()
    await inbound.receive(event, "c", wanted=True)
    await inbound.begin(event)
    async with store.transaction() as conn:
        await inbound.write_checkpoint(conn, event, 0, "[]")
        taking = asyncio.create_task(inbound.receive_deletion(a_deletion(), "c"))
        assert not (await asyncio.wait({taking}, timeout=0.1))[0]
    assert await taking


async def test_an_unfinished_deletion_is_taken_over_however_old(
    inbound: Inbound, store: Store, clock: ManualClock
) -> None:
    assert await inbound.receive_deletion(a_deletion(), "c")
    clock.advance(timedelta(days=3))
    assert await Inbound(store, clock, OTHER).recover(["fake"]) == (a_deletion(),)
