"""Members of the fake platform: what agents are told of them; and the contract notices a bridge which is silent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from agent.app import Agent
from agent.bridge import BridgeHost
from agent.clock import ShiftedClock, SystemClock
from agent.directory_changes import (
    ChannelChanged,
    ChannelRemoved,
    DirectoryChange,
    MemberLeft,
    MembersSeen,
    ServerJoined,
    ServerLeft,
)
from agent.identity.arrivals import KEPT
from agent.identity.directory import Scope
from agent.identity.results import NotFound, Resolved
from agent.testing.app import running_agent
from agent.testing.contract import FullBridgeContract
from agent.testing.fake_bridge import FakeBridge, FakeBridgeSettings, bridge_section
from agent.testing.fake_platform import FakePlatform
from agent.testing.fake_remote import serve
from agent.testing.recording_host import RecordingHost
from agent.testing.scripted_model import ScriptedModel
from tests.agent.testing.fake_worlds import FakeWorld

type Change = Callable[[DirectoryChange], DirectoryChange | None]


async def stir(platform: FakePlatform) -> list[DirectoryChange]:
    """Let everything happen that can be told, and return what is told of it."""
    ana = platform.person("ana", display_name="Ana")
    await platform.members.join(ana, global_name="Ana Global")
    await platform.members.leave(ana)
    await platform.members.rename_channel("general", "lounge")
    await platform.members.remove_channel("general")
    await platform.members.admit_agent("other")
    await platform.members.expel_agent("other")
    server, channel = platform.place()
    other = replace(server, external_id="other", name="other")
    return [
        MembersSeen(server, platform.members._told(ana, global_name="Ana Global")),
        MemberLeft(server, ana.key),
        ChannelChanged(server, replace(channel, name="lounge")),
        ChannelRemoved(server, channel.external_id),
        ServerJoined(other),
        ServerLeft(other),
    ]


async def test_every_change_is_told_as_it_is() -> None:
    platform, host = FakePlatform(), RecordingHost()
    bridge = FakeBridge(platform=platform)
    await bridge.start(host)
    assert await stir(platform) == host.changes
    await bridge.stop()


async def test_every_change_crosses_processes(tmp_path: Path) -> None:
    platform, host = FakePlatform(), RecordingHost()
    await platform.members.join(platform.person("ben"))
    socket = tmp_path / "platform.sock"
    async with serve(platform, socket):
        section = bridge_section(platform, socket)
        section.pop("module")
        bridge = FakeBridge(FakeBridgeSettings(**section))
        await bridge.start(host)
        first = await host.told(lambda change: isinstance(change, MembersSeen) and change.is_complete)
        assert isinstance(first, MembersSeen)
        assert [member.external_id for member in first.members] == ["ben"]
        assert await stir(platform) == host.changes[1:]
        await bridge.stop()


async def test_who_was_cut_off_learns_what_is_so_when_back() -> None:
    platform, host = FakePlatform(), RecordingHost()
    bridge = FakeBridge(platform=platform)
    await bridge.start(host)
    platform.lose_connection()
    await platform.members.join(platform.person("ana"))
    assert host.changes == []
    platform.reconnect()
    await host.told(lambda change: isinstance(change, MembersSeen))
    await bridge.stop()


async def test_an_agent_knows_whom_its_bridge_tells_of(database_url: str) -> None:
    platform = FakePlatform()
    ana, ben = platform.person("ana", display_name="Ana Berg"), platform.person("ben")
    await platform.members.join(ana, ben)

    async def resolved(name: str) -> object:
        entrance = await core.people.enter(*platform.place(), ben, core.clock.now())
        persona = await core.personas.default(entrance.place.server.server_id)
        return await core.resolver.resolve(name, Scope(entrance.place, (), persona, persona.nickname))

    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=ScriptedModel()) as agent:
        core = agent.core
        await platform.settled()
        found = await resolved("ana berg")
        assert isinstance(found, Resolved)
        assert found.account.key == ana.key
        near = await resolved("ana bergg")
        assert isinstance(near, NotFound)
        assert [each.key for each in near.suggestions] == [ana.key]
        await platform.members.leave(ana)
        gone = await resolved("ana bergg")
        assert isinstance(gone, NotFound)
        assert gone.suggestions == ()
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=ScriptedModel()) as agent:
        core = agent.core
        await platform.members.join(replace(ana, display_name="Anna"))
        assert isinstance(await resolved("anna"), Resolved)


async def test_an_agent_purges_what_it_left_a_month_ago(database_url: str) -> None:
    platform = FakePlatform()
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=ScriptedModel()):
        await platform.members.join(platform.person("ana"))
        await platform.members.expel_agent("home")
    later = ShiftedClock(SystemClock().now() + KEPT + timedelta(minutes=1))
    async with running_agent(
        database_url, bridge=FakeBridge(platform=platform), model=ScriptedModel(), clock=later
    ) as agent:
        for _ in range(500):
            if not await servers(agent):
                break
            await asyncio.sleep(0.01)
        assert await servers(agent) == 0


async def servers(agent: Agent) -> int:
    async with agent.core.store.connection() as conn:
        return int(await conn.fetchval("SELECT count(*) FROM servers"))


class _Altering:
    """A host that is told something else, or nothing."""

    def __init__(self, host: BridgeHost, change: Change) -> None:
        self._host = host
        self._change = change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    async def observe(self, change: DirectoryChange) -> None:
        if (changed := self._change(change)) is not None:
            await self._host.observe(changed)


class Altering(FakeBridge):
    def __init__(self, platform: FakePlatform, change: Change) -> None:
        super().__init__(platform=platform)
        self._change = change

    async def start(self, host: BridgeHost) -> None:
        await super().start(cast("BridgeHost", _Altering(host, self._change)))


def nameless(change: DirectoryChange) -> DirectoryChange:
    if not isinstance(change, MembersSeen):
        return change
    return replace(change, members=tuple(replace(member, display_name=member.external_id) for member in change.members))


WRONG: list[tuple[str, Change]] = [
    ("test_members_are_told_at_the_start", lambda _: None),
    ("test_members_are_told_at_the_start", lambda change: None if getattr(change, "is_complete", False) else change),
    ("test_members_are_told_at_the_start", nameless),
    ("test_joins_and_renames_are_told", lambda change: change if getattr(change, "is_complete", False) else None),
    ("test_joins_and_renames_are_told", nameless),
    ("test_who_leaves_is_told", lambda change: None if isinstance(change, MemberLeft) else change),
]


@pytest.mark.parametrize(("test", "change"), WRONG)
async def test_silent_bridges_are_noticed(test: str, change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.testing.recording_host.PATIENCE", 0.2)
    platform = FakePlatform()
    world = FakeWorld(platform, Altering(platform, change))
    world.person = platform.person("ana", display_name="Ana Berg")
    with pytest.raises((AssertionError, TimeoutError)):
        await getattr(FullBridgeContract(), test)(world)
    await world.bridge.stop()
