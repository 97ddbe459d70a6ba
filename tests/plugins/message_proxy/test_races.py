"""Host protection within the writing transaction: what a host has confirmed always wins."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agent.app import Agent
from agent.contracts.memory import MemoryScope, MemorySource, MemoryWrite, Origin, WriteKind
from agent.contracts.people import PrivacyLevel, Refusal, Registration
from agent.events import Author, MessageCreated
from agent.identity.keys import ParticipantKind
from agent.places import Audience
from agent.privacy.erase import erase_identities
from agent.testing.app import running_agent
from plugins.message_proxy import MessageProxyPlugin
from plugins.message_proxy.values import Claim, Found, Member
from tests.plugins.bio_seeding.test_seeding import GENERAL, HOME, HOST, SETTINGS, registered

SECOND = Author(ParticipantKind.CONSOLE_USER, "second", "Second", "second")


def write_about(registration: Registration) -> MemoryWrite:
    speaker = registration.speaker
    now = datetime.now(UTC)
    source = MemorySource("console", registration.server_id, "home/general", "1", None, None, None, now)
    return MemoryWrite(
        WriteKind.CREATE,
        MemoryScope.PERSONAL,
        registration.server_id,
        speaker.user_id,
        1,
        "likes ivy",
        Audience.OPEN,
        Origin.MODEL,
        source,
        subject_user_id=speaker.user_id,
        about_proxy_identity=True,
        host_account_ids=speaker.host_account_ids,
    )


async def second_host(agent: Agent, level: PrivacyLevel = PrivacyLevel.FULL) -> int:
    entrance = await agent.core.people.enter(HOME, GENERAL, SECOND, datetime.now(UTC))
    await agent.core.privacy.set_level(entrance.account.account_id, level)
    return entrance.account.account_id


def plugin_of(agent: Agent) -> MessageProxyPlugin:
    found = agent.plugins.get("message_proxy")
    assert isinstance(found, MessageProxyPlugin)
    return found


async def link(agent: Agent, account_id: int) -> None:
    plugin = plugin_of(agent)
    instance = next(each for each in plugin.instances if each.name == "pluralkit")
    await plugin.registrar.link(instance.instance_id, "s", account_id, datetime.now(UTC))


async def test_a_host_that_was_added_since_the_first_question_counts_at_once(database_url: str) -> None:
    async with running_agent(database_url, SETTINGS) as agent:
        write = write_about(await registered(agent))
        assert await agent.core.guards.check_write(write) is None
        await link(agent, await second_host(agent))
        async with agent.core.store.transaction() as conn:
            denial = await agent.core.guards.recheck(conn, write)
        assert denial is not None
        assert denial.code is Refusal.HOST_PROTECTED
        deletion = replace(write, kind=WriteKind.DELETE)
        async with agent.core.store.transaction() as conn:
            assert await agent.core.guards.recheck(conn, deletion) is None


async def test_who_becomes_a_host_waits_for_a_save_that_is_under_way(database_url: str) -> None:
    async with running_agent(database_url, SETTINGS) as agent:
        write = write_about(await registered(agent))
        second = await second_host(agent)
        async with agent.core.store.transaction() as conn:
            assert await agent.core.guards.recheck(conn, write) is None
            linking = asyncio.create_task(link(agent, second))
            done, _ = await asyncio.wait({linking}, timeout=0.3)
            assert not done
        await asyncio.wait_for(linking, 5)
        assert await agent.core.guards.check_write(write) is not None


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_host_that_hides_meanwhile_wins_or_waits(database_url: str, *, is_known: bool) -> None:
    async with running_agent(database_url, SETTINGS) as agent:
        registration = await registered(agent)
        second = await second_host(agent, PrivacyLevel.NONE)
        await link(agent, second)
        write = write_about(registration)
        if is_known:
            write = replace(write, host_account_ids=tuple(sorted({*write.host_account_ids, second})))
        async with agent.core.store.transaction() as conn:
            assert await agent.core.guards.recheck(conn, write) is None
            hiding = asyncio.create_task(agent.core.privacy.set_level(second, PrivacyLevel.FULL))
            done, _ = await asyncio.wait({hiding}, timeout=0.3)
            assert not done  # it is confirmed after the save, and holds from then on
        await asyncio.wait_for(hiding, 5)
        async with agent.core.store.transaction() as conn:
            assert await agent.core.guards.recheck(conn, write) is not None


async def test_while_a_host_is_being_changed_nothing_is_known_of_it(database_url: str) -> None:
    async with running_agent(database_url, SETTINGS) as agent:
        write = write_about(await registered(agent))
        second = await second_host(agent, PrivacyLevel.NONE)
        await link(agent, second)
        async with agent.core.store.transaction() as other, agent.core.store.transaction() as conn:
            await other.execute("SELECT 1 FROM accounts WHERE account_id = $1 FOR NO KEY UPDATE", second)
            denial = await agent.core.guards.recheck(conn, write)
        assert denial is not None
        assert denial.code is Refusal.HOST_PROTECTED


async def test_without_a_guard_or_a_database_nothing_is_kept(database_url: str) -> None:
    async with running_agent(database_url, SETTINGS) as agent:
        write = write_about(await registered(agent))
        async with agent.core.store.connection() as conn:
            await conn.execute("ALTER TABLE message_proxy_namespace_accounts RENAME TO gone")
        denial = await agent.core.guards.check_write(write)
        assert denial is not None
        assert denial.code is Refusal.GUARD_FAILED
        async with agent.core.store.connection() as conn:
            await conn.execute("ALTER TABLE gone RENAME TO message_proxy_namespace_accounts")
    without = {"plugins": {name: {"enabled": True} for name in ("privacy", "memory")}}
    async with running_agent(database_url, without) as agent:
        denial = await agent.core.guards.check_write(write)
        assert denial is not None
        assert denial.code is Refusal.NO_GUARD


async def test_forgetting_and_attesting_at_once_end_in_one_order_or_the_other(database_url: str) -> None:
    async with running_agent(database_url, SETTINGS) as agent:
        plugin, now = plugin_of(agent), datetime.now(UTC)
        instance = next(each for each in plugin.instances if each.name == "pluralkit")
        registration = await registered(agent, "member")
        (account,) = await agent.core.people.find("console", "host")
        await plugin.repository.choose(account.account_id, instance.instance_id, now)
        moment = now
        for number in range(20):
            original = MessageCreated("console", f"o{number}", f"o{number}", HOME, GENERAL, HOST, "hello", moment)
            (expectation,) = await plugin.repository.expect(original, account, [instance])
            member = Member("member", "Wren")
            found = Found(f"r{number}", original.message_id, "host", GENERAL.external_id, "s", "Lark", member)
            claim = Claim(instance, found, member, "s", expectation)
            repost = replace(original, message_id=f"r{number}", event_id=f"r{number}", webhook_id="7")
            identities = await plugin.repository.identities_of(account.account_id)
            known, _ = await asyncio.wait_for(
                asyncio.gather(
                    plugin.registrar.register(claim, repost, now),
                    erase_identities(agent.core.store, agent.core.hooks, account, identities, now),
                ),
                5,
            )
            assert known is not None
        async with agent.core.store.connection() as conn:
            left = await conn.fetchval("SELECT count(*) FROM external_identities")
            users = await conn.fetchval("SELECT count(*) FROM users WHERE kind = 'synthetic'")
        assert left == users
        assert left in {0, 1}
        assert registration.is_new
