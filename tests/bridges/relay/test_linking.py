"""Links: asked for, made, refused and ended, with whoever may do that."""

from __future__ import annotations

import pytest

from tests.bridges.relay.worlds import RelayWorld, Service, eventually, relay_world
from tests.servers.discord.choices import NotOffered
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import EVERYONE, Permission
from tests.servers.discord.records import User

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts
ENCRYPTION = {"algorithm": "m.megolm.v1.aes-sha2"}


def manager(world: RelayWorld) -> User:
    return world.guild.member("boss", roles=[world.guild.role("Chief", EVERYONE | Permission.MANAGE_GUILD)])


async def state(world: RelayWorld, wanted: str | None) -> None:
    """Return when the one link is in a state, with its reason; None: when there is none."""
    rows = world.relay._started.ties.rows
    expected = [] if wanted is None else [wanted]
    await eventually(rows.links, lambda links: [f"{each.state}:{each.reason or ''}" for each in links] == expected)


async def test_a_manager_of_each_side_makes_a_link(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url, linked=False) as world:
        boss = manager(world)
        with pytest.raises(NotOffered):
            await discord.slash(world.mara, world.general, "matrix link", {"room": world.room})
        asked = await discord.slash(boss, world.general, "matrix link", {"room": world.room})
        assert world.bot.replace("_", "\\_") in asked.text or world.bot in asked.text
        assert (
            f"#general of {world.guild.name}" in (await world.in_room("Whoever manages this room"))["content"]["body"]
        )
        dan = await service.synapse.person("dan")
        await world.cyn.invite(world.room, dan.user_id)
        await dan.join(world.room)
        await dan.say(world.room, "!matrix accept")  # who does not manage the room
        await state(world, "asked:not_accepted")
        await world.cyn.say(world.room, "!matrix accept")
        await world.in_room("This room is now joined")
        assert (await discord.slash(boss, world.general, "matrix list")).text.startswith("\\#general: ")
        again = await discord.slash(boss, world.general, "matrix link", {"room": "!other:home.test"})
        assert "already" in again.text
        await discord.slash(boss, world.general, "matrix unlink")
        await state(world, None)
        await world.in_channel("is not joined")
        await world.cyn.say(world.room, "after the end")
        await world.settled()
        assert "after the end" not in world.contents()


async def test_an_invitation_by_anybody_is_no_consent(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url, linked=False) as world:
        boss, dan = manager(world), await service.synapse.person("dan")
        power = {"users_default": 0, "invite": 0}
        room = await dan.create_room("Open", power_level_content_override=power)
        await dan.invite(room, world.cyn.user_id)
        await world.cyn.join(room)
        await discord.slash(boss, world.general, "matrix link", {"room": room})
        await state(world, "asked:not_invited")
        await world.cyn.invite(room, world.bot)  # who does not manage the room
        await dan.joined(room, world.bot, "leave")
        await state(world, "asked:not_invited")
        await dan.invite(room, world.bot)
        await state(world, "asked:not_accepted")
        await dan.say(room, "!matrix  accept")
        await state(world, "linked:")


async def test_an_encrypted_room_is_refused(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url, linked=False) as world:
        await world.cyn.state(world.room, "m.room.encryption", ENCRYPTION)
        rows = world.relay._started.ties.rows
        await rows.ask(world.room, "discord", str(world.guild.id), str(world.general.id), is_agreed=True)
        await world.in_room("encrypted")
        await world.in_channel("encrypted")
        await state(world, None)


async def test_encryption_that_is_switched_on_ends_a_link(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url) as world:
        await world.cyn.state(world.room, "m.room.encryption", ENCRYPTION)
        await state(world, None)
        discord.say(world.mara, world.general, "not for the room")
        await world.in_room("encrypted")
        await world.settled()
        assert not [each for each in await world.bodies() if "not for the room" in each]


async def test_where_encryption_is_unknown_nothing_is_linked(
    service: Service, discord: LoopbackDiscord, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bridges.relay.homeserver import HomeserverRefused

    async with relay_world(service, discord, database_url, linked=False) as world:
        home = world.relay._started.ties.home
        refusals: list[Exception] = [HomeserverRefused(403, "M_FORBIDDEN", "no"), HomeserverRefused(404, "", "proxy")]
        real = home.is_encrypted

        async def is_encrypted(room: str) -> bool:
            if refusals:
                raise refusals.pop()
            return await real(room)

        monkeypatch.setattr(home, "is_encrypted", is_encrypted)
        rows = world.relay._started.ties.rows
        await rows.ask(world.room, "discord", str(world.guild.id), str(world.general.id), is_agreed=True)
        world.relay._started.linking.wake()
        await state(world, "asked:unknown_encryption")
        await state(world, "linked:")


async def test_removing_the_agent_ends_a_link(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url) as world:
        await world.cyn.call("POST", f"v3/rooms/{world.room}/kick", {"user_id": world.bot})
        await world.in_channel("removed from the room")
        await state(world, None)


async def test_a_link_follows_a_room_that_is_upgraded(
    service: Service, discord: LoopbackDiscord, database_url: str
) -> None:
    async with relay_world(service, discord, database_url) as world:
        upgraded = await world.cyn.call("POST", f"v3/rooms/{world.room}/upgrade", {"new_version": "11"})
        new = upgraded["replacement_room"]
        await world.cyn.invite(new, world.bot)
        rows = world.relay._started.ties.rows
        await eventually(rows.links, lambda links: [each.room_id for each in links] == [new])
        await eventually(rows.links, lambda links: new in world.relay._started.ties.links.by_room)
        await world.cyn.say(new, "in the new room")
        await world.in_channel("in the new room")


async def test_a_link_lasts_beyond_a_restart(service: Service, discord: LoopbackDiscord, database_url: str) -> None:
    async with relay_world(service, discord, database_url) as world:
        room, cyn, general = world.room, world.cyn, world.general
    await cyn.say(room, "said while nobody listened")
    from agent.testing.app import running_agent
    from agent.testing.scripted_model import ScriptedModel
    from bridges.discord import DiscordBridge
    from bridges.relay import RelayBridge
    from tests.bridges.discord.worlds import settings_of

    relay = RelayBridge(world.relay.settings, tokens=service.tokens)
    bridges = (DiscordBridge(settings_of(discord)), relay)
    async with running_agent(database_url, bridge=bridges, model=ScriptedModel(default="Well.")):
        await world.in_channel("said while nobody listened", channel=general)
