"""Somebody is forgotten: the notices about them go from the platform, whatever dies in between."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent.app import Agent
from agent.commands import CommandReply
from agent.contracts.cards import CardKind
from agent.store.notices import WITHDRAWN, withdraw_notices
from agent.store.pool import ExternalServer, Store
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from tests.e2e.killed_agent import KilledAgent, killed_agent

SETTINGS: dict[str, Any] = {"plugins": {"memory": {}, "privacy": {}}}
PENDING = "SELECT count(*) AS n FROM outbox WHERE kind = 'withdraw' AND state = 'pending'"


async def forget(platform: FakePlatform, person: str) -> CommandReply:
    asked = await platform.run_command(person, "privacy", "forget-me")
    assert asked.data is not None
    return await platform.run_command(person, "privacy", "forget-me", code=asked.data["code"])


def cards(platform: FakePlatform) -> list[tuple[CardKind, str | None]]:
    return [(one.card.kind, one.card.about) for one in platform.from_agent if one.card is not None]


async def test_the_notices_about_a_person_go_with_them(database_url: str) -> None:
    platform = FakePlatform()
    async with running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform)) as agent:
        await platform.ask("ana", "remember that I like tea")
        await platform.ask("ben", "remember that I like coffee")
        await platform.ask("ana", "remember that game night is every Friday")
        await agent.idle()
        saved, told = CardKind.SAVED, CardKind.DISCLOSURE
        assert cards(platform) == [(saved, "ana"), (told, "ana"), (saved, "ben"), (told, "ben"), (saved, "home")]
        reply = await forget(platform, "ana")
        assert reply.data is not None
        assert reply.data["counts"]["notices"] == 2
        assert "2 notices that I take back" in reply.text
        await agent.idle()
        assert cards(platform) == [(saved, "ben"), (told, "ben"), (saved, "home")]
        await forget(platform, "ana")
        await agent.idle()
        assert len(platform.changes.withdrawn) == 2


async def test_a_deleted_message_takes_the_notice_along_that_repeats_it(database_url: str) -> None:
    platform = FakePlatform()
    async with running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform)) as agent:
        said = await platform.say("ana", "remember that the door code is 1234")
        await platform.answer(said)
        await agent.idle()
        await platform.delete(said)
        await agent.idle()
        [notice] = [one for one in platform.from_agent if one.card is not None]
        assert notice.card is not None
        assert notice.card.kind is CardKind.DELETED
        assert "1234" not in repr(notice)


async def test_whoever_serves_the_platform_hears_of_what_another_process_withdrew(database_url: str) -> None:
    platform = FakePlatform()
    async with running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform)) as agent:
        await platform.ask("ana", "remember that I like tea")
        await agent.idle()
        async with running_agent(database_url, SETTINGS) as other:
            await withdraw_all(other)
            async with asyncio.timeout(10):
                while platform.from_agent and cards(platform):  # noqa: ASYNC110 - the platform tells nobody
                    await asyncio.sleep(0.02)


async def withdraw_all(agent: Agent) -> None:
    core = agent.core
    async with core.store.transaction() as conn:
        accounts = [row["account_id"] for row in await conn.fetch("SELECT account_id FROM accounts")]
        await withdraw_notices(conn, core.clock.now(), accounts=accounts)
    core.revisions.announce(WITHDRAWN)


@pytest.mark.timeout(120)
async def test_killed_between_the_commit_and_the_withdrawal(database_url: str, tmp_path: Path) -> None:
    async with killed_agent(database_url, tmp_path, plugins={"privacy": {}}) as agent:
        for number, step in enumerate(("withdraw:before:1", "withdraw:after:1", "withdrawn:before:1")):
            person = f"person{number}"
            await agent.process.start()
            await agent.platform.ask(person, "remember that I like tea")
            await agent.settled()
            assert len(cards(agent.platform)) == 2
            asked = await agent.platform.run_command(person, "privacy", "forget-me")
            assert asked.data is not None
            agent.step_file.write_text(step)
            done = asyncio.ensure_future(
                agent.platform.run_command(person, "privacy", "forget-me", code=asked.data["code"])
            )
            assert await agent.process.ended() == -9, step
            await asyncio.wait({done})
            done.exception()
            assert (await agent.fetch(PENDING))[0]["n"], step
            await agent.process.start()
            await withdrawn(agent)
            assert cards(agent.platform) == [], step
            await agent.process.kill()


async def withdrawn(agent: KilledAgent) -> None:
    async with asyncio.timeout(20):
        while (await agent.fetch(PENDING))[0]["n"]:  # noqa: ASYNC110 - a database tells nobody
            await asyncio.sleep(0.02)


async def test_a_save_that_runs_beside_the_erasure_leaves_no_notice(database_url: str) -> None:
    """Ten saves about a person and their erasure at once: no notice about them stands anywhere afterwards."""
    platform = FakePlatform()
    async with (
        running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform)) as agent,
        Store(ExternalServer(database_url), size=2) as store,
    ):
        await platform.ask("ana", "remember that I like tea")
        asked = await platform.run_command("ana", "privacy", "forget-me")
        assert asked.data is not None
        saving = [
            asyncio.ensure_future(
                platform.say("ana", f"remember that I like tea number {number}", channel=f"c{number}")
            )
            for number in range(10)
        ]
        await asyncio.sleep(0.03)
        await platform.run_command("ana", "privacy", "forget-me", code=asked.data["code"])
        await asyncio.gather(*saving)
        await agent.idle()
        async with store.connection() as conn:
            left = await conn.fetchval("SELECT count(*) FROM personal_memories")
        shown = [one.card.memory_id for one in platform.from_agent if one.card and one.card.kind is CardKind.SAVED]
        assert len(shown) == left  # what was said afterwards may be kept, and is told of


async def test_a_notice_of_a_memory_goes_with_it_whoever_it_is_noted_to_be_about(database_url: str) -> None:
    """Accounts part, and take memories along: what tells of those is found by them."""
    platform = FakePlatform()
    async with running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform)) as agent:
        await platform.ask("ana", "remember that I like tea")
        await agent.idle()
        async with agent.core.store.connection() as conn:
            await conn.execute("UPDATE outbox SET about_accounts = '{}', about_users = '{}' WHERE about_users <> '{}'")
        reply = await forget(platform, "ana")
        assert reply.data is not None
        assert reply.data["counts"]["notices"] == 1
        await agent.idle()
        assert [kind for kind, _ in cards(platform)] == [CardKind.DISCLOSURE]
