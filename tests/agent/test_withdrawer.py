from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from agent.bridge import Capabilities, OutgoingMessage
from agent.contracts.cards import Card, CardKind, Subjects
from agent.sender import Sender
from agent.store.notices import LONGEST_PAUSE, WithdrawalRows, Withdrawn, next_try, withdraw_notices
from agent.store.outbox import OutboxRows, Posted
from agent.store.pool import Store
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.fake_values import Refused, Slow
from agent.withdrawer import Withdrawer
from tests.agent.turn.builders import NOW
from tests.clocks import ManualClock

ME, OTHER = 11, 22
ANA = Subjects(memories=(7,), accounts=(1,), users=(5,))
BEN = Subjects(memories=(8,), accounts=(2,), users=(6,))


class Desk:
    """Notices, what sends them and what takes them back."""

    def __init__(self, store: Store, platform: FakePlatform, worker: int = ME) -> None:
        self.store, self.platform = store, platform
        self.clock = ManualClock(NOW)
        self.rows = OutboxRows(store, self.clock, worker)
        bridges = {"fake": FakeBridge(platform=platform)}
        self.withdrawer = Withdrawer(WithdrawalRows(store, self.clock, worker), bridges)
        self.sender = Sender(self.rows, store, bridges, self.withdrawer.wake)

    async def add(self, key: str, subjects: Subjects) -> tuple[Posted, ...]:
        server, channel = self.platform.place()
        card = Card(CardKind.SAVED, key, ("likes tea",), subjects=subjects)
        message = OutgoingMessage(key, "fake", channel, server, key, card=card, event_id="e1")
        async with self.store.transaction() as conn:
            return await self.rows.add(conn, (message,))

    async def post(self, key: str, subjects: Subjects) -> None:
        self.sender.post(await self.add(key, subjects))
        await self.sender.idle()

    async def withdraw(self, **about: list[int]) -> Withdrawn:
        async with self.store.transaction() as conn:
            return await withdraw_notices(conn, self.clock.now(), **about)

    async def work(self) -> None:
        """Run what withdraws until everything that is due was tried."""
        self.withdrawer.start()
        await self.withdrawer.idle()
        await self.withdrawer.stop()

    @property
    def shown(self) -> list[str]:
        return [message.text for message in self.platform.from_agent]

    async def states(self, kind: str = "withdraw") -> list[str]:
        async with self.store.connection() as conn:
            rows = await conn.fetch("SELECT state FROM outbox WHERE kind = $1 ORDER BY outbox_id", kind)
            return [row["state"] for row in rows]


@pytest.fixture
def platform() -> FakePlatform:
    return FakePlatform()


@pytest.fixture
def desk(store: Store, platform: FakePlatform) -> Desk:
    return Desk(store, platform)


@pytest.mark.parametrize(
    "about", [{"memories": [7]}, {"accounts": [3, 1]}, {"users": [5]}], ids=lambda each: next(iter(each))
)
async def test_the_notices_about_somebody_go_and_others_stay(desk: Desk, about: dict[str, list[int]]) -> None:
    await desk.post("one", ANA)
    await desk.post("two", BEN)
    await desk.post("both", ANA | BEN)
    await desk.post("nobody", Subjects())
    assert await desk.withdraw(**about) == Withdrawn(0, 2, 0)
    assert desk.shown == ["one", "two", "both", "nobody"]  # the commit comes first
    await desk.work()
    assert desk.shown == ["two", "nobody"]
    assert await desk.states() == ["sent", "sent"]


async def test_a_withdrawal_is_asked_for_once(desk: Desk) -> None:
    await desk.post("one", ANA)
    await desk.withdraw(memories=[7])
    assert await desk.withdraw(memories=[7]) == Withdrawn(0, 0, 0)
    await desk.work()
    await desk.work()
    assert len(desk.platform.changes.withdrawn) == 1


async def test_what_waits_is_cancelled_and_never_sent(desk: Desk) -> None:
    posted = await desk.add("one", ANA)
    assert await desk.withdraw(users=[5]) == Withdrawn(1, 0, 0)
    desk.sender.post(posted)
    await desk.sender.idle()
    assert desk.shown == []
    assert await desk.states("post") == ["cancelled"]
    assert await desk.states() == []


async def test_what_is_being_sent_goes_as_soon_as_it_is_there(desk: Desk) -> None:
    desk.platform.sends.fail_next(Slow(0.2))
    desk.sender.post(await desk.add("one", ANA))
    while not desk.platform.sends.tries:  # noqa: ASYNC110 - the platform tells nobody
        await asyncio.sleep(0.01)
    assert await desk.withdraw(accounts=[1]) == Withdrawn(0, 1, 0)
    desk.withdrawer.start()
    await desk.sender.idle()
    await desk.withdrawer.idle()
    await desk.withdrawer.stop()
    assert desk.shown == []
    assert desk.platform.sends.tries == {"one": 1}
    assert await desk.states() == ["sent"]


async def test_no_text_and_no_ids_stay_with_what_was_withdrawn(desk: Desk, store: Store) -> None:
    await desk.post("one", ANA)
    async with store.connection() as conn:
        row = await conn.fetchrow("SELECT payload, about_memories, about_accounts, about_users FROM outbox")
        assert row is not None
        assert tuple(row) == (None, [7], [1], [5])  # ids only, once it is sent
        await desk.withdraw(memories=[7])
        rows = await conn.fetch("SELECT payload, about_memories, about_accounts, about_users FROM outbox")
    assert {tuple(row) for row in rows} == {(None, None, None, None)}


