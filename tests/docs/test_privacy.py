"""The tables of docs/privacy.md say what the code does."""

from pathlib import Path

import pytest

from agent.commands import Rights
from agent.confirmations import ATTEMPTS, LENGTH, VALID
from agent.contracts.people import PrivacyLevel
from agent.preferences import Value
from agent.privacy.levels import RULES
from agent.privacy.repository import HIDDEN_NAMES
from agent.testing.app import running_agent
from bridges.console.arguments import usage
from plugins.privacy.managing import SWITCHES

PAGE = (Path(__file__).parents[2] / "docs" / "privacy.md").read_text("utf-8")
PLUGINS = {"plugins": {"privacy": {"enabled": True}, "memory": {"enabled": True}}}


def table(section: str) -> list[list[str]]:
    """Return the rows of a section's table, without backticks in the first column."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    return [[row[0].strip("`"), *row[1:]] for row in rows]


def test_the_table_of_levels_is_that_of_the_code() -> None:
    documented = {PrivacyLevel(level): [word == "yes" for word in rest] for level, *rest in table("Levels")}
    assert documented == {
        level: [rules.keeps_memories, rules.shows_memories, rules.names, rules.reads_messages]
        for level, rules in RULES.items()
    }


@pytest.mark.unwatched_loop  # the agent imports its model's library when it starts
async def test_the_tables_of_commands_and_switches_are_those_of_the_code(database_url: str) -> None:
    async with running_agent(database_url, PLUGINS) as agent:
        commands = [command for command in agent.commands if command.owner == "privacy"]
        assert all(command.private for command in commands)
        who = {Rights.EVERYONE: "everyone", Rights.MANAGE: "managers"}
        assert sorted(table("Commands")) == sorted(
            [usage(command), who[command.rights], command.description] for command in commands
        )
        preferences = {name: agent.core.preferences.get(key) for name, key in SWITCHES.items()}
    words: dict[Value, str] = {True: "on", False: "off"}
    assert table("Switches") == [
        [name, words[preference.default], preference.description] for name, preference in preferences.items()
    ]


def test_the_numbers_are_those_of_the_code() -> None:
    assert (LENGTH, VALID.total_seconds(), ATTEMPTS) == (8, 600, 5)
    assert "a code of eight letters and digits" in PAGE
    assert "within ten minutes" in PAGE
    assert "five wrong ones" in " ".join(PAGE.split())
    assert f"At most {HIDDEN_NAMES:,} names" in PAGE
