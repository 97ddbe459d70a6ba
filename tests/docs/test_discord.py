"""docs/discord.md says what the code does."""

from pathlib import Path

from agent.ailments import Ailment
from agent.contracts.cards import CardKind
from bridges.discord.bodies import MESSAGE_LIMIT
from bridges.discord.bridge import CAPABILITIES
from bridges.discord.cards import COLOURS
from bridges.discord.presence import STATUSES
from bridges.discord.reporting import QUIET

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


def test_the_table_of_colours_is_that_of_the_code() -> None:
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")][1:]
    assert [NAMED[colour] for _, colour in rows] == [COLOURS[CardKind(kind)] for kind in KINDS]


def test_the_figures_are_those_of_the_code() -> None:
    assert f"{MESSAGE_LIMIT:,} characters" in PAGE
    assert f"within {CAPABILITIES.key_seconds:.0f} seconds" in PAGE
    assert (QUIET, "once an hour" in PAGE) == (3_600.0, True)


def test_the_lights_are_those_of_the_code() -> None:
    lights = {"Green": None, "Yellow": Ailment.MODEL, "Red": Ailment.DATABASE}
    assert [STATUSES[ailment].value for ailment in lights.values()] == ["online", "idle", "dnd"]
    assert all(f"{light}: " in PAGE for light in lights)
