"""Saves against changes: once a change is confirmed, nothing that it forbids appears any more."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from agent.contracts.memory import MemoryWrite
from agent.contracts.people import Account, PrivacyLevel
from agent.privacy.erase import erase_person
from agent.privacy.guards import MemoryGuards
from agent.privacy.repository import Privacy
from agent.store.pool import Store
from tests.agent.identity.builders import NOW
from tests.agent.privacy.conftest import Home
from tests.agent.privacy.doubles import StubHooks, save, write

SAVES = 60
"""Enough to be under way before, during and after a change."""


async def count(store: Store) -> int:
    async with store.connection() as conn:
        return int(await conn.fetchval("SELECT count(*) FROM saved"))


async def saves_against(
    home: Home, others: tuple[Store, ...], ask: Callable[[], MemoryWrite], change: Callable[[], Awaitable[object]]
) -> tuple[int, int]:
    """Run saves from several pools, and one change among them; return the rows at its confirmation and at the end."""
    luck = random.Random(7)
    done, under_way, confirmed, at_confirmation = 0, asyncio.Event(), asyncio.Event(), -1

    async def saver(store: Store) -> None:
        nonlocal done
        guards = MemoryGuards(Privacy(store), StubHooks())
        for number in range(SAVES // len(others)):
            if number >= SAVES // len(others) - 2:
                await confirmed.wait()  # some come after it, however slow the machine is
            await save(store, guards, ask())
            done += 1
            if done >= SAVES // 4:
                under_way.set()
            await asyncio.sleep(luck.random() * 0.012)

    async def confirm() -> None:
        nonlocal at_confirmation
        await under_way.wait()
        await change()
        at_confirmation = await count(home.store)
        confirmed.set()

    async with asyncio.timeout(30):
        await asyncio.gather(confirm(), *(saver(store) for store in others))
    return at_confirmation, await count(home.store)


@pytest.mark.parametrize("scope", ["personal", "subject", "linked"])
async def test_no_save_after_a_level_is_confirmed(home: Home, others: tuple[Store, ...], scope: str) -> None:
    def ask() -> MemoryWrite:
        match scope:
            case "personal":
                return write(server=home.server_id, user=home.ana_user, author=home.ben.account_id)
            case "subject":
                return write(server=home.server_id, subject=home.ana.account_id)
            case _:
                return write(server=home.server_id, subject_user=home.ana_user)

    changed = home.ana.account_id
    if scope == "linked":
        async with home.store.connection() as conn:
            await conn.execute("UPDATE accounts SET user_id = $1", home.ana_user)
        changed = home.ben.account_id
    confirmed, final = await saves_against(
        home, others, ask, lambda: home.privacy.set_level(changed, PrivacyLevel.FULL)
    )
    assert SAVES // 4 <= confirmed == final < SAVES


@pytest.mark.parametrize("personal", [True, False])
async def test_no_save_after_a_blacklisting_is_confirmed(home: Home, others: tuple[Store, ...], personal: bool) -> None:
    def ask() -> MemoryWrite:
        if personal:
            return write(server=home.server_id, user=home.ana_user)
        return write(server=home.server_id, subject=home.ana.account_id)

    confirmed, final = await saves_against(
        home, others, ask, lambda: home.privacy.blacklist_add(home.server_id, home.ana.account_id, NOW)
    )
    assert SAVES // 4 <= confirmed == final < SAVES


@pytest.mark.parametrize("role", ["subject", "author"])
async def test_nothing_is_left_or_comes_after_an_erasure(home: Home, others: tuple[Store, ...], role: str) -> None:
    """What was saved before goes with the erasure; what waited for it is refused, because its source is older."""
    hooks = StubHooks()

    async def erase(conn: Any, account: Account) -> dict[str, int]:
        return {"saved": int((await conn.execute("DELETE FROM saved")).split()[1])}

    hooks.erase = erase

    def ask() -> MemoryWrite:
        ana = home.ana.account_id
        if role == "subject":
            return write(server=home.server_id, subject=ana)
        return write(server=home.server_id, author=ana)

    confirmed, final = await saves_against(
        home, others, ask, lambda: erase_person(home.store, hooks, home.ana.account_id, NOW + timedelta(seconds=1))
    )
    assert (confirmed, final) == (0, 0)


async def test_changes_and_saves_of_all_kinds_never_lock_one_another_out(home: Home, others: tuple[Store, ...]) -> None:
    """Deadlocks would be retried by changes, and raised by saves."""
    luck = random.Random(11)
    people = (home.ana, home.ben)

    async def save_one(number: int) -> None:
        store, about, author = others[number % 3], luck.choice(people), luck.choice(people)
        asked = write(
            server=home.server_id,
            user=luck.choice([None, about.user_id]),
            subject=about.account_id,
            author=author.account_id,
        )
        await asyncio.sleep(luck.random() * 0.1)
        await save(store, MemoryGuards(Privacy(store), StubHooks()), asked)

    async def change_one(number: int) -> None:
        privacy, person = Privacy(others[number % 3]), luck.choice(people).account_id
        await asyncio.sleep(luck.random() * 0.1)
        match number % 3:
            case 0:
                await privacy.set_level(person, luck.choice(list(PrivacyLevel)))
            case 1:
                await privacy.blacklist_add(home.server_id, person, NOW)
            case _:
                await privacy.blacklist_remove(home.server_id, person)

    async with asyncio.timeout(30):
        await asyncio.gather(*(save_one(number) for number in range(60)), *(change_one(n) for n in range(30)))
    async with home.store.connection() as conn:
        deadlocks = await conn.fetchval("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    assert deadlocks == 0
