# mypy: disable-error-code="untyped-decorator"
# nextcord types none of its decorators for commands.
from typing import Any

import nextcord
import pytest

from tests.servers.discord.asking import InteractionFailed
from tests.servers.discord.choices import NotOffered
from tests.servers.discord.clients import Client, running, usual
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.pending import Callback
from tests.servers.discord.permissions import EVERYONE, Permission

Asked = nextcord.Interaction[Any]


WHOSE: Any = nextcord.SlashOption(description="Whose", required=False)


class Pair(nextcord.ui.View):
    def __init__(self) -> None:
        super().__init__(timeout=None)

    @nextcord.ui.button(label="Undo", custom_id="undo")
    async def undo(self, button: Any, interaction: Asked) -> None:
        await interaction.response.edit_message(content="undone", view=None)

    @nextcord.ui.button(label="Edit", custom_id="edit")
    async def open(self, button: Any, interaction: Asked) -> None:
        await interaction.response.send_modal(Form())

    @nextcord.ui.string_select(
        custom_id="level", options=[nextcord.SelectOption(label="One", value="1"), nextcord.SelectOption(label="Two")]
    )
    async def level(self, select: Any, interaction: Asked) -> None:
        await interaction.response.defer()
        await interaction.edit_original_message(content=f"chose {select.values[0]}")
        await interaction.followup.send("noted", ephemeral=True)


class Form(nextcord.ui.Modal):
    def __init__(self) -> None:
        super().__init__("Change it", custom_id="form", timeout=None)
        self.text: Any = nextcord.ui.TextInput("Text", custom_id="text", default_value="old", max_length=10)
        self.add_item(self.text)

    async def callback(self, interaction: Asked) -> None:
        await interaction.response.send_message(f"now {self.text.value}", ephemeral=True)


def bot() -> Client:
    client = Client(intents=usual())

    @client.slash_command(name="memories", description="Memories")
    async def memories(interaction: Asked) -> None:
        raise AssertionError("a command with subcommands is not called itself")

    @memories.subcommand(name="list", description="List them")
    async def listed(
        interaction: Asked,
        person: nextcord.Member = WHOSE,
        limit: int = nextcord.SlashOption(description="How many", required=False, min_value=1, max_value=10),
    ) -> None:
        await interaction.response.send_message(f"{person and person.display_name} {limit}", ephemeral=True)

    @memories.subcommand(name="find", description="Find one")
    async def find(interaction: Asked, text: str = nextcord.SlashOption(description="Text")) -> None:
        await interaction.response.defer()
        await interaction.followup.send(f"found {text}", view=Pair())
        await interaction.followup.send("and more")

    @find.on_autocomplete("text")
    async def offered(interaction: Asked, text: str) -> None:
        await interaction.response.send_autocomplete([text + "a", text + "b"])

    @client.slash_command(name="slow", description="Never answers")
    async def slow(interaction: Asked) -> None:
        pass

    @client.slash_command(name="managed", description="For few", default_member_permissions=1 << 5)
    async def managed(interaction: Asked) -> None:
        await interaction.response.send_message("done")

    @client.message_command(name="Remember this")
    async def remember(interaction: Asked, message: nextcord.Message) -> None:
        await interaction.response.send_message(f"remembered {message.content}", ephemeral=True)

    @client.user_command(name="What is remembered")
    async def about(interaction: Asked, member: nextcord.Member) -> None:
        await interaction.response.send_message(f"about {member.display_name}", ephemeral=True)

    return client


