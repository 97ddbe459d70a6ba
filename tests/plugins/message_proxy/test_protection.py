"""Host protection, end to end: what is remembered about a member needs the leave of every host."""

import pytest

from agent.contracts.people import PrivacyLevel
from agent.testing.scripted_model import ScriptedCall, ScriptedModel
from tests.plugins.message_proxy.world import ProxyWorld, proxy_world
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Channel, User
from tests.servers.pluralkit import PluralKitServer
from tests.servers.pluralkit.records import Member

REMEMBER = ScriptedCall(
    "create_long_term_memory",
    {"memory_content": "{user} likes foxgloves.", "memory_scope": "target_user", "target_user": "me"},
)


async def ask(world: ProxyWorld, who: User, channel: Channel, member: Member, text: str) -> str:
    """Let a member say something to the agent, and return the prompt or results that the model was shown last."""
    _, reposted = world.bot.proxy(who, channel, member, f"{text} {world.discord.bot.mention}")
    await world.discord.answer(channel, after=reposted, matching=lambda one: one.reply_to == reposted.id)
    await world.ended(reposted)
    return world.prompts()[-1]


async def personal(world: ProxyWorld) -> list[str]:
    rows = await world.rows("SELECT content FROM personal_memories ORDER BY personal_memory_id")
    return [row["content"] for row in rows]


async def test_a_member_has_memories_of_its_own_which_its_siblings_are_not_told(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general, other = guild.member("host"), guild.channel("general"), guild.member("other")
    system = pluralkit.system("Lark", str(host.id))
    wren, robin = system.member("Wren"), system.member("Robin")
    async with proxy_world(discord, pluralkit, database_url, model=ScriptedModel(default="Well.")) as world:
        discord.say(host, general, "hello")
        await world.use(host)
        await world.ended(*world.bot.proxy(host, general, wren, "to be seen"))
        world.model.say(REMEMBER)
        await ask(world, host, general, wren, "remember that I like foxgloves")
        assert await personal(world) == ["{user} likes foxgloves."]
        owners = await world.rows(
            "SELECT u.kind, p.source_message_id FROM personal_memories p JOIN users u USING (user_id)"
        )
        assert owners[0]["kind"] == "synthetic"
        assert "foxgloves" in await ask(world, host, general, wren, "what do I like?")
        told = await ask(world, host, general, robin, "what does she like?")
        assert "Wren likes foxgloves" not in told
        asked = discord.say(host, general, f"and I, unproxied? {discord.bot.mention}")
        await world.ended(asked)
        assert "Wren likes foxgloves" not in world.prompts()[-1]
        asked = discord.say(other, general, f"what does Wren like? {discord.bot.mention}")
        await world.ended(asked)
        assert "Wren likes foxgloves" in world.prompts()[-1]


async def test_a_member_that_takes_no_part_is_found_by_name_and_keeps_memories_of_its_own(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, other = guild.member("host"), guild.member("other")
    general, elsewhere = guild.channel("general"), guild.channel("elsewhere")
    wren = pluralkit.system("Lark", str(host.id)).member("Wren")
    async with proxy_world(discord, pluralkit, database_url, model=ScriptedModel(default="Well.")) as world:
        discord.say(host, general, "hello")
        await world.use(host)
        await world.ended(*world.bot.proxy(host, general, wren, "to be seen"))
        about_wren = {"memory_content": "{user} likes tea.", "memory_scope": "target_user", "target_user": "Wren"}
        world.model.say(ScriptedCall("create_long_term_memory", about_wren))
        asked = discord.say(other, elsewhere, f"Wren likes tea {discord.bot.mention}")
        await world.ended(asked)
        owners = await world.rows("SELECT u.kind FROM personal_memories JOIN users u USING (user_id)")
        assert [row["kind"] for row in owners] == ["synthetic"]
        # Somebody of the same name makes it ambiguous.
        await world.account_id(guild.member("wren2", nick="Wren"))
        world.model.say(ScriptedCall("create_long_term_memory", about_wren | {"memory_content": "more"}))
        asked = discord.say(other, elsewhere, f"Wren likes more {discord.bot.mention}")
        await world.ended(asked)
        assert "memory_save_failed_ambiguous_user" in world.prompts()[-1]
        assert len(await personal(world)) == 1


@pytest.mark.parametrize("reason", ["full", "blacklist", "second_host_full", "nobody"])
async def test_a_host_that_forbids_it_keeps_everything_from_being_kept(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str, reason: str
) -> None:
    guild = discord.guild("Garden")
    host, second, general = guild.member("host"), guild.member("second"), guild.channel("general")
    wren = pluralkit.system("Lark", str(host.id), str(second.id)).member("Wren")
    async with proxy_world(discord, pluralkit, database_url, model=ScriptedModel(default="Well.")) as world:
        discord.say(host, general, "hello")
        discord.say(second, general, "hello")
        await world.use(host)
        await world.account_id(second)
        await world.ended(*world.bot.proxy(host, general, wren, "to be seen"))
        now, privacy = world.agent.core.clock.now(), world.agent.core.privacy
        (server,) = await world.rows("SELECT server_id FROM servers WHERE platform = 'discord'")
        if reason == "full":
            await privacy.set_level(await world.account_id(host), PrivacyLevel.FULL)
        elif reason == "blacklist":
            await privacy.blacklist_add(server["server_id"], await world.account_id(host), now)
        elif reason == "second_host_full":
            await privacy.set_level(await world.account_id(second), PrivacyLevel.FULL)
            instance = next(each for each in world.plugin.instances if each.name == "loopback")
            account_id = await world.account_id(second)
            await world.plugin.choosing.probe(account_id, str(second.id), instance.instance_id)
        world.model.say(REMEMBER)
        _, reposted = world.bot.proxy(host, general, wren, f"remember that I like foxgloves {discord.bot.mention}")
        if reason == "nobody":
            async with world.agent.core.store.connection() as conn:
                await world.ended(reposted)
                await conn.execute("DELETE FROM message_proxy_namespace_accounts")
                await conn.execute("DELETE FROM personal_memories")
            (row,) = await world.rows("SELECT user_id FROM external_identities")
            protection = world.plugin.protection
            assert await protection.get_message_proxy_host_protection((row["user_id"],), server["server_id"])
            return
        await world.ended(reposted)
        assert await personal(world) == []
        if reason != "full":  # whoever is FULL is not answered with tools at all
            results = world.prompts()[-1]
            assert "memory_save_failed" in results
            assert "Lark" not in results.split("memory_save_failed")[1]
            assert str(second.id) not in results
