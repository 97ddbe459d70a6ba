import nextcord
import pytest

from tests.servers.discord.clients import Client, redirected, running
from tests.servers.discord.events import Intent
from tests.servers.discord.loopback import LoopbackDiscord


async def test_a_client_logs_in_and_knows_its_servers_and_members(discord: LoopbackDiscord) -> None:
    guild = discord.guild("Garden")
    role = guild.role("Gardeners")
    mara = guild.member("mara", roles=[role], nick="Mara of the garden")
    general = guild.channel("general", topic="Talk")
    async with running(discord) as client:
        assert client.user is not None
        assert client.user.id == discord.bot.id
        seen = client.get_guild(guild.id)
        assert seen is not None
        assert seen.name == "Garden"
        assert seen.chunked
        member = seen.get_member(mara.id)
        assert member is not None
        assert member.display_name == "Mara of the garden"
        assert [one.name for one in member.roles] == ["@everyone", "Gardeners"]
        channel = seen.get_channel(general.id)
        assert isinstance(channel, nextcord.TextChannel)
        assert channel.topic == "Talk"


async def test_a_wrong_token_is_refused(discord: LoopbackDiscord) -> None:
    async with redirected(discord):
        client = Client(intents=nextcord.Intents.default())
        with pytest.raises(nextcord.LoginFailure):
            await client.start("wrong")
        await client.close()


async def test_a_token_that_is_no_longer_good_closes_the_gateway_with_4004(discord: LoopbackDiscord) -> None:
    async with running(discord) as client:
        discord.gateway.token = "another"
        discord.gateway.invalidate(resumable=False)
        await client.hears("disconnect")
        await discord.until(lambda: 4004 in discord.gateway.closes, 20)


async def test_a_privileged_intent_that_is_switched_off_closes_with_4014(discord: LoopbackDiscord) -> None:
    discord.deny_intents(Intent.MESSAGE_CONTENT)
    with pytest.raises(nextcord.PrivilegedIntentsRequired):
        async with running(discord):
            pass
    assert discord.gateway.closes == [4014]
