"""Ten ways in which two platforms that echo each other would never end; each ends at once."""

from __future__ import annotations

from typing import Any

import pytest

from agent.testing.scripted_model import ScriptedModel
from bridges.relay.intake import taken
from bridges.relay.names import Names
from tests.bridges.relay.test_transactions import bring, message
from tests.bridges.relay.worlds import RelayWorld, Service, relay_world
from tests.servers.discord.loopback import LoopbackDiscord

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts
EXECUTE = "/webhooks/{webhook_id}/{webhook_token}"


async def counts(world: RelayWorld) -> tuple[int, int]:
    """How much stands on either side, when nothing moves any more."""
    await world.settled()
    await world.settled()
    events = [each for each in await world.cyn.messages(world.room, 100) if each["type"] != "m.room.member"]
    return len(events), len(discord_ids(world))


def discord_ids(world: RelayWorld) -> list[int]:
    return [each.id for each in world.discord.messages(world.general)]


async def test_1_echoes_of_its_own_users(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url) as world:
        discord.say(world.mara, world.general, "hello")
        event = await world.in_room("hello")
        before = await counts(world)
        ghost = {**message(world, "echo", "hello again"), "sender": event["sender"]}
        assert (
            await bring(world, event | {"room_id": world.room}, ghost, {**ghost, "sender": world.bot, "event_id": "$b"})
            == 200
        )
        assert await counts(world) == before


async def test_2_echoes_of_its_own_webhook_before_the_answer(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url) as world:
        for _ in range(3):  # the gateway tells of each, and its answer never comes
            discord.faults.lose(method="POST", path=EXECUTE)
            await world.cyn.say(world.room, "echo?")
        await discord.until(lambda: world.contents().count("echo?") == 3, 20, "three")
        await world.settled()
        assert (await world.bodies()).count("echo?") == 3
        assert world.model.requests == []


async def test_3_previews_of_its_own_webhooks_messages(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url) as world:
        await world.cyn.say(world.room, "look https://example.org")
        posted = await world.in_channel("look")
        before = await counts(world)
        discord.preview(posted, {"title": "Example", "url": "https://example.org", "type": "link"})
        assert await counts(world) == before
        own = discord.say(world.mara, world.general, "see https://example.org")
        await world.in_room("see https://example.org")
        before = await counts(world)
        discord.preview(own, {"title": "Example", "url": "https://example.org", "type": "link"})
        assert await counts(world) == before


async def test_4_another_bridge_in_the_same_room(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url) as world:
        other = discord.webhook(world.general, "_matrix")
        before = await counts(world)
        discord.post(other, "what cyn said", username="Cyn")
        assert await counts(world) == (before[0], before[1] + 1)
        server = (await world.relay._started.ties.mouth.where(str(world.general.id)) or (None,))[0]
        assert server is not None
        await world.agent.relaying.trust(server, str(other.id))
        discord.post(other, "what cyn said next", username="Cyn")
        assert await counts(world) == (before[0], before[1] + 2)


async def test_5_notices_of_machines(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url) as world:
        before = await counts(world)
        mentions = {"m.mentions": {"user_ids": [world.bot]}}
        await world.cyn.send(world.room, {"msgtype": "m.notice", "body": f"{world.bot} beep", **mentions})
        machine = discord.user("beeper", bot=True)
        world.guild.member(machine)
        discord.say(machine, world.general, f"{discord.bot.mention} boop")
        assert await counts(world) == (before[0] + 1, before[1] + 1)
        assert world.model.requests == []


async def test_6_its_own_answer_is_no_question(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    model = ScriptedModel(default="Isthmus says: ask Isthmus.")
    async with relay_world(service, discord, database_url, model=model) as world:
        await world.cyn.ask(world.room, world.bot, "who knows?")
        await world.in_room("ask Isthmus")
        await counts(world)
        assert len(model.requests) == 1


def test_6_another_account_of_the_agents_in_the_room() -> None:
    names, room = Names("_isthmus_", "isthmus_relay", "home.test"), "!room"
    event = {"type": "m.room.message", "event_id": "$1", "room_id": room, "sender": "@isthmus:home.test", "content": {}}
    assert taken([event], names, {room}, {"@isthmus:home.test"}).heard == ()
    assert len(taken([event], names, {room}, ()).heard) == 1


async def test_7_a_redaction_ends_with_the_deletion(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url) as world:
        said = await world.cyn.say(world.room, "gone soon")
        await world.in_channel("gone soon")
        await world.cyn.redact(world.room, said)
        await discord.until(lambda: "gone soon" not in world.contents(), 10, "no message")
        own = discord.say(world.mara, world.general, "gone as well")
        await world.in_room("gone as well")
        discord.delete(own)
        await counts(world)
        redactions = [each for each in await world.cyn.messages(world.room, 100) if each["type"] == "m.room.redaction"]
        assert len(redactions) == 2
        deletions = discord.calls("DELETE", "/channels/{channel_id}/messages/{message_id}")
        deletions += discord.calls("DELETE", "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}")
        assert len(deletions) <= 2  # as the bot, and where that may not, through the webhook


async def test_8_its_own_reaction_is_no_reaction(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url) as world:
        said = await world.cyn.say(world.room, "lunch?")
        await world.in_channel("lunch?")
        await world.cyn.react(world.room, said, "👍")
        await discord.called("PUT", "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me")
        await counts(world)
        reactions = [each for each in await world.cyn.messages(world.room, 100) if each["type"] == "m.reaction"]
        assert [each["sender"] for each in reactions] == [world.cyn.user_id]


async def test_9_a_transaction_that_comes_again(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url) as world:
        event = message(world, 1, "only once")
        for _ in range(4):
            assert await bring(world, event, event) == 200
        await world.in_channel("only once")
        await counts(world)
        assert world.contents().count("only once") == 1


async def test_10_what_a_proxy_service_says_and_is_told(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url) as world:
        before = await counts(world)
        proxy = discord.webhook(world.general, "PluralKit", application_id=466378653216014359)
        discord.post(proxy, "as another member now", username="Luna")
        discord.post(proxy, "as another member now", username="Sol")  # reproxied
        assert await counts(world) == (before[0], before[1] + 2)
        assert world.model.requests == []


def test_nothing_is_kept_of_rooms_that_are_not_linked() -> None:
    names = Names("_isthmus_", "isthmus_relay", "home.test")
    event: dict[str, Any] = {
        "type": "m.room.message",
        "event_id": "$1",
        "room_id": "!r",
        "sender": "@c:d",
        "content": {},
    }
    member = {**event, "type": "m.room.member", "state_key": names.agent, "content": {"membership": "invite"}}
    assert taken([event], names, (), ()).heard == ()
    assert len(taken([member], names, (), ()).heard) == 1
    assert taken([{**member, "state_key": "@other:d"}], names, (), ()).heard == ()
