from agent.contracts.memory import MemoryRead, MemoryScope, WriteKind
from agent.contracts.people import PrivacyLevel, Refusal
from tests.agent.identity.builders import NOW
from tests.agent.privacy.conftest import Home
from tests.agent.privacy.doubles import save, write

PLAIN_READ = MemoryRead(MemoryScope.SERVER, 1, None, 1, reader_account_id=None)


async def test_who_restricts_nothing_is_remembered(home: Home) -> None:
    asked = write(server=home.server_id, user=home.ana_user, subject=home.ana.account_id, author=home.ben.account_id)
    assert await home.guards.check_write(asked) is None
    assert await save(home.store, home.guards, asked) is None
    assert home.hooks.asked == ["guard_memory_write", "recheck_memory_write"]


async def test_the_core_refuses_before_any_plugin_is_asked(home: Home) -> None:
    await home.privacy.set_level(home.ana.account_id, PrivacyLevel.PARTIAL)
    asked = write(server=home.server_id, user=home.ana_user)
    early, late = await home.guards.check_write(asked), await save(home.store, home.guards, asked)
    assert early is not None
    assert early == late
    assert early.code is Refusal.PRIVACY_RESTRICTED
    assert "Ana" not in early.text
    assert home.hooks.asked == []


async def test_a_plugin_may_refuse_what_the_core_lets_pass(home: Home) -> None:
    asked = write(server=home.server_id)
    home.hooks.denies = {"guard_memory_write"}
    assert (await home.guards.check_write(asked)) is not None
    assert (await save(home.store, home.guards, asked)) is None
    home.hooks.denies = {"recheck_memory_write"}
    assert (await home.guards.check_write(asked)) is None
    assert (await save(home.store, home.guards, asked)) is not None
    home.hooks.denies = {"guard_memory_read"}
    assert (await home.guards.check_read(PLAIN_READ)) is not None


async def test_a_deletion_is_never_refused(home: Home) -> None:
    await home.privacy.set_level(home.ana.account_id, PrivacyLevel.FULL)
    home.hooks.denies = {"guard_memory_write", "recheck_memory_write"}
    asked = write(server=home.server_id, user=home.ana_user, kind=WriteKind.DELETE)
    assert await home.guards.check_write(asked) is None
    assert await save(home.store, home.guards, asked) is None
    assert home.hooks.asked == []


async def test_a_blacklist_counts_on_its_server_only(home: Home) -> None:
    await home.privacy.blacklist_add(home.server_id, home.ana.account_id, NOW)
    denial = await home.guards.check_write(write(server=home.server_id, user=home.ana_user))
    assert denial is not None
    assert denial.code is Refusal.BLACKLISTED
    assert await home.guards.check_write(write(server=home.server_id + 1, user=home.ana_user)) is None


async def test_a_proxied_identity_needs_a_guard_that_covers_it(home: Home) -> None:
    async with home.store.connection() as conn:
        synthetic = await conn.fetchval(
            "INSERT INTO users (kind, created_at) VALUES ('synthetic', $1) RETURNING user_id", NOW
        )
    asked = write(server=home.server_id, user=synthetic, proxied=True, hosts=(home.ana.account_id,))
    read = MemoryRead(MemoryScope.PERSONAL, home.server_id, synthetic, 1, None, about_proxy_identity=True)
    for denial in (await home.guards.check_write(asked), await home.guards.check_read(read)):
        assert denial is not None
        assert denial.code is Refusal.NO_GUARD
    home.hooks.topics = {"proxy_identity"}
    assert await home.guards.check_write(asked) is None
    assert await home.guards.check_read(read) is None
    unmarked = await home.guards.check_write(write(server=home.server_id, user=synthetic))
    assert unmarked is not None
    assert unmarked.code is Refusal.GUARD_FAILED


async def test_reads_follow_the_level_and_the_blacklist(home: Home) -> None:
    read = MemoryRead(MemoryScope.PERSONAL, home.server_id, home.ana_user, 1, home.ben.account_id)
    assert await home.guards.check_read(read) is None
    await home.privacy.blacklist_add(home.server_id, home.ana.account_id, NOW)
    denial = await home.guards.check_read(read)
    assert denial is not None
    assert denial.code is Refusal.BLACKLISTED
    await home.privacy.set_level(home.ana.account_id, PrivacyLevel.PARTIAL)
    denial = await home.guards.check_read(read)
    assert denial is not None
    assert denial.code is Refusal.PRIVACY_RESTRICTED