async def test_one_that_is_gone_already_is_done(desk: Desk) -> None:
    await desk.post("one", ANA)
    await desk.platform.delete(desk.platform.from_agent[0])
    await desk.withdraw(memories=[7])
    await desk.work()
    assert await desk.states() == ["sent"]


async def test_a_refusal_is_settled_as_one(desk: Desk) -> None:
    await desk.post("one", ANA)
    await desk.withdraw(memories=[7])
    desk.platform.changes.fail_next(Refused("no permission"))
    await desk.work()
    await desk.work()
    assert await desk.states() == ["failed"]
    assert len(desk.platform.changes.withdrawn) == 1


async def test_a_platform_that_cannot_delete_is_not_asked(store: Store) -> None:
    platform = FakePlatform(capabilities=Capabilities(2000, has_idempotency_key=True, withdraws=False))
    desk = Desk(store, platform)
    await desk.post("one", ANA)
    await desk.withdraw(memories=[7])
    await desk.work()
    assert await desk.states() == ["unsupported"]
    assert platform.changes.withdrawn == []


async def test_a_failure_that_passes_is_tried_again_until_it_is_done(desk: Desk) -> None:
    await desk.post("one", ANA)
    await desk.withdraw(memories=[7])
    desk.platform.changes.fail_next(*[Refused("slow down", retry_after=1.0)] * 3)
    for _ in range(5):
        await desk.work()
        await desk.work()  # it is not due
        desk.clock.advance(LONGEST_PAUSE)
    assert desk.shown == []
    assert await desk.states() == ["sent"]
    assert len(desk.platform.changes.withdrawn) == 4


async def test_a_platform_that_is_away_is_waited_for(desk: Desk) -> None:
    await desk.post("one", ANA)
    await desk.withdraw(memories=[7])
    desk.platform.lose_connection()
    await desk.work()
    assert await desk.states() == ["pending"]
    desk.platform.reconnect()
    desk.clock.advance(timedelta(days=3))  # what is older than an hour is withdrawn all the same
    await desk.work()
    assert desk.shown == []


async def test_whoever_comes_next_does_what_a_dead_process_left(desk: Desk, store: Store) -> None:
    await desk.post("one", ANA)
    await desk.withdraw(memories=[7])
    assert len(await WithdrawalRows(store, desk.clock, OTHER).take(["fake"])) == 1  # and dies
    await desk.work()
    assert desk.shown == []


async def test_what_a_live_process_has_is_left_to_it(desk: Desk, store: Store) -> None:
    await desk.post("one", ANA)
    await desk.withdraw(memories=[7])
    assert len(await WithdrawalRows(store, desk.clock, OTHER).take(["fake"])) == 1
    async with store.connection() as conn:
        await conn.execute("SELECT pg_advisory_lock($1)", OTHER)
        await desk.work()
        await conn.execute("SELECT pg_advisory_unlock($1)", OTHER)
    assert desk.shown == ["one"]


async def test_two_processes_take_each_withdrawal_once(desk: Desk, store: Store) -> None:
    other = Desk(store, desk.platform, OTHER)
    for number in range(20):
        await desk.post(f"n{number}", ANA)
    await desk.withdraw(users=[5])
    async with store.connection() as conn, store.connection() as others:
        await conn.execute("SELECT pg_advisory_lock($1)", ME)
        await others.execute("SELECT pg_advisory_lock($1)", OTHER)
        await asyncio.gather(desk.work(), other.work())
        await conn.execute("SELECT pg_advisory_unlock($1)", ME)
        await others.execute("SELECT pg_advisory_unlock($1)", OTHER)
    assert len(desk.platform.changes.withdrawn) == len(set(desk.platform.changes.withdrawn))
    await desk.work()
    assert desk.shown == []


async def test_a_restart_sends_no_withdrawal_as_a_message(desk: Desk) -> None:
    await desk.post("one", ANA)
    await desk.withdraw(memories=[7])
    assert await OutboxRows(desk.store, desk.clock, OTHER).recover(["fake"]) == ()
    desk.clock.advance(timedelta(days=2))
    assert await OutboxRows(desk.store, desk.clock, OTHER).recover(["fake"]) == ()
    assert await desk.states() == ["pending"]


async def test_what_a_notice_is_about_is_known_for_as_long_as_it_stands(desk: Desk) -> None:
    await desk.post("one", ANA)
    await desk.post("nobody", Subjects())
    desk.clock.advance(timedelta(days=100))
    await desk.rows.sweep()
    assert await desk.states("post") == ["sent"]
    await desk.withdraw(accounts=[1])
    await desk.work()
    assert desk.shown == ["nobody"]
    desk.clock.advance(timedelta(days=31))
    await desk.rows.sweep()
    assert await desk.states("post") == await desk.states() == []


def test_pauses_grow_to_an_hour() -> None:
    pauses = [next_try(attempts, NOW) - NOW for attempts in (0, 1, 2, 20, 30_000)]
    assert pauses == [timedelta(seconds=30), timedelta(minutes=1), timedelta(minutes=2), LONGEST_PAUSE, LONGEST_PAUSE]
