"""Documents, lorebooks and presets in Discord's form."""

import json
from collections.abc import AsyncIterator

import pytest_asyncio

from tests.bridges.discord.commands.test_commands import FULL
from tests.bridges.discord.commands.test_interactions import Garden
from tests.bridges.discord.worlds import discord_agent
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Upload


@pytest_asyncio.fixture
async def garden(discord: LoopbackDiscord, database_url: str) -> AsyncIterator[Garden]:
    made = Garden(discord)
    async with discord_agent(discord, database_url, FULL):
        yield made


async def offered(garden: Garden, path: str, option: str, typed: str) -> list[str]:
    found = await garden.discord.autocomplete(garden.mara, garden.general, path, {option: typed}, option)
    return [one["name"] for one in found]


async def test_a_document_is_given_changed_in_a_form_and_removed_with_a_button(garden: Garden) -> None:
    given = await garden.run("documents add", file=Upload("rules.md", b"# Rules\n\nNo running.", "text/markdown"))
    assert given.text.startswith("I have read “rules”")
    (choice,) = await offered(garden, "documents show", "id", "RUL")
    assert choice.endswith(" rules")
    assert await offered(garden, "documents show", "id", "other") == []
    number = int(choice.removeprefix("#").split()[0])
    form = (await garden.run("documents edit", id=number + 1)).modal
    assert "No running." in form.components[0]["component"]["value"]
    done = await garden.discord.submit(form, {"text": "Run!"})
    assert done.text.endswith("has its new text.")
    asked = await garden.run("documents remove", id=number)
    removed = await garden.press(asked, "Remove it")
    assert removed.text == "“rules” is removed."


async def test_a_lorebook_is_filled_in_a_form_and_removed_with_a_button(garden: Garden) -> None:
    form = (await garden.run("lorebook add", book="Harbour", keys="ship")).modal
    added = await garden.discord.submit(form, {"content": "The ship is red."})
    assert "“Harbour”" in added.text
    assert await offered(garden, "lorebook show", "target", "har") == ["Harbour"]
    asked = await garden.run("lorebook remove", target="Harbour")
    assert asked.ephemeral
    removed = await garden.press(asked, "Remove 1 entry")
    assert removed.text == "Removed “Harbour” with 1 entry."
    assert await offered(garden, "lorebook show", "target", "") == []


async def test_a_field_of_a_lorebook_is_changed_in_a_form_that_holds_it(garden: Garden) -> None:
    form = (await garden.run("lorebook add", book="Harbour", keys="ship, boat")).modal
    number = (await garden.discord.submit(form, {"content": "The ship is red."})).text.split()[2]

    async def changed(target: str, field: str, held: str, value: str) -> str:
        form = (await garden.run("lorebook edit", target=target, field=field)).modal
        assert form.components[0]["component"].get("value", "") == held, field
        return (await garden.discord.submit(form, {"value": value})).text

    assert await changed(number, "content", "The ship is red.", "The ship is blue.") == (
        f"Changed entry {number} of “Harbour”."
    )
    assert "The ship is blue." in (await garden.run("lorebook show", target=number)).text
    await changed(number, "keys", "ship, boat", "ship")
    await changed(number, "enabled", "on", "off")
    await changed(number, "whole-words", "default", "on")
    assert await changed("Harbour", "budget", "default", "500") == "Changed the lorebook “Harbour”."
    await changed("Harbour", "budget", "500", "default")
    await changed("Harbour", "persona", "all", "all")
    await changed("Harbour", "channels", "all", "here")
    assert "no entry 999999" in await changed("999999", "content", "", "x")


async def test_long_lists_of_entries_have_pages(garden: Garden) -> None:
    entries = {str(at): {"uid": at, "key": [f"key{at}"], "content": f"fact {at}"} for at in range(30)}
    file = Upload("sea.json", json.dumps({"entries": entries}).encode(), "application/json")
    await garden.run("lorebook import", file=file, name="Sea")
    first = await garden.run("lorebook show", target="Sea")
    second = await garden.press(first, "Next")
    assert "Page 2 of" in second.message.embeds[0]["description"]


async def test_presets_are_offered_by_name(garden: Garden) -> None:
    preset = {
        "prompts": [{"identifier": "main", "name": "Main", "role": "system", "content": "Be brief."}],
        "prompt_order": [{"character_id": 100001, "order": [{"identifier": "main", "enabled": True}]}],
    }
    file = Upload("brief.json", json.dumps(preset).encode(), "application/json")
    imported = await garden.run("preset import", file=file, name="Brief")
    assert "Brief" in imported.text
    assert await offered(garden, "preset use", "name", "br") == ["Brief"]
    assert await offered(garden, "preset use", "name", "x") == []
