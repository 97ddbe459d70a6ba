"""The table of docs/privacy.md says what the code does."""

from pathlib import Path

from agent.contracts.people import PrivacyLevel
from agent.privacy.levels import RULES

PAGE = (Path(__file__).parents[2] / "docs" / "privacy.md").read_text("utf-8")


def test_the_table_of_levels_is_that_of_the_code() -> None:
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]
    documented = {PrivacyLevel(level.strip("`")): [word == "yes" for word in rest] for level, *rest in rows}
    assert documented == {
        level: [rules.keeps_memories, rules.shows_memories, rules.names, rules.reads_messages]
        for level, rules in RULES.items()
    }
