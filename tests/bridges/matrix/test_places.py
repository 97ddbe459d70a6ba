"""Spaces, lone rooms, visibility, rights and invitations at a real homeserver."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest_asyncio

from agent.bridge import State
from agent.clock import ShiftedClock
from agent.directory_changes import ChannelChanged, MembersSeen, ServerLeft
from agent.events import MessageCreated, MessageDeleted
from agent.places import ServerKind, Visibility
from agent.testing.contract_steps import QUIET, heard, started
from agent.testing.recording_host import RecordingHost
from bridges.matrix import MatrixBridge
from bridges.matrix.settings import Invitations
from tests.bridges.matrix.worlds import MatrixWorld, settings_of
from tests.servers.synapse import Person, Synapse


@pytest_asyncio.fixture
async def world(synapse: Synapse) -> MatrixWorld:
    world = MatrixWorld(synapse)
    await world.prepare()
    return world


async def join_all(owner: Person, room: str, *people: Person) -> None:
    for each in people:
        await owner.invite(room, each.user_id)
        await each.join(room)


async def channel_told(host: RecordingHost, server: str, visibility: Visibility) -> ChannelChanged:
    change = await host.told(
        lambda each: (
            isinstance(each, ChannelChanged)
            and each.server.external_id == server
            and each.channel.visibility is visibility
        )
    )
    assert isinstance(change, ChannelChanged)
    return change


async def test_a_room_in_a_space_is_a_channel_of_it(world: MatrixWorld) -> None:
    space = await world.owner.create_space("Garden", power_level_content_override={"users": {world.ana.user_id: 50}})
    await join_all(world.owner, space, world.ana, world.account)
    async with started(world) as host:
        assert (await heard(world, host, "alone")).server.kind is ServerKind.ROOM
        await world.owner.put_in_space(space, world.room)
        await channel_told(host, space, Visibility.RESTRICTED)
        allow = [{"type": "m.room_membership", "room_id": space}]
        await world.owner.state(world.room, "m.room.join_rules", {"join_rule": "restricted", "allow": allow})
        await channel_told(host, space, Visibility.EVERYONE)
        event = await heard(world, host, "in the space")
        assert (event.server.external_id, event.server.name, event.server.kind) == (space, "Garden", ServerKind.GUILD)
        assert event.author.can_manage, "ana has 50 in the space"
        # What was decided stays, whatever one side says.
        await world.owner.state(space, "m.space.child", {}, world.room)
        assert (await heard(world, host, "still there")).server.external_id == space
        await world.owner.state(world.room, "m.room.encryption", {"algorithm": "m.megolm.v1.aes-sha2"})
        await channel_told(host, space, Visibility.RESTRICTED)


async def test_one_side_alone_puts_no_room_into_a_space(world: MatrixWorld) -> None:
    space = await world.ana.create_space("Trap")
    await join_all(world.ana, space, world.account)
    via = {"via": ["home.test"]}
    async with started(world) as host:
        await world.ana.state(space, "m.space.child", via, world.room)
        event = await heard(world, host, "hello")
        assert event.server.external_id == world.room
        assert not event.author.can_manage


async def test_members_of_a_space_are_those_of_all_its_rooms(world: MatrixWorld) -> None:
    space = await world.owner.create_space("Garden")
    await join_all(world.owner, space, world.account)
    await world.owner.put_in_space(space, world.room)
    async with started(world) as host:
        seen = await host.told(lambda each: isinstance(each, MembersSeen) and each.server.external_id == space)
        assert isinstance(seen, MembersSeen)
        assert {each.external_id for each in seen.members} == {world.owner.user_id, world.ana.user_id}
        assert seen.is_complete


async def test_a_room_that_the_agent_is_thrown_out_of_is_left(world: MatrixWorld) -> None:
    async with started(world) as host:
        await heard(world, host, "hello")
        await world.owner.call("POST", f"v3/rooms/{world.room}/kick", {"user_id": world.account.user_id})
        await host.told(lambda each: isinstance(each, ServerLeft) and each.server.external_id == world.room)
        await world.say("and now?")
        assert await host.rest(QUIET) == []


async def test_a_third_person_ends_a_direct_conversation(world: MatrixWorld) -> None:
    async with started(world) as host:
        await world.say_directly("between us")
        event = await host.next(MessageCreated)
        room = event.channel.external_id
        await world.ana.invite(room, world.owner.user_id)
        await world.ana.say(room, "no longer")
        event = await host.next(MessageCreated)
        assert event.server.kind is ServerKind.ROOM
        assert event.server.external_id == room


async def test_invitations_are_accepted_by_policy_and_declined_once(synapse: Synapse) -> None:
    account, ana, ben = [await synapse.person(name) for name in ("isthmus", "ana", "ben")]
    named = await ben.create_room("Named")
    policy = Invitations(people=(ana.user_id,), rooms=(named,), servers=("elsewhere.test",))
    bridge = MatrixBridge(settings_of(synapse, account, invitations=policy))
    host = RecordingHost()
    await bridge.start(host)
    try:
        welcome, unwelcome = await ana.create_room("Ana's"), await ben.create_room("Ben's")
        for owner, room in ((ana, welcome), (ben, unwelcome), (ben, named)):
            await owner.invite(room, account.user_id)
        await ana.joined(welcome, account.user_id)
        await ben.joined(named, account.user_id)
        await ben.joined(unwelcome, account.user_id, "leave")
        content = await ben.read_state(unwelcome, "m.room.member", account.user_id)
        assert content["reason"] == "I only join rooms that my operator lets me join."
        await asyncio.sleep(QUIET)
        leaves = [e for e in await ben.messages(unwelcome) if e.get("state_key") == account.user_id]
        assert [each["content"]["membership"] for each in leaves] == ["invite", "leave"]
    finally:
        await bridge.stop()


async def test_a_session_goes_on_with_its_token_and_begins_anew_when_it_was_ended(world: MatrixWorld) -> None:
    host = RecordingHost()
    state: State = host.state("matrix")
    await world.bridge.start(host)
    await world.bridge.stop()
    kept = host.states["matrix"]
    token, device = kept.values["access_token"], kept.values["device_id"]
    assert "access_token" in kept.secrets
    await world.bridge.start(host)
    await world.bridge.stop()
    assert (kept.values["access_token"], kept.values["device_id"]) == (token, device)
    await world.account.call("POST", "v3/logout/all", {})
    await world.bridge.start(host)
    await world.bridge.stop()
    assert kept.values["access_token"] != token
    assert await state.get("account") == f"{world.account.user_id} at {world.synapse.url}"


async def test_what_was_said_while_nobody_listened_comes_in_order_however_much(world: MatrixWorld) -> None:
    host = RecordingHost()
    await world.bridge.start(host)
    await world.bridge.stop()
    for number in range(70):  # more than one sync brings
        await world.say(f"said {number}")
    await world.bridge.start(host)
    try:
        texts = [(await host.next(MessageCreated)).text for _ in range(70)]
        assert texts == [f"said {number}" for number in range(70)]
        assert await host.rest(QUIET) == []
    finally:
        await world.bridge.stop()


async def test_what_was_said_too_long_ago_is_not_answered_and_deletions_still_count(synapse: Synapse) -> None:
    world = MatrixWorld(synapse)
    await world.prepare()
    host = RecordingHost()
    await world.bridge.start(host)
    gone = await world.say("soon gone")
    await host.next(MessageCreated)
    await world.bridge.stop()
    await world.say("anybody there?")
    await world.delete(gone)
    world.matrix._clock = ShiftedClock(datetime.now(UTC) + timedelta(minutes=6))
    await world.bridge.start(host)
    try:
        assert (await host.next(MessageDeleted)).message_id == gone
        assert await host.rest(QUIET) == []
        await world.say("and now?")  # who listens takes everything, whatever clock another server has
        assert (await host.next(MessageCreated)).text == "and now?"
    finally:
        await world.bridge.stop()
