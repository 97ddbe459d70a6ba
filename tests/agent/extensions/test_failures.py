from __future__ import annotations

from typing import Any

import pytest

from agent import logs
from agent.extensions.calls import Failure, Reason
from agent.extensions.failures import Failures
from agent.extensions.repeats import SECONDS

SECRET = "what somebody said"


@pytest.fixture(autouse=True)
def logs_go_to_standard_error() -> None:
    """Commands of other tests may have sent them elsewhere."""
    logs.configure()


def raised(error: Exception) -> Failure:
    try:
        raise error
    except Exception as caught:  # noqa: BLE001 - any kind is given
        return Failure("broken", "recall", Reason.RAISED, caught)


@pytest.fixture
def emitted(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    emitted: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "agent.extensions.failures.metrics.emit", lambda name, value=1, **labels: emitted.append({name: value} | labels)
    )
    return emitted


def test_each_kind_is_logged_once_then_once_a_minute_and_each_failure_is_counted(
    emitted: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    failures = Failures(lambda: now)
    for _ in range(5):
        failures.note(raised(ValueError(SECRET)))
    failures.note(raised(KeyError(SECRET)))
    failures.note(Failure("broken", "recall", Reason.LATE, deadline=5.0))
    assert capsys.readouterr().err.count("plugin_failed") == 3
    now = SECONDS
    failures.note(raised(ValueError(SECRET)))
    assert "count=5" in capsys.readouterr().err
    failures.note(raised(ValueError(SECRET)))
    assert capsys.readouterr().err == ""
    failures.flush()
    assert "count=1" in capsys.readouterr().err
    label = {"plugin_failures": 1, "plugin": "broken", "hook": "recall"}
    assert (
        emitted
        == [label | {"reason": "raised"}] * 6 + [label | {"reason": "late"}] + [label | {"reason": "raised"}] * 2
    )


def test_the_log_tells_the_kind_and_the_line_but_never_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    Failures(lambda: 0.0).note(raised(ValueError(SECRET)))
    logged = capsys.readouterr().err
    assert "ValueError" in logged
    assert "test_failures.py" in logged
    assert SECRET not in logged
