"""Memories and privacy in Discord's form: menus, forms, suggestions, pages, confirmations."""

from collections.abc import AsyncIterator

import pytest_asyncio

from agent.testing.scripted_model import ScriptedCall, ScriptedModel
from tests.bridges.discord.commands.test_commands import FULL
from tests.bridges.discord.commands.test_interactions import Garden, ids
from tests.bridges.discord.worlds import discord_agent
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.pending import Callback


@pytest_asyncio.fixture
async def garden(discord: LoopbackDiscord, database_url: str) -> AsyncIterator[Garden]:
    made = Garden(discord)
    async with discord_agent(discord, database_url, FULL):
        yield made


async def test_a_message_is_remembered_and_asked_about(garden: Garden) -> None:
    discord = garden.discord
    said = discord.say(garden.ben, garden.general, "I bring the cake")
    refused = await discord.menu(garden.ben, said, "Remember this")
    assert (refused.text, refused.ephemeral) == ("Only those who manage this server may do that.", True)
    saved = await discord.menu(garden.mara, said, "Remember this")
    assert (saved.text, saved.ephemeral) == ("Saved as memory 1.", True)
    why = await discord.menu(garden.mara, said, "Why do you know this?")
    assert "Ben said: I bring the cake" in why.text
    assert "How: written with a command; Who: Mara;" in why.text
    about = await discord.menu(garden.mara, garden.ben, "What is remembered about…", channel=garden.general)
    assert "Ben said: I bring the cake" in about.text
    assert about.ephemeral
    own = await discord.menu(garden.ben, garden.ben, "What is remembered about…", channel=garden.general)
    assert "Ben said: I bring the cake" in own.text
    other = await discord.menu(garden.ben, garden.mara, "What is remembered about…", channel=garden.general)
    assert other.text == "Only those who manage this server may do that."


async def test_who_lets_nothing_be_kept_is_not_remembered_by_a_menu(garden: Garden) -> None:
    await garden.run("privacy set", garden.ben, level="full")
    said = garden.discord.say(garden.ben, garden.general, "I bring the cake")
    refused = await garden.discord.menu(garden.mara, said, "Remember this")
    assert refused.text == "The privacy level of this person does not allow it."


async def test_a_memory_is_added_and_edited_in_forms(garden: Garden) -> None:
    discord = garden.discord
    opened = await garden.run("memories add")
    assert (await discord.submit(opened.modal, {"text": "the gate is green"})).text == "Saved as memory 1."
    form = (await garden.run("memories edit", id=1)).modal
    assert form.components[0]["component"]["value"] == "the gate is green"
    edited = await discord.submit(form, {"text": "the gate is blue"})
    assert edited.text == "Memory 1 says now: the gate is blue"


async def test_ids_and_personas_are_offered(garden: Garden) -> None:
    discord = garden.discord
    await garden.run("memories add", text="the gate is green")
    offered = await discord.autocomplete(garden.mara, garden.general, "memories why", {"id": "gre"}, "id")
    assert offered == [{"name": "#1 the gate is green", "value": 1}]
    hidden = await discord.autocomplete(garden.ben, garden.general, "memories why", {"id": ""}, "id")
    assert hidden == []
    await garden.run("persona create", name="Rosa", prompt="You are Rosa.")
    names = await discord.autocomplete(garden.mara, garden.general, "persona show", {"name": "ro"}, "name")
    assert names == [{"name": "Rosa", "value": "Rosa"}]
    form = (await garden.run("persona edit", name="Rosa")).modal
    assert form.components[0]["component"]["value"] == "You are Rosa."
    words = await discord.autocomplete(garden.ben, garden.general, "impersonate", {"person": "Mar"}, "person")
    assert {"name": "Mara", "value": "Mara"} in words
    assert not (await garden.run("persona edit", name="Nobody")).modal.components[0]["component"].get("value")


async def test_a_list_is_turned_page_by_page_and_several_are_removed(garden: Garden) -> None:
    for number in range(11):
        await garden.run("memories add", text=f"fact {number}")
    first = await garden.run("memories list")
    assert first.message.embeds[0]["title"] == "/memories list"
    assert "Page 1 of 2." in first.message.embeds[0]["description"]
    second = await garden.press(first, "Next")
    assert second.callback is Callback.UPDATE
    assert "fact 10" in second.message.embeds[0]["description"]
    assert set(ids(second)) == {"Back"}
    asked = await garden.run("memories remove", ids="1,2")
    done = await garden.press(asked, "Remove 2 memories")
    assert done.text.startswith("2 memories removed: 1, 2.")
    alone = await garden.run("memories remove", ids="3")
    assert (await garden.press(alone, "Undo")).text == "Memory 3 is back."


async def test_a_privacy_level_is_chosen_with_a_button(garden: Garden) -> None:
    shown = await garden.run("privacy show", garden.ben)
    assert set(ids(shown)) == {"Set to partial", "Set to full"}
    chosen = await garden.press(shown, "Set to full", garden.ben)
    assert chosen.ephemeral
    assert chosen.text.startswith("Your privacy level is full.")


async def test_somebody_is_forgotten_with_a_button(garden: Garden) -> None:
    await garden.run("personal memories add", garden.ben, text="sings")
    asked = await garden.run("privacy forget-me", garden.ben)
    done = await garden.press(asked, "Forget me", garden.ben)
    assert done.text.startswith("Forgotten at")
    assert done.message.components == ()
    assert "sings" not in (await garden.run("personal memories list", garden.ben)).text


async def test_an_export_comes_as_a_file(garden: Garden) -> None:
    held = await garden.run("privacy export", garden.ben)
    (file,) = held.message.attachments
    assert (file.filename, held.ephemeral) == ("isthmus-export.json", True)
    assert b"ben" in garden.content(file)


async def test_the_buttons_of_a_notice_edit_and_undo(discord: LoopbackDiscord, database_url: str) -> None:
    made, model = Garden(discord), ScriptedModel(default="Well.")
    arguments = {"memory_content": "the gate is green", "memory_scope": "server_wide"}
    model.say(ScriptedCall("create_long_term_memory", arguments), "Noted.")
    async with discord_agent(discord, database_url, FULL, model=model):
        asked = discord.say(made.ben, made.general, f"{discord.bot.mention} the gate is green")
        notice = await discord.answer(made.general, after=asked, matching=lambda one: bool(one.components))
        buttons = {one["label"]: one["custom_id"] for row in notice.components for one in row["components"]}
        stranger = await discord.press(made.guild.member("zoe"), notice, buttons["Undo"])
        assert (stranger.text, stranger.ephemeral) == ("Only those who manage this server may do that.", True)
        form = (await discord.press(made.ben, notice, buttons["Edit"])).modal
        assert form.components[0]["component"]["value"] == "the gate is green"
        edited = await discord.submit(form, {"text": "the gate is blue"})
        assert (edited.text, edited.ephemeral) == ("Memory 1 says now: the gate is blue", True)
        changed = await discord.press(made.ben, notice, buttons["Undo"])
        assert "Somebody has changed memory 1" in changed.text
        assert [one.components for one in discord.messages(made.general) if one.id == notice.id] != [()]  # still there
        removed = await made.run("memories remove", ids="1")
        assert removed.text.startswith("1 memory removed: 1.")
