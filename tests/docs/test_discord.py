"""docs/discord.md says what the code does."""

import tomllib
from pathlib import Path

from agent.ailments import Ailment
from agent.contracts.cards import CardKind
from bridges.discord.bodies import MESSAGE_LIMIT
from bridges.discord.bridge import CAPABILITIES
from bridges.discord.cards import COLOURS
from bridges.discord.checking import PERMISSIONS
from bridges.discord.presence import STATUSES
from bridges.discord.reporting import QUIET
from bridges.discord.settings import DiscordSettings

PAGE = (Path(__file__).parents[2] / "docs" / "discord.md").read_text()
NAMED = {
    "green": 0x57F287,
    "yellow": 0xFEE75C,
    "red": 0xED4245,
    "orange": 0xE67E22,
    "blue": 0x5865F2,
    "grey": 0x95A5A6,
}
KINDS = ("saved", "updated", "deleted", "evicted", "disclosure", "info")


def table(head: str) -> list[list[str]]:
    """The rows of a table."""
    lines = PAGE.partition(f"{head}\n")[2].partition("\n\n")[0].splitlines()[1:]
    return [line.strip("| ").split(" | ") for line in lines]


def test_the_table_of_colours_is_that_of_the_code() -> None:
    rows = table("| kind | colour |")
    assert [NAMED[colour] for _, colour in rows] == [COLOURS[CardKind(kind)] for kind in KINDS]


def test_the_permissions_are_those_of_the_invite_link() -> None:
    assert {name for name, _ in table("| permission | what for |")} == set(PERMISSIONS)


def test_the_settings_are_those_of_the_code() -> None:
    shown = tomllib.loads(PAGE.partition("```toml\n")[2].partition("```")[0])["bridges"]["discord"]
    assert shown.pop("enabled") is True
    assert shown.pop("token") == "env:DISCORD_TOKEN"
    fields = {name: field.default for name, field in DiscordSettings.model_fields.items() if name != "token"}
    assert {name: tuple(value) if isinstance(value, list) else value for name, value in shown.items()} == fields


def test_the_figures_are_those_of_the_code() -> None:
    assert f"{MESSAGE_LIMIT:,} characters" in PAGE
    assert f"within {CAPABILITIES.key_seconds:.0f} seconds" in PAGE
    assert (QUIET, "once an hour" in PAGE) == (3_600.0, True)


def test_the_lights_are_those_of_the_code() -> None:
    lights = {"Green": None, "Yellow": Ailment.MODEL, "Red": Ailment.DATABASE}
    assert [STATUSES[ailment].value for ailment in lights.values()] == ["online", "idle", "dnd"]
    assert all(f"{light}: " in PAGE for light in lights)
