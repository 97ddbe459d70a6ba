"""Members of systems in a conversation, end to end on the loopback Discord."""

from tests.plugins.message_proxy.world import proxy_world
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.pluralkit import PluralKitServer


async def test_a_member_is_answered_once_and_by_its_own_name(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host", nick="Host"), guild.channel("general")
    wren = pluralkit.system("Lark", str(host.id)).member("Wren", pronouns="they/them")
    async with proxy_world(discord, pluralkit, database_url) as world:
        discord.say(host, general, "hello all")
        await world.agent.idle()
        await world.use(host)
        # The first time nobody knows yet that the service is used in this channel.
        _, reposted = world.bot.proxy(host, general, wren, f"Hello {discord.bot.mention}")
        answer = await discord.answer(general, after=reposted)
        await world.agent.idle()
        assert answer.reply_to == reposted.id
        _, again = world.bot.proxy(host, general, wren, f"And again {discord.bot.mention}")
        answer = await discord.answer(general, after=again)
        await world.agent.idle()
        assert answer.reply_to == again.id
        assert '"from": "Wren"' in world.prompts()[-1]
        assert "they/them" in world.prompts()[-1]
        assert len([each for each in discord.messages(general) if discord.is_own(each)]) == 2


async def test_a_message_that_is_not_reposted_is_answered_as_the_account(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host", nick="Host"), guild.channel("general")
    wren = pluralkit.system("Lark", str(host.id)).member("Wren")
    async with proxy_world(discord, pluralkit, database_url) as world:
        discord.say(host, general, "hello all")
        await world.agent.idle()
        await world.use(host)
        await world.ended(*world.bot.proxy(host, general, wren, "only to be seen"))
        asked = discord.say(host, general, f"It is me {discord.bot.mention}")
        answer = await discord.answer(general, after=asked)
        await world.agent.idle()
        assert answer.reply_to == asked.id
        assert '"from": "Host"' in world.prompts()[0]
        assert '"from": "Wren"' in world.prompts()[0]  # in the history
