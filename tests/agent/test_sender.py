from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from agent.bridge import (
    BridgeHost,
    Capabilities,
    HistoryMessage,
    OutcomeUnknown,
    OutgoingMessage,
    SendFailed,
    Sent,
    SentMessage,
)
from agent.events import Attachment
from agent.identity.keys import ParticipantKey
from agent.places import ChannelRef, ServerKind, ServerRef
from agent.sender import Sender
from agent.store.outbox import OutboxRows, Posted
from agent.store.pool import Store
from tests.agent.turn.builders import NOW, a_message
from tests.clocks import ManualClock

ME, OTHER = 11, 22


class Platform:
    """A bridge whose calls end as the test says; what was posted is in `posted`."""

    name = platform = "fake"

    def __init__(self, *, keyed: bool) -> None:
        self.capabilities = Capabilities(2_000, has_idempotency_key=keyed)
        self.posted: dict[str, str] = {}
        self.calls: list[str] = []
        self.behave: Callable[[OutgoingMessage], None] = lambda _message: None
        self.then: Callable[[OutgoingMessage], Sent | OutcomeUnknown] = self.sent

    def sent(self, message: OutgoingMessage) -> Sent:
        return Sent(f"id-{message.key}")

    def identity(self) -> str:
        return ""

    def agent_keys(self) -> frozenset[ParticipantKey]:
        return frozenset()

    async def start(self, host: BridgeHost) -> None: ...

    async def stop(self) -> None: ...

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        raise AssertionError(f"nobody asks for {attachment} of {limit}")

    async def typing(self, channel: ChannelRef) -> None: ...

    async def history(self, server: ServerRef, channel: ChannelRef, limit: int) -> Sequence[HistoryMessage]:
        return ()

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        await asyncio.sleep(0)
        self.calls.append(message.key)
        self.behave(message)
        self.posted.setdefault(message.key, message.text)
        return self.then(message)

    async def edit(self, message_id: str, message: OutgoingMessage) -> None:
        self.calls.append(f"{message_id} = {message.text}")
        self.behave(message)

    async def withdraw(self, message: SentMessage) -> None: ...

    async def find_sent(self, message: OutgoingMessage) -> Sent | None:
        return self.sent(message) if message.key in self.posted else None


def a_part(number: int, channel: str = "general") -> OutgoingMessage:
    event = a_message()
    return OutgoingMessage(
        f"{channel}:{number}", "fake", ChannelRef(channel, channel), event.server, f"part {number}", event_id="e1"
    )


class Desk:
    """The outbox with a sender and a platform."""

    def __init__(self, store: Store, *, keyed: bool = True) -> None:
        self.store = store
        self.platform = Platform(keyed=keyed)
        self.rows = OutboxRows(store, ManualClock(NOW), ME)
        self.sender = Sender(self.rows, store, {"fake": self.platform})

    async def add(self, *messages: OutgoingMessage) -> tuple[Posted, ...]:
        async with self.store.transaction() as conn:
            return tuple([posted for each in messages for posted in await self.rows.add(conn, (each,))])

    async def send(self, posted: Sequence[Posted]) -> None:
        self.sender.post(posted)
        await self.sender.idle()

    async def states(self) -> dict[str, str]:
        async with self.store.connection() as conn:
            return {row["key"]: row["state"] for row in await conn.fetch("SELECT key, state FROM outbox")}


@pytest.fixture(params=[True, False], ids=["keyed", "without_key"])
def desk(request: pytest.FixtureRequest, store: Store) -> Desk:
    return Desk(store, keyed=request.param)


async def test_messages_keep_their_order_in_a_channel(desk: Desk) -> None:
    parts = [a_part(number, channel) for number in range(10) for channel in ("a", "b")]
    await desk.send(await desk.add(*parts))
    for channel in ("a", "b"):
        sent = [key for key in desk.platform.calls if key.startswith(channel)]
        assert sent == [f"{channel}:{number}" for number in range(10)]
    assert set((await desk.states()).values()) == {"sent"}


async def test_a_key_stands_in_the_outbox_once(desk: Desk) -> None:
    assert len(await desk.add(a_part(1))) == 1
    assert await desk.add(a_part(1)) == ()


async def test_a_card_whose_transaction_was_rolled_back_is_not_sent(desk: Desk) -> None:
    await desk.send([Posted(999_999, a_part(1), certain=False)])
    assert desk.platform.calls == []


