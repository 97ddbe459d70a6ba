"""What people decide about their own proxying, and about each of their identities."""

import asyncio
from typing import Any

from agent.commands import CommandReply
from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.places import ChannelRef, ServerRef
from agent.testing.scripted_model import ScriptedModel
from tests.plugins.message_proxy.test_protection import REMEMBER, ask, personal
from tests.plugins.message_proxy.world import ProxyWorld, proxy_world
from tests.servers.discord.guilds import Guild
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Channel, User
from tests.servers.pluralkit import PluralKitServer


async def run(world: ProxyWorld, path: str, user: User, guild: Guild, channel: Channel, **options: Any) -> CommandReply:
    """Run a command as somebody, in the channel where they talk."""
    author = Author(ParticipantKind.DISCORD_USER, str(user.id), user.name, user.name)
    server, place = ServerRef("discord", str(guild.id), "Garden"), ChannelRef(str(channel.id), channel.name or "")
    return await world.agent.run_command(tuple(path.split()), options, server, place, author)


async def hosts_of(world: ProxyWorld, system: str, expected: list[int]) -> None:
    """Wait until a system has these hosts."""
    query = (
        "SELECT account_id FROM message_proxy_namespace_accounts JOIN message_proxy_namespaces USING (namespace_id)"
        " WHERE namespace_key = $1 ORDER BY account_id"
    )
    async with asyncio.timeout(5):
        while True:
            if [row["account_id"] for row in await world.rows(query, system)] == expected:
                return
            await asyncio.sleep(0.01)


