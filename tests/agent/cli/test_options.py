from datetime import UTC, datetime

import pytest

from agent.cli.errors import CallRefused
from agent.cli.options import parse_now


@pytest.mark.parametrize(
    "text", ["2026-03-01T20:00:00Z", "2026-03-01T20:00:00", " 2026-03-01 21:00+01:00 ", "2026-03-01T20"]
)
def test_a_moment_is_utc_unless_it_says_otherwise(text: str) -> None:
    assert parse_now(text) == datetime(2026, 3, 1, 20, tzinfo=UTC)


def test_no_moment_is_now() -> None:
    assert parse_now(None) is None


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "0001-01-01T00:00+23:59", "x" * 10_000])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(CallRefused, match="is no moment"):
        parse_now(text)
