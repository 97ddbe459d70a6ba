"""Members of systems in a conversation, end to end on the loopback Discord."""

import asyncio

from agent.testing.scripted_model import ScriptedModel
from tests.plugins.message_proxy.world import proxy_world
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Message
from tests.servers.pluralkit import Behaviour, PluralKitServer


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


async def test_an_original_that_is_edited_while_it_waits_is_answered_as_it_stands_then(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host"), guild.channel("general")
    wren = pluralkit.system("Lark", str(host.id)).member("Wren")
    async with proxy_world(discord, pluralkit, database_url) as world:
        discord.say(host, general, "hello all")
        await world.use(host)
        await world.ended(*world.bot.proxy(host, general, wren, "to be seen"))
        asked = discord.say(host, general, f"the first words {discord.bot.mention}")
        await asyncio.sleep(0.1)
        discord.edit(asked, f"the second words {discord.bot.mention}")
        await discord.answer(general, after=asked)
        assert len(world.prompts()) == 1
        assert "the second words" in world.prompts()[0]
        assert "the first words" not in world.prompts()[0]


async def test_a_repost_that_is_edited_while_it_is_looked_up_is_answered_as_it_stands_then(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host"), guild.channel("general")
    wren = pluralkit.system("Lark", str(host.id)).member("Wren")
    async with proxy_world(discord, pluralkit, database_url) as world:
        discord.say(host, general, "hello all")
        await world.use(host)
        await world.ended(*world.bot.proxy(host, general, wren, "to be seen"))
        pluralkit.next(Behaviour.MISS)
        _, reposted = world.bot.proxy(host, general, wren, f"the first words {discord.bot.mention}")
        await asyncio.sleep(0.1)
        discord.edit(reposted, f"the second words {discord.bot.mention}")
        answer = await discord.answer(general, after=reposted)
        assert answer.reply_to == reposted.id
        assert "the second words" in world.prompts()[-1]


async def test_a_reply_to_the_agent_is_answered_though_the_service_takes_the_reply_away(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host"), guild.channel("general")
    wren = pluralkit.system("Lark", str(host.id)).member("Wren")
    async with proxy_world(discord, pluralkit, database_url) as world:
        said = discord.say(host, general, f"hello {discord.bot.mention}")
        answer = await discord.answer(general, after=said)
        await world.use(host)
        await world.ended(*world.bot.proxy(host, general, wren, "to be seen"))
        _, reposted = world.bot.proxy(host, general, wren, "and then?", reply_to=answer)
        second = await discord.answer(general, after=reposted)
        assert second.reply_to == reposted.id
        assert "in_reply_to" in world.prompts()[-1]


async def test_what_a_repost_answers_is_read_from_its_embed_where_the_original_does_not_tell(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host"), guild.channel("general")
    wren = pluralkit.system("Lark", str(host.id)).member("Wren")
    async with proxy_world(discord, pluralkit, database_url) as world:
        said = discord.say(host, general, f"hello {discord.bot.mention}")
        answer = await discord.answer(general, after=said)
        await world.use(host)
        await world.ended(*world.bot.proxy(host, general, wren, "to be seen"))

        async def reposted(link: str) -> Message:
            embed = {
                "author": {"name": "Isthmus\u2004\u21a9\ufe0f"},
                "description": f"**[Reply to:](https://discord.com/channels/{link})** Well.",
            }
            original = discord.say(host, general, "and then?")
            repost = world.bot.repost(original, general, wren, embeds=[embed])
            world.bot.commit(repost, original, wren)
            discord.delete(original)
            return repost

        elsewhere = await reposted(f"{guild.id + 1}/{general.id}/{answer.id}")
        assert await world.ended(elsewhere) == ["ignored"]
        answering = await reposted(f"{guild.id}/{general.id}/{answer.id}")
        second = await discord.answer(general, after=answering, matching=lambda one: one.reply_to == answering.id)
        assert second.reply_to == answering.id
        assert "in_reply_to" in world.prompts()[-1]
        assert f"channels/{guild.id}/{general.id}/{answer.id}" not in world.prompts()[-1]


async def test_nobody_is_pinged_for_a_member(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host"), guild.channel("general")
    wren = pluralkit.system("Lark", str(host.id)).member("Wren")
    model = ScriptedModel(default="Hello @{wren}!")
    async with proxy_world(discord, pluralkit, database_url, model=model) as world:
        discord.say(host, general, "hello all")
        await world.use(host)
        await world.ended(*world.bot.proxy(host, general, wren, "to be seen"))
        _, reposted = world.bot.proxy(host, general, wren, f"hello {discord.bot.mention}")
        answer = await discord.answer(general, after=reposted)
        assert answer.content == "Hello @wren!"
        assert answer.mentions == ()


async def test_what_a_service_without_a_word_reposts_is_nobodys(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host"), guild.channel("general")
    tupperbox = discord.webhook(general, "Tupperbox", application_id=431544605209788416)
    async with proxy_world(discord, pluralkit, database_url) as world:
        discord.say(host, general, "hello all")
        account_id = await world.account_id(host)
        instance = next(each for each in world.plugin.instances if each.name == "tupperbox")
        now = world.agent.core.clock.now()
        await world.plugin.repository.choose(account_id, instance.instance_id, now)
        await world.plugin.watching.load()
        seen = discord.post(tupperbox, "to be seen", username="Wren")
        await world.ended(seen)
        original = discord.say(host, general, f"w:hello {discord.bot.mention}")
        reposted = discord.post(tupperbox, f"hello {discord.bot.mention}", username="Wren")
        discord.delete(original)
        assert await world.ended(original, reposted) == ["ignored", "ignored"]
        asked = discord.say(host, general, f"just me {discord.bot.mention}")
        assert (await discord.answer(general, after=asked)).reply_to == asked.id
        assert len(world.model.requests) == 1
        assert pluralkit.requests == []
