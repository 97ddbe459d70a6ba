"""Systems and their members, as they come, go, hide and share: keys hold, names prove nothing."""

from tests.plugins.message_proxy.world import ProxyWorld, proxy_world
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Channel, Message, User
from tests.servers.pluralkit import Behaviour, PluralKitServer
from tests.servers.pluralkit.records import Member


async def speak(world: ProxyWorld, who: User, channel: Channel, member: Member, text: str = "hello") -> Message:
    original, reposted = world.bot.proxy(who, channel, member, text)
    await world.ended(original, reposted)
    return reposted


async def identities(world: ProxyWorld) -> list[tuple[str, str | None, str]]:
    rows = await world.rows(
        "SELECT i.name, i.pronouns, n.name AS system FROM message_proxy_identities i"
        " JOIN message_proxy_namespaces n USING (namespace_id) ORDER BY n.name, i.user_id"
    )
    return [(row["name"], row["pronouns"], row["system"]) for row in rows]


async def hosts(world: ProxyWorld, system: str) -> list[str]:
    rows = await world.rows(
        "SELECT a.username FROM message_proxy_namespace_accounts h JOIN accounts a USING (account_id)"
        " JOIN message_proxy_namespaces n USING (namespace_id) WHERE n.namespace_key = $1 ORDER BY a.username",
        system,
    )
    return [row["username"] for row in rows]