async def test_commands_are_synced_and_called(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, ben, general = guild.member("mara"), guild.member("ben", nick="Ben"), guild.channel("general")
    async with running(discord, bot()):
        await discord.called("POST", "/applications/{application_id}/commands", times=5)
        shown = await discord.slash(mara, general, ("memories", "list"), {"person": ben, "limit": 3})
        assert shown.text == "Ben 3"
        assert shown.ephemeral
        assert discord.messages(general) == []
        with pytest.raises(NotOffered, match="does not take 11"):
            await discord.slash(mara, general, "memories list", {"limit": 11})
        with pytest.raises(NotOffered, match="needs the option 'text'"):
            await discord.slash(mara, general, "memories find")
        with pytest.raises(NotOffered, match="needs a subcommand"):
            await discord.slash(mara, general, "memories")


async def test_a_deferred_answer_is_filled_by_the_first_follow_up(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with running(discord, bot()):
        await discord.called("POST", "/applications/{application_id}/commands", times=5)
        shown = await discord.slash(mara, general, ("memories", "find"), {"text": "x"})
        assert shown.callback is Callback.DEFERRED_MESSAGE
        await shown.until(lambda one: len(one.messages) == 2)
        assert [one.content for one in shown.messages] == ["found x", "and more"]
        assert [one.content for one in discord.messages(general)] == ["found x", "and more"]


async def test_options_are_completed(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    async with running(discord, bot()):
        await discord.called("POST", "/applications/{application_id}/commands", times=5)
        found = await discord.autocomplete(mara, general, "memories find", {"text": "x"}, "text")
        assert [one["value"] for one in found] == ["xa", "xb"]


async def test_buttons_selects_and_modals(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, ben, general = guild.member("mara"), guild.member("ben"), guild.channel("general")
    async with running(discord, bot()):
        await discord.called("POST", "/applications/{application_id}/commands", times=5)
        asked = await discord.slash(mara, general, "memories find", {"text": "x"})
        opened = await discord.press(mara, asked.message, "edit")
        assert opened.modal.title == "Change it"
        with pytest.raises(NotOffered, match="1 to 10 characters, not 20"):
            await discord.submit(opened.modal, {"text": "x" * 20})
        sent = await discord.submit(opened.modal, {"text": "new"})
        assert (sent.text, sent.ephemeral) == ("now new", True)
        kept = await discord.submit(opened.modal, {})
        assert kept.text == "now old"
        chosen = await discord.select(ben, asked.message, "level", ["1"])
        await chosen.until(lambda one: len(one.messages) == 2)
        assert [one.content for one in chosen.messages] == ["chose 1", "noted"]
        assert chosen.messages[1].ephemeral_for == ben.id
        undone = await discord.press(mara, asked.message, "undo")
        assert undone.text == "undone"
        with pytest.raises(NotOffered, match="there is no 'undo'"):
            await discord.press(mara, asked.message, "undo")


async def test_menus_of_messages_and_people(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, ben, general = guild.member("mara"), guild.member("ben"), guild.channel("general")
    said = discord.say(ben, general, "a fact")
    async with running(discord, bot()):
        await discord.called("POST", "/applications/{application_id}/commands", times=5)
        assert (await discord.menu(mara, said, "Remember this")).text == "remembered a fact"
        assert (await discord.menu(mara, ben, "What is remembered", channel=general)).text == "about ben"


async def test_who_lacks_the_permissions_is_not_offered_a_command(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    chief = guild.role("Chief", EVERYONE | Permission.MANAGE_GUILD)
    mara, ben, general = guild.member("mara", roles=[chief]), guild.member("ben"), guild.channel("general")
    async with running(discord, bot()):
        await discord.called("POST", "/applications/{application_id}/commands", times=5)
        assert (await discord.slash(mara, general, "managed")).text == "done"
        with pytest.raises(NotOffered, match="hidden from ben"):
            await discord.slash(ben, general, "managed")


async def test_an_application_that_does_not_answer_fails(discord: LoopbackDiscord) -> None:
    guild = discord.guild()
    mara, general = guild.member("mara"), guild.channel("general")
    discord.core.deadline = 0.1
    async with running(discord, bot()):
        await discord.called("POST", "/applications/{application_id}/commands", times=5)
        with pytest.raises(InteractionFailed):
            await discord.slash(mara, general, "slow")
