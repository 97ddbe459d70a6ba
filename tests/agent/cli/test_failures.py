from pathlib import Path

import pytest

from agent.cli.failures import argument_of, keep_detail, lines_and_code
from agent.settings import Origin, Problem, SettingsError
from agent.store.errors import DatabaseUnavailable


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["chat", "--data", "x"], "x"),
        (["chat", "--data=x y"], "x y"),
        (["chat", "--data"], None),
        (["chat"], None),
    ],
)
def test_an_option_is_found_before_the_command_line_is_parsed(arguments: list[str], value: str | None) -> None:
    assert argument_of(arguments, "--data") == value


def test_wrong_settings_are_a_wrong_call_and_a_lost_database_is_a_failure() -> None:
    assert lines_and_code(SettingsError([Problem(Origin("x"), "", "bad")])) == (("x: bad",), 2)
    assert lines_and_code(DatabaseUnavailable("gone")) == (("gone",), 1)
    assert lines_and_code(RuntimeError("?")) is None


def test_the_error_log_is_bounded(tmp_path: Path) -> None:
    log = tmp_path / "errors.log"
    log.write_bytes(b"x" * (10 * 1024 * 1024 + 1))
    keep_detail(ValueError("new"), ["--data", str(tmp_path)])
    assert log.stat().st_size < 10_000
    assert (tmp_path / "errors.log.1").exists()