async def test_a_member_keeps_its_key_through_new_names_and_hides_what_its_service_hides(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host"), guild.channel("general")
    system = pluralkit.system("Lark", str(host.id))
    wren = system.member("wren-real", display_name="Wren", pronouns="they/them")
    async with proxy_world(discord, pluralkit, database_url) as world:
        discord.say(host, general, "hello")
        await world.use(host)
        await speak(world, host, general, wren)
        assert await identities(world) == [("Wren", "they/them", "Lark")]
        wren.display_name, wren.pronouns = "Robin", "she/her"
        system.name = "Sparrow"
        await speak(world, host, general, wren)
        assert await identities(world) == [("Robin", "she/her", "Sparrow")]
        wren.is_private = wren.name_is_private = system.name_is_private = True
        await speak(world, host, general, wren)
        assert await identities(world) == [("Robin", None, "")]
        assert len(await world.rows("SELECT 1 FROM users WHERE kind = 'synthetic'")) == 1


async def test_a_member_that_was_deleted_is_nobody(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host"), guild.channel("general")
    wren = pluralkit.system("Lark", str(host.id)).member("Wren")
    async with proxy_world(discord, pluralkit, database_url) as world:
        discord.say(host, general, "hello")
        await world.use(host)
        for gone in (Behaviour.NO_MEMBER, Behaviour.NO_SYSTEM, Behaviour.OTHER_ID, Behaviour.OTHER_SENDER):
            pluralkit.next(gone)
            reposted = await speak(world, host, general, wren, f"hello {discord.bot.mention}")
            assert await world.ended(reposted) == ["ignored"]
        assert await identities(world) == []


async def test_two_hosts_of_one_system_and_the_same_name_in_two(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    first, second, third = guild.member("first"), guild.member("second"), guild.member("third")
    general = guild.channel("general")
    lark = pluralkit.system("Lark", str(first.id), str(second.id))
    other = pluralkit.system("Other", str(third.id))
    wren, namesake = lark.member("Wren"), other.member("Wren")
    async with proxy_world(discord, pluralkit, database_url) as world:
        for person in (first, second, third):
            discord.say(person, general, "hello")
            await world.use(person)
        await speak(world, first, general, wren)
        await speak(world, second, general, wren)
        await speak(world, third, general, namesake)
        assert await identities(world) == [("Wren", None, "Lark"), ("Wren", None, "Other")]
        assert await hosts(world, lark.uuid) == ["first", "second"]
        assert await hosts(world, other.uuid) == ["third"]
        await speak(world, first, general, wren, f"who is here? {discord.bot.mention}")
        prompt = world.prompts()[-1]
        assert '"handle": "@{wren}"' in prompt
        assert '"handle": "@{wren~2}"' in prompt
        assert prompt.count('"member_of_system": "Lark"') == 1
        assert prompt.count('"member_of_system": "Other"') == 1


async def test_a_member_that_moves_and_a_host_that_leaves(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    first, second, general = guild.member("first"), guild.member("second"), guild.channel("general")
    lark, other = pluralkit.system("Lark", str(first.id), str(second.id)), pluralkit.system("Other")
    wren, robin = lark.member("Wren"), other.member("Robin")
    async with proxy_world(discord, pluralkit, database_url) as world:
        for person in (first, second):
            discord.say(person, general, "hello")
            await world.use(person)
        await speak(world, first, general, wren)
        await speak(world, second, general, wren)
        assert await hosts(world, lark.uuid) == ["first", "second"]
        # Who speaks for another system is a host of that one alone.
        await speak(world, second, general, robin)
        assert await hosts(world, lark.uuid) == ["first"]
        assert await hosts(world, other.uuid) == ["second"]
        # A member that moves takes its key along.
        lark.members.remove(wren)
        other.members.append(wren)
        await speak(world, second, general, wren)
        assert await identities(world) == [("Wren", None, "Other"), ("Robin", None, "Other")]
        # A host whose service says that it has no system any more hosts none.
        instance = next(each for each in world.plugin.instances if each.name == "loopback")
        lark.accounts.discard(str(first.id))
        await world.plugin.choosing.probe(await world.account_id(first), str(first.id), instance.instance_id)
        assert await hosts(world, lark.uuid) == []
        pluralkit.otherwise = Behaviour.BROKEN
        await world.plugin.choosing.probe(await world.account_id(second), str(second.id), instance.instance_id)
        assert await hosts(world, other.uuid) == ["second"]


async def test_somebody_elses_webhook_with_a_members_name_is_nobody(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host"), guild.channel("general")
    wren = pluralkit.system("Lark", str(host.id)).member("Wren")
    async with proxy_world(discord, pluralkit, database_url) as world:
        discord.say(host, general, "hello")
        await world.use(host)
        await speak(world, host, general, wren)
        forged = discord.webhook(general, "Wren", application_id=5)
        original = discord.say(host, general, "w:hello")
        false = discord.post(forged, f"I am Wren {discord.bot.mention}", username="Wren")
        assert await world.ended(original, false) == ["ignored", "ignored"]
        assert len(await world.rows("SELECT 1 FROM message_proxy_message_index")) == 1
        names = await world.rows("SELECT value FROM names WHERE value = 'Wren'")
        assert names == []


async def test_orders_to_the_service_and_later_parts_start_no_turn(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    host, general = guild.member("host"), guild.channel("general")
    system = pluralkit.system("Lark", str(host.id))
    wren, robin = system.member("Wren"), system.member("Robin")
    async with proxy_world(discord, pluralkit, database_url) as world:
        discord.say(host, general, "hello")
        await world.use(host)
        reposted = await speak(world, host, general, wren, f"hello {discord.bot.mention}")
        asked = len(world.model.requests)
        # The same words again, by another member, on an order.
        order = discord.say(host, general, "pk;reproxy robin")
        again = world.bot.repost(reposted, general, robin)
        world.bot.commit(again, order, robin, sender=str(host.id))
        discord.delete(reposted)
        # A further part of one message, which the service never knows.
        original, first = world.bot.proxy(host, general, wren, "with many files")
        part = world.bot.repost(original, general, wren, f"the rest {discord.bot.mention}")
        assert await world.ended(again, first, part) == ["ignored"] * 3
        assert len(world.model.requests) == asked
        said = await world.rows("SELECT message_id, triggers FROM message_proxy_message_index ORDER BY message_id")
        assert {row["message_id"]: row["triggers"] for row in said} == {str(again.id): False, str(first.id): True}
