"""What a service posts that cannot say who speaks, where those who manage a server want it answered."""

from dataclasses import replace

from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.places import ChannelRef, ServerRef
from agent.testing.scripted_model import ScriptedCall, ScriptedModel
from tests.plugins.message_proxy.world import ProxyWorld, proxy_world
from tests.servers.discord.guilds import Guild
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Channel, Message, User
from tests.servers.pluralkit import PluralKitServer

REMEMBER_HERE = ScriptedCall(
    "create_long_term_memory", {"memory_content": "Foxgloves grow here.", "memory_scope": "server_wide"}
)
TUPPERBOX = 431544605209788416


async def allow(
    world: ProxyWorld, user: User, guild: Guild, channel: Channel, *, manages: bool = True, state: bool | None = True
) -> tuple[bool, bool | None]:
    """Run the command; whether it did what was asked, and what holds."""
    author = Author(ParticipantKind.DISCORD_USER, str(user.id), user.name, user.name)
    server, place = ServerRef("discord", str(guild.id), "Garden"), ChannelRef(str(channel.id), channel.name or "")
    options = {} if state is None else {"state": state}
    found = await world.agent.run_command(
        ("proxy", "anonymous"), options, server, place, replace(author, can_manage=manages)
    )
    return found.ok, None if found.data is None else found.data.get("anonymous")


async def answered(world: ProxyWorld, message: Message, channel: Channel) -> str:
    """Wait until a message is answered; the last prompt. Notices of what is remembered are no answers."""
    await world.discord.answer(channel, after=message, matching=lambda one: one.reply_to == message.id)
    assert await world.ended(message) == ["answered"]
    return world.prompts()[-1]


async def test_it_is_answered_only_where_it_is_allowed_and_as_nobodys(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild, other = discord.guild("Garden"), discord.guild("Meadow")
    admin, general, elsewhere = guild.member("admin"), guild.channel("general"), other.channel("general")
    tupperbox = discord.webhook(general, "Tupperbox", application_id=TUPPERBOX)
    in_other = discord.webhook(elsewhere, "Tupperbox", application_id=TUPPERBOX)
    stranger = discord.webhook(general, "Feed", application_id=TUPPERBOX + 1)
    async with proxy_world(discord, pluralkit, database_url, model=ScriptedModel(default="Well.")) as world:
        before = discord.post(tupperbox, f"hello {discord.bot.mention}", username="Wren")
        assert await world.ended(before) == ["ignored"]
        assert await allow(world, admin, guild, general, manages=False) == (False, None)
        assert await allow(world, admin, guild, general, state=None) == (True, False)
        assert await allow(world, admin, guild, general) == (True, True)

        asked = discord.post(tupperbox, f"who am I? {discord.bot.mention}", username="Wren")
        answer = await discord.answer(general, after=asked)
        assert answer.reply_to == asked.id
        assert "Anonymous" in world.prompts()[-1]
        assert "Wren" not in world.prompts()[-1]
        ignored = [
            discord.post(stranger, f"news {discord.bot.mention}", username="Wren"),
            discord.post(in_other, f"hello {discord.bot.mention}", username="Wren"),
            discord.post(tupperbox, "hello all", username="Wren"),
        ]
        assert await world.ended(*ignored) == ["ignored"] * 3

        assert await allow(world, admin, guild, general, state=False) == (True, False)
        after = discord.post(tupperbox, f"hello again {discord.bot.mention}", username="Wren")
        assert await world.ended(after) == ["ignored"]
        assert len(world.model.requests) == 1
        assert pluralkit.requests == []


async def test_nobody_is_made_of_it_and_nothing_is_remembered_or_told(
    discord: LoopbackDiscord, pluralkit: PluralKitServer, database_url: str
) -> None:
    guild = discord.guild("Garden")
    admin, general = guild.member("admin"), guild.channel("general")
    tupperbox = discord.webhook(general, "Tupperbox", application_id=TUPPERBOX)
    async with proxy_world(discord, pluralkit, database_url, model=ScriptedModel(default="Well.")) as world:
        said = discord.say(admin, general, f"remember what grows here {discord.bot.mention}")
        world.model.say(REMEMBER_HERE)
        await answered(world, said, general)
        kept = "SELECT content FROM personal_memories UNION ALL SELECT content FROM server_memories"
        before = await world.rows(kept)
        assert len(before) == 1
        told = discord.say(admin, general, f"what do you know? {discord.bot.mention}")
        assert "Foxgloves grow here" in await answered(world, told, general)
        users = len(await world.rows("SELECT 1 FROM users"))

        await allow(world, admin, guild, general)
        asked = discord.post(tupperbox, f"who likes what? {discord.bot.mention}", username="admin")
        assert "Foxgloves grow here" not in await answered(world, asked, general)
        world.model.say(
            ScriptedCall(
                "create_long_term_memory", {"memory_content": "Ivy grows here.", "memory_scope": "server_wide"}
            )
        )
        asked = discord.post(tupperbox, f"remember the ivy {discord.bot.mention}", username="admin")
        assert "for a message that is anonymous" in await answered(world, asked, general)
        assert await world.rows(kept) == before
        assert len(await world.rows("SELECT 1 FROM users")) == users
        assert await world.rows("SELECT 1 FROM external_identities") == []