async def test_somebody_begins_and_ends_to_use_a_service(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host"), guild.channel("general")
    system = pluralkit.system("Lark", str(host.id))
    async with proxy_world(discord, pluralkit, database_url) as world:
        discord.say(host, general, "hello")
        account_id = await world.account_id(host)
        unknown = await run(world, "personal proxy set", host, guild, general, service="nothing")
        assert not unknown.ok
        assert "loopback" in unknown.text
        status = await run(world, "personal proxy status", host, guild, general)
        assert status.data == {"services": []}
        assert (await run(world, "personal proxy set", host, guild, general, service="Loopback")).ok
        assert (await run(world, "personal proxy status", host, guild, general)).data == {"services": ["loopback"]}
        await hosts_of(world, system.uuid, [account_id])
        assert (await run(world, "personal proxy off", host, guild, general)).data == {"changed": True}
        assert (await run(world, "personal proxy off", host, guild, general)).data == {"changed": False}
        assert account_id not in world.plugin.watching.users
        untold = await run(world, "personal proxy set", host, guild, general, service="tupperbox")
        assert "cannot tell me who speaks" in untold.text


async def test_each_identity_has_pages_of_its_own_also_while_proxying_is_off(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, other, general = guild.member("host"), guild.member("other"), guild.channel("general")
    system = pluralkit.system("Lark", str(host.id))
    wren, robin = system.member("Wren"), system.member("Robin")
    async with proxy_world(discord, pluralkit, database_url, model=ScriptedModel(default="Well.")) as world:
        discord.say(host, general, "hello")
        discord.say(other, general, "hello")
        await world.use(host)
        await world.account_id(other)
        await world.ended(*world.bot.proxy(host, general, robin, "to be seen"))
        world.model.say(REMEMBER)
        await ask(world, host, general, wren, "remember that I like foxgloves")
        await run(world, "personal proxy off", host, guild, general)

        known = await run(world, "personal proxy identities", host, guild, general)
        assert known.data is not None
        assert [each["name"] for each in known.data["identities"]] == ["Robin", "Wren"]
        shown = await run(world, "personal memories list", host, guild, general, identity="wren")
        assert "Wren likes foxgloves" in shown.text
        assert "foxgloves" not in (await run(world, "personal memories list", host, guild, general)).text
        assert (
            "foxgloves" not in (await run(world, "personal memories list", host, guild, general, identity="Robin")).text
        )
        refused = await run(world, "personal memories list", other, guild, general, identity="Wren")
        assert not refused.ok
        assert shown.data is not None
        memory_id = shown.data["memories"][0]["memory_id"]
        edited = await run(
            world,
            "personal memories edit",
            host,
            guild,
            general,
            id=memory_id,
            text="{user} likes ivy",
            identity="Wren",
        )
        assert edited.ok, edited.text
        added = await run(
            world, "personal memories add", host, guild, general, text="{user} likes tea", identity="Wren"
        )
        assert added.ok, added.text
        assert await personal(world) == ["{user} likes ivy", "{user} likes tea"]
        not_theirs = await run(world, "personal memories remove", other, guild, general, ids=str(memory_id))
        assert not not_theirs.ok
        removed = await run(
            world, "personal memories remove", host, guild, general, ids=str(memory_id), identity="Wren"
        )
        assert removed.ok, removed.text
        assert not (await run(world, "personal memories undo", other, guild, general, id=memory_id)).ok
        # A button of a card gives the id alone.
        back = await run(world, "personal memories undo", host, guild, general, id=memory_id)
        assert back.ok, back.text
        assert not (await run(world, "personal memories why", other, guild, general, id=memory_id)).ok
        assert (await run(world, "personal memories why", host, guild, general, id=memory_id)).ok


async def test_identities_are_forgotten_one_by_one_or_all_together(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host"), guild.channel("general")
    system = pluralkit.system("Lark", str(host.id))
    wren, robin = system.member("Wren"), system.member("Robin")
    async with proxy_world(discord, pluralkit, database_url, model=ScriptedModel(default="Well.")) as world:
        discord.say(host, general, "hello")
        await world.use(host)
        await world.ended(*world.bot.proxy(host, general, robin, "to be seen"))
        world.model.say(REMEMBER)
        await ask(world, host, general, wren, "remember that I like foxgloves")
        assert await personal(world) == ["{user} likes foxgloves."]
        asked = await run(world, "personal proxy forget-identity", host, guild, general, name="Wren")
        assert asked.data is not None
        wrong = await run(world, "personal proxy forget-system", host, guild, general, code=asked.data["code"])
        assert not wrong.ok
        done = await run(
            world, "personal proxy forget-identity", host, guild, general, name="Wren", code=asked.data["code"]
        )
        assert done.ok, done.text
        assert await personal(world) == []
        assert await world.rows("SELECT 1 FROM forgotten_memories") == []
        known = await run(world, "personal proxy identities", host, guild, general)
        assert known.data is not None
        assert [each["name"] for each in known.data["identities"]] == ["Robin"]
        asked = await run(world, "personal proxy forget-system", host, guild, general)
        assert asked.data is not None
        done = await run(world, "personal proxy forget-system", host, guild, general, code=asked.data["code"])
        assert done.ok
        assert await world.rows("SELECT 1 FROM external_identities") == []
        assert await world.rows("SELECT 1 FROM users WHERE kind = 'synthetic'") == []


async def test_everything_about_an_account_goes_when_it_is_forgotten(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host"), guild.channel("general")
    wren = pluralkit.system("Lark", str(host.id)).member("Wren")
    async with proxy_world(discord, pluralkit, database_url) as world:
        discord.say(host, general, "hello")
        await world.use(host)
        await world.ended(*world.bot.proxy(host, general, wren, "to be seen"))
        export = await run(world, "privacy export", host, guild, general)
        assert export.file is not None
        assert b"Wren" in export.file.content
        asked = await run(world, "privacy forget-me", host, guild, general)
        assert asked.data is not None
        options = {"code": asked.data["code"], "identities": "keep"}
        assert (await run(world, "privacy forget-me", host, guild, general, **options)).ok
        for table in ("choices", "expectations", "message_index", "namespace_accounts"):
            assert await world.rows(f"SELECT 1 FROM message_proxy_{table}") == [], table  # noqa: S608 - names of this test
        assert world.plugin.watching.users == {}
