"""A wish is used by one answer, however often that is begun, and costs nothing where there is none."""

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
import pytest_asyncio

from agent.contracts.people import Account
from agent.identity.people import People
from agent.impersonation.repository import Impersonations
from agent.impersonation.rules import CONSENT
from agent.invalidation import Invalidation
from agent.places import ChannelRef, Place
from agent.preferences import Layer
from agent.preferences_repository import choose
from agent.store.pool import Store
from agent.store.revisions import read as read_revisions
from agent.turn.values import Turn, server_owner
from tests.agent.identity.builders import GENERAL, HOME, NOW, author
from tests.agent.turn.builders import a_turn
from tests.clocks import ManualClock


@dataclass
class Home:
    store: Store
    clock: ManualClock
    place: Place
    ana: Account
    ben: Account

    def process(self) -> Impersonations:
        """Another process on the same database."""
        return Impersonations(self.store, Invalidation(self.store), self.clock)

    async def turn(self, event_id: str = "e1", place: Place | None = None) -> Turn:
        """A turn as it is prepared now."""
        place = place or self.place
        turn = a_turn()
        async with self.store.connection() as conn:
            revisions = await read_revisions(conn, [server_owner(place.server.server_id)])
        return replace(turn, place=place, event=replace(turn.event, event_id=event_id), revisions=revisions)


@pytest_asyncio.fixture
async def home(store: Store) -> Home:
    people = People(store)
    ana = await people.enter(HOME, GENERAL, author("ana", "Ana"), NOW)
    ben = await people.enter(HOME, GENERAL, author("ben", "Ben"), NOW)
    return Home(store, ManualClock(NOW), ana.place, ana.account, ben.account)


async def test_a_turn_without_a_wish_costs_no_query(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    process, turn = home.process(), await home.turn()
    assert await process.applied(turn) is turn
    with monkeypatch.context() as patch:
        patch.delattr(home.store.__class__, "connection")
        assert await process.applied(turn) is turn


async def test_one_event_uses_a_wish_and_uses_it_again_after_a_restart(home: Home) -> None:
    one, other = home.process(), home.process()
    await other.applied(await home.turn())
    await one.arrange(home.place, home.ana, home.ben, by_right=True)
    assert (await other.applied(await home.turn("e1"))).impersonating == home.ana
    for process in (one, other, home.process()):
        assert (await process.applied(await home.turn("e2"))).impersonating is None
    home.clock.advance(timedelta(minutes=18))
    assert (await home.process().applied(await home.turn("e1"))).impersonating == home.ana


async def test_of_several_at_once_one_uses_it(home: Home) -> None:
    await home.process().arrange(home.place, home.ana, home.ben, by_right=True)
    turns = [await home.turn(f"e{number}") for number in range(8)]
    found = await asyncio.gather(*(home.process().applied(turn) for turn in turns))
    assert [turn.impersonating for turn in found].count(home.ana) == 1


async def test_another_channel_has_its_own(home: Home) -> None:
    entrance = await People(home.store).enter(HOME, ChannelRef("home/plans", "plans"), author("ana", "Ana"), NOW)
    await home.process().arrange(home.place, home.ana, home.ben, by_right=True)
    await home.process().arrange(entrance.place, home.ben, home.ben, by_right=True)
    assert (await home.process().applied(await home.turn("e1", entrance.place))).impersonating == home.ben
    assert (await home.process().applied(await home.turn("e2"))).impersonating == home.ana


async def test_what_is_long_over_is_swept(home: Home) -> None:
    await home.process().arrange(home.place, home.ana, home.ben, by_right=True)
    home.clock.advance(timedelta(minutes=25))
    plans = await People(home.store).enter(HOME, ChannelRef("home/plans", "plans"), author("ana", "Ana"), NOW)
    await home.process().arrange(plans.place, home.ana, home.ben, by_right=True)
    async with home.store.connection() as conn:
        assert await conn.fetchval("SELECT count(*) FROM impersonations") == 1
    assert not await home.process().cancel(home.place)
    assert await home.process().cancel(plans.place)


async def test_nobody_stands_for_an_account_that_does_not_exist(home: Home) -> None:
    with pytest.raises(LookupError, match="no account 404"):
        await home.process().standing(404, home.place.server.server_id)


async def test_a_no_of_a_linked_account_counts(home: Home) -> None:
    process, server_id = home.process(), home.place.server.server_id
    async with home.store.connection() as conn:
        await choose(conn, CONSENT, Layer.PERSON, home.ana.account_id, "on")
        await choose(conn, CONSENT, Layer.PERSON, home.ben.account_id, "off")
        assert (await process.standing(home.ana.account_id, server_id)).consents == {"on"}
        await conn.execute("UPDATE accounts SET user_id = $1", home.ana.user_id)
    assert (await process.standing(home.ana.account_id, server_id)).consents == {"on", "off"}
