"""Every command of a full agent through the real client."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.bridges.discord.worlds import discord_agent
from tests.servers.discord.choices import NotOffered
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.permissions import EVERYONE, Permission

PLUGINS: Mapping[str, Any] = {name: {} for name in ("memory", "documents", "lorebook", "presets", "privacy")}
FULL: Mapping[str, Any] = {"plugins": PLUGINS}
COMMANDS = "/applications/{application_id}/commands"


def paths(payload: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The commands that a declaration holds."""
    here = (*above, payload["name"])
    below = [each for each in payload.get("options") or () if each["type"] in {1, 2}]
    if not below:
        yield here
    for each in below:
        yield from paths(each, here)


async def test_every_command_of_a_full_agent_is_declared(discord: LoopbackDiscord, database_url: str) -> None:
    discord.guild("Garden")
    async with discord_agent(discord, database_url, FULL) as world:
        (put,) = discord.calls("PUT", COMMANDS)
        assert isinstance(put.body, list)
        declared = [path for payload in put.body if payload["type"] == 1 for path in paths(payload)]
        assert sorted(declared) == sorted(command.path for command in world.agent.commands)
        menus = {payload["name"] for payload in put.body if payload["type"] != 1}
        assert menus == {command.menu for command in world.agent.commands if command.menu}


async def test_every_description_is_there_in_german(discord: LoopbackDiscord, database_url: str) -> None:
    async with discord_agent(discord, database_url, FULL):
        (put,) = discord.calls("PUT", COMMANDS)
    assert isinstance(put.body, list)
    assert [words for payload in put.body for words in untranslated(payload)] == []


def untranslated(payload: Mapping[str, Any]) -> Iterator[str]:
    """The descriptions of commands and options without a translation; those of groups are never shown."""
    below = payload.get("options") or ()
    is_group = any(each["type"] in {1, 2} for each in below)
    if payload.get("description") and not is_group and "de" not in payload.get("description_localizations", {}):
        yield payload["description"]
    for each in below:
        yield from untranslated(each)


async def test_commands_are_declared_again_only_when_they_changed(discord: LoopbackDiscord, database_url: str) -> None:
    discord.guild("Garden")
    async with discord_agent(discord, database_url, FULL):
        pass
    async with discord_agent(discord, database_url, FULL):
        pass
    assert len(discord.calls("PUT", COMMANDS)) == 1
    async with discord_agent(discord, database_url, {"plugins": {"privacy": {}}}):
        assert len(discord.calls("PUT", COMMANDS)) == 2
        assert "memories" not in {one["name"] for one in discord.core.world.commands[None].values()}
    for command in discord.core.world.commands[None].values():
        command["version"] = "1"
    async with discord_agent(discord, database_url, {"plugins": {"privacy": {}}}):
        assert len(discord.calls("PUT", COMMANDS)) == 3


async def test_an_agent_talks_though_its_commands_were_refused(discord: LoopbackDiscord, database_url: str) -> None:
    guild = discord.guild("Garden")
    mara, general = guild.member("mara"), guild.channel("general")
    discord.faults.refuse(50013, method="PUT", path=COMMANDS)
    async with discord_agent(discord, database_url, FULL):
        asked = discord.say(mara, general, f"Hello {discord.bot.mention}")
        assert (await discord.answer(general, after=asked)).content == "Well."


async def test_memories_are_kept_and_listed_by_slash_commands(discord: LoopbackDiscord, database_url: str) -> None:
    guild = discord.guild("Garden")
    chief = guild.role("Chief", EVERYONE | Permission.MANAGE_GUILD)
    mara, ben = guild.member("mara", roles=[chief]), guild.member("ben")
    general = guild.channel("general")
    async with discord_agent(discord, database_url, FULL):
        saved = await discord.slash(mara, general, "memories add", {"text": "the gate is green"})
        assert (saved.text, saved.ephemeral) == ("Saved as memory 1.", True)
        listed = await discord.slash(mara, general, "memories list")
        assert "the gate is green" in listed.text
        refused = await discord.slash(ben, general, "memories list")
        assert (refused.text, refused.ephemeral) == ("Only those who manage this server may do that.", True)
        assert discord.messages(general) == []
        direct = discord.dm(ben)
        own = await discord.slash(ben, direct, "personal memories add", {"text": "sings at night"})
        assert own.text == "Saved as memory 2."


async def test_discord_hides_what_only_managers_may_do_and_the_agent_refuses_it(
    discord: LoopbackDiscord, database_url: str
) -> None:
    guild = discord.guild("Garden")
    ben, general = guild.member("ben"), guild.channel("general")
    async with discord_agent(discord, database_url, FULL):
        with pytest.raises(NotOffered, match="hidden from ben"):
            await discord.slash(ben, general, "persona list")
        for command in discord.core.world.commands[None].values():
            command["default_member_permissions"] = None
        refused = await discord.slash(ben, general, "persona list")
        assert (refused.text, refused.ephemeral) == ("Only those who manage this server may do that.", True)
