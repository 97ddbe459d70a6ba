import pytest

from agent.contracts.people import PrivacyLevel, Refusal
from agent.identity.people import People
from agent.privacy.repository import UnknownPerson, UnknownServer
from tests.agent.identity.builders import GENERAL, HOME, NOW, author
from tests.agent.privacy.conftest import Home
from tests.agent.privacy.doubles import write

NONE, PARTIAL, FULL = PrivacyLevel


async def revision(home: Home, owner: str) -> int:
    async with home.store.connection() as conn:
        return int(
            await conn.fetchval("SELECT coalesce(sum(revision), 0) FROM owner_revisions WHERE owner = $1", owner)
        )


async def link(home: Home) -> None:
    """Make ben an account of ana's."""
    async with home.store.connection() as conn:
        await conn.execute(
            "UPDATE accounts SET user_id = $1 WHERE account_id = $2", home.ana.user_id, home.ben.account_id
        )


async def test_a_level_is_set_and_what_is_cached_of_the_person_is_stale(home: Home) -> None:
    assert await home.privacy.level(home.ana.account_id) is NONE
    assert await home.privacy.set_level(home.ana.account_id, FULL) is NONE
    assert await home.privacy.level(home.ana.account_id) is FULL
    assert await home.privacy.level(home.ben.account_id) is NONE
    assert await revision(home, f"user:{home.ana.user_id}") == 1
    assert await home.privacy.set_level(home.ana.account_id, NONE) is FULL


async def test_a_level_holds_for_linked_accounts(home: Home) -> None:
    await home.privacy.set_level(home.ben.account_id, PARTIAL)
    await link(home)
    assert await home.privacy.set_level(home.ana.account_id, FULL) is PARTIAL
    assert await home.privacy.level(home.ben.account_id) is FULL


async def test_the_blacklist(home: Home) -> None:
    privacy, server, ana = home.privacy, home.server_id, home.ana.account_id
    assert await privacy.blacklist(server) == ()
    assert await privacy.blacklist_add(server, ana, NOW)
    assert not await privacy.blacklist_add(server, ana, NOW)
    assert await privacy.blacklist(server) == (home.ana,)
    assert await revision(home, f"server:{server}") == 1
    assert await revision(home, f"user:{home.ana.user_id}") == 1
    assert (await People(home.store).enter(HOME, GENERAL, author("ana", "Ana"), NOW)).blacklisted
    assert await privacy.blacklist_remove(server, ana)
    assert not await privacy.blacklist_remove(server, ana)
    assert await privacy.blacklist(server) == ()
    assert await revision(home, f"server:{server}") == 2


async def test_taking_off_the_blacklist_takes_linked_accounts_off(home: Home) -> None:
    await home.privacy.blacklist_add(home.server_id, home.ben.account_id, NOW)
    await link(home)
    assert await home.privacy.blacklist_remove(home.server_id, home.ana.account_id)
    assert await home.privacy.blacklist(home.server_id) == ()


async def test_who_is_not_known(home: Home) -> None:
    privacy = home.privacy
    for change in (
        privacy.level(999),
        privacy.set_level(999, FULL),
        privacy.blacklist_add(home.server_id, 999, NOW),
        privacy.blacklist_remove(home.server_id, 999),
    ):
        with pytest.raises(UnknownPerson, match="there is no account 999"):
            await change
    with pytest.raises(UnknownServer, match="there is no server 999"):
        await privacy.blacklist_add(999, home.ana.account_id, NOW)


async def test_facts_are_the_same_with_and_without_locks(home: Home) -> None:
    await home.privacy.blacklist_add(home.server_id, home.ana.account_id, NOW)
    await home.privacy.set_level(home.ben.account_id, PARTIAL)
    asked = write(server=home.server_id, user=home.ana_user, subject=home.ana.account_id, author=home.ben.account_id)
    facts = await home.privacy.facts_of_write(asked)
    async with home.store.transaction() as conn:
        assert await home.privacy.lock_facts_of_write(conn, asked) == facts
    assert [(each.account_id, each.privacy, each.blacklisted) for each in facts] == [
        (home.ana.account_id, NONE, True),
        (home.ben.account_id, PARTIAL, False),
    ]


async def test_a_linked_account_is_among_the_facts(home: Home) -> None:
    await home.privacy.set_level(home.ben.account_id, FULL)
    await link(home)
    for asked in (
        write(server=home.server_id, subject=home.ana.account_id),
        write(server=home.server_id, user=home.ana_user),
        write(server=home.server_id, subject_user=home.ana_user),
    ):
        denial = await home.guards.check_write(asked)
        assert denial is not None
        assert denial.code is Refusal.PRIVACY_RESTRICTED
