import pytest

from agent.contracts.people import PrivacyLevel
from agent.privacy.levels import RULES, strictest

NONE, PARTIAL, FULL = PrivacyLevel


def test_every_level_has_rules_and_the_stricter_allows_no_more() -> None:
    assert set(RULES) == set(PrivacyLevel)
    for field in ("keeps_memories", "shows_memories", "names", "reads_messages"):
        allowed = [getattr(RULES[level], field) for level in PrivacyLevel]
        assert allowed == sorted(allowed, reverse=True)
    for level in PrivacyLevel:
        assert RULES[level].keeps_memories is not level.restricts
        assert RULES[level].shows_memories is not level.restricts


@pytest.mark.parametrize(
    ("levels", "expected"),
    [((), NONE), ((NONE,), NONE), ((NONE, PARTIAL), PARTIAL), ((FULL, PARTIAL, NONE), FULL)],
)
def test_the_strictest_holds(levels: tuple[PrivacyLevel, ...], expected: PrivacyLevel) -> None:
    assert strictest(levels) is expected