async def test_a_refusal_that_passes_is_tried_again(desk: Desk) -> None:
    def refuse_twice(_message: OutgoingMessage) -> None:
        if len(desk.platform.calls) < 3:
            raise SendFailed("slow down", retry_after=0.0)

    desk.platform.behave = refuse_twice
    await desk.send(await desk.add(a_part(1)))
    assert len(desk.platform.calls) == 3
    assert await desk.states() == {"general:1": "sent"}


async def test_what_is_taken_back_between_two_tries_is_not_sent(desk: Desk) -> None:
    async def forget() -> None:
        async with desk.store.connection() as conn:
            await conn.execute(
                "UPDATE outbox SET payload = NULL, state = CASE state WHEN 'pending' THEN 'cancelled' ELSE state END"
            )

    tasks: list[asyncio.Task[None]] = []

    def refuse(_message: OutgoingMessage) -> None:
        tasks.append(asyncio.create_task(forget()))
        raise SendFailed("slow down", retry_after=0.3)

    desk.platform.behave = refuse
    await desk.send(await desk.add(a_part(1)))
    assert len(tasks) == 1
    assert desk.platform.posted == {}
    assert await desk.states() == {"general:1": "cancelled"}


async def test_what_is_taken_back_while_it_waits_behind_others_is_not_sent(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.sender.FRESH", 0.05)
    posted = await desk.add(a_part(1), a_part(2), a_part(3))

    def slow(message: OutgoingMessage) -> None:
        if message.key == "general:1" and len(desk.platform.calls) == 1:
            raise SendFailed("slow down", retry_after=0.3)

    desk.platform.behave = slow
    desk.sender.post(posted)
    async with desk.store.connection() as conn:
        await conn.execute("UPDATE outbox SET payload = NULL, state = 'cancelled' WHERE key = 'general:2'")
    await desk.sender.idle()
    assert list(desk.platform.posted) == ["general:1", "general:3"]


async def test_a_final_refusal_is_reported_and_the_next_message_goes_out(desk: Desk) -> None:
    def refuse_the_first(message: OutgoingMessage) -> None:
        if message.key == "general:1":
            raise SendFailed("no permission to post here")

    desk.platform.behave = refuse_the_first
    await desk.send(await desk.add(a_part(1), a_part(2)))
    assert await desk.states() == {"general:1": "failed", "general:2": "sent"}


async def test_a_bridge_that_raises_leaves_the_outcome_unknown(desk: Desk) -> None:
    def break_once(_message: OutgoingMessage) -> None:
        if len(desk.platform.calls) == 1:
            raise ConnectionResetError

    desk.platform.behave = break_once
    await desk.send(await desk.add(a_part(1)))
    expected = "sent" if desk.platform.capabilities.has_idempotency_key else "unknown"
    assert await desk.states() == {"general:1": expected}


async def test_what_was_posted_without_an_answer_is_found_and_not_posted_again(store: Store) -> None:
    desk = Desk(store, keyed=False)
    desk.platform.then = lambda _message: OutcomeUnknown("the connection broke")
    await desk.send(await desk.add(a_part(1)))
    assert desk.platform.calls == ["general:1"]
    assert await desk.states() == {"general:1": "sent"}


async def test_without_a_key_what_a_dead_worker_was_sending_is_read_back_only(store: Store) -> None:
    desk = Desk(store, keyed=False)
    (found, lost) = await desk.add(a_part(1), a_part(2))
    desk.platform.posted["general:1"] = "part 1"
    await desk.send([replace(found, was_sending=True), replace(lost, was_sending=True)])
    assert desk.platform.calls == []
    assert await desk.states() == {"general:1": "sent", "general:2": "unknown"}


async def test_what_a_dead_worker_left_is_taken_over_in_order(store: Store) -> None:
    desk = Desk(store)
    dead = OutboxRows(store, ManualClock(NOW), OTHER)
    async with store.transaction() as conn:
        await dead.add(conn, [a_part(number) for number in range(3)])
    recovered = await desk.rows.recover(["fake"])
    assert [each.message.text for each in recovered] == ["part 0", "part 1", "part 2"]
    await desk.send(recovered)
    assert desk.platform.calls == ["general:0", "general:1", "general:2"]
    assert await desk.rows.recover(["fake"]) == ()


async def _left(desk: Desk, clock: ManualClock, *messages: OutgoingMessage, for_: timedelta) -> tuple[Posted, ...]:
    """Messages that a worker has left and this one takes over."""
    dead = OutboxRows(desk.store, clock, OTHER)
    async with desk.store.transaction() as conn:
        await dead.add(conn, messages)
    clock.advance(for_)
    return await OutboxRows(desk.store, clock, ME).recover(["fake"])


@pytest.mark.parametrize(("minutes", "calls"), [(1, ["general:1", "general:2"]), (10, ["general:2"])])
async def test_what_was_left_for_longer_than_its_key_lives_is_looked_for_first(
    store: Store, minutes: int, calls: list[str]
) -> None:
    desk = Desk(store)
    desk.platform.capabilities = replace(desk.platform.capabilities, key_seconds=90.0)
    desk.platform.posted["general:1"] = "part 1"
    left = await _left(desk, ManualClock(NOW), a_part(1), a_part(2), for_=timedelta(minutes=minutes))
    await desk.send(left)
    assert desk.platform.calls == calls
    assert await desk.states() == {"general:1": "sent", "general:2": "sent"}


async def test_what_cannot_be_looked_for_is_not_sent_again(store: Store) -> None:
    desk = Desk(store)
    desk.platform.capabilities = replace(desk.platform.capabilities, key_seconds=90.0)
    left = await _left(desk, ManualClock(NOW), a_part(1), for_=timedelta(minutes=10))

    async def unreadable(message: OutgoingMessage) -> Sent | None:
        assert message.made_at == NOW
        raise ConnectionResetError

    desk.platform.find_sent = unreadable  # type: ignore[method-assign]  # the platform of this test
    await desk.send(left)
    assert desk.platform.calls == []
    assert await desk.states() == {"general:1": "unknown"}


async def test_a_key_that_is_forgotten_while_it_is_tried_is_not_trusted(store: Store) -> None:
    desk = Desk(store)
    desk.platform.capabilities = replace(desk.platform.capabilities, key_seconds=0.05)
    desk.platform.then = lambda _message: OutcomeUnknown("the connection broke")
    await desk.send(await desk.add(a_part(1)))
    assert desk.platform.calls == ["general:1"]
    assert await desk.states() == {"general:1": "sent"}


async def test_what_personas_say_may_have_no_key(store: Store) -> None:
    desk = Desk(store)
    desk.platform.capabilities = replace(desk.platform.capabilities, persona_keys=False)
    desk.platform.then = lambda _message: OutcomeUnknown("the connection broke")
    iris = replace(a_part(1), persona_name="Iris")
    direct = replace(iris, key="direct", server=replace(iris.server, kind=ServerKind.DIRECT))
    await desk.send(await desk.add(iris, direct))
    assert desk.platform.calls == ["general:1", *["direct"] * 6]
    assert await desk.states() == {"general:1": "sent", "direct": "failed"}


async def test_no_text_is_kept_once_it_is_sent(desk: Desk) -> None:
    await desk.send(await desk.add(a_part(1)))
    async with desk.store.connection() as conn:
        assert await conn.fetchval("SELECT count(*) FROM outbox WHERE payload IS NOT NULL") == 0


async def test_a_message_that_was_sent_gets_another_text(desk: Desk, store: Store) -> None:
    await desk.send(await desk.add(a_part(1)))
    async with store.transaction() as conn:
        again = await desk.rows.add_edit(conn, "id-general:1", replace(a_part(1), key="edit:1", text="better"))
    await desk.send(again)
    assert desk.platform.calls == ["general:1", "id-general:1 = better"]
    assert await desk.states() == {"general:1": "sent", "edit:1": "sent"}


async def test_an_edit_is_made_by_whoever_comes_next(desk: Desk, store: Store) -> None:
    async with store.transaction() as conn:
        await desk.rows.add_edit(conn, "m1", replace(a_part(1), key="edit:1", text="better"))
    other = OutboxRows(store, ManualClock(NOW), OTHER)
    [found] = await other.recover(["fake"])
    assert (found.edits, found.message.text) == ("m1", "better")


async def test_an_edit_that_cannot_be_made_is_settled_as_that(desk: Desk, store: Store) -> None:
    desk.platform.capabilities = replace(desk.platform.capabilities, edits=False)
    async with store.transaction() as conn:
        again = await desk.rows.add_edit(conn, "m1", replace(a_part(1), key="edit:1"))
    await desk.send(again)
    assert desk.platform.calls == []
    assert await desk.states() == {"edit:1": "unsupported"}
