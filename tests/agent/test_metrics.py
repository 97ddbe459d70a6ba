from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from agent import logs, metrics
from agent.metrics import MAX_SERIES, Metrics


@pytest.fixture(autouse=True)
def _at_debug() -> Iterator[None]:
    logs._configure_ours("console", "debug", None)
    yield
    logs._configure_ours("console", "info", None)


@pytest.fixture
def own() -> Metrics:
    own = Metrics()
    own.declare("evictions", "counter", ("scope", "decay_days"), "Memories that made room.")
    own.declare("turn_seconds", "histogram", ("outcome",), "How long turns take.")
    own.declare("queue_length", "gauge", (), "Messages that wait.")
    return own


def samples(own: Metrics) -> list[str]:
    return [
        line for line in own.render().decode().splitlines() if line.startswith("isthmus_") and "_created" not in line
    ]


def test_one_emit_reaches_both_sinks_with_exactly_its_fields(own: Metrics) -> None:
    own.enable()
    with capture_logs() as lines:
        own.emit("evictions", scope="server", decay_days=30)
    assert lines == [{"event": "evictions", "log_level": "info", "scope": "server", "decay_days": 30}]
    assert 'isthmus_evictions_total{decay_days="30",scope="server"} 1.0' in samples(own)


def test_gauges_and_histograms(own: Metrics) -> None:
    own.enable()
    with capture_logs() as lines:
        own.emit("turn_seconds", 0.2, outcome="answered")
        own.emit("queue_length", 7)
        own.emit("queue_length", 3)
    assert lines == [
        {"event": "turn_seconds", "log_level": "debug", "outcome": "answered", "value": 0.2},
        {"event": "queue_length", "log_level": "debug", "value": 7},
        {"event": "queue_length", "log_level": "debug", "value": 3},
    ]
    found = samples(own)
    assert "isthmus_queue_length 3.0" in found
    assert 'isthmus_turn_seconds_bucket{le="0.1",outcome="answered"} 0.0' in found
    assert 'isthmus_turn_seconds_bucket{le="0.25",outcome="answered"} 1.0' in found
    assert 'isthmus_turn_seconds_sum{outcome="answered"} 0.2' in found


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError


MISUSES: dict[str, Callable[[Metrics], None]] = {
    "unknown name": lambda own: own.emit("nothing", x=1),
    "missing label": lambda own: own.emit("evictions", scope="server"),
    "further label": lambda own: own.emit("queue_length", scope="server"),
    "negative count": lambda own: own.emit("evictions", -1, scope="server", decay_days=1),
    "not a number": lambda own: own.emit("evictions", float("nan"), scope="server", decay_days=1),
    "no number at all": lambda own: own.emit("evictions", "x", scope="server", decay_days=1),  # type: ignore[arg-type]
    "a label that fails": lambda own: own.emit("turn_seconds", 1, outcome=Unprintable()),
}


@pytest.mark.parametrize("misuse", MISUSES)
@pytest.mark.parametrize("enabled", [True, False])
def test_a_wrong_emit_never_raises_is_counted_and_logged_once(own: Metrics, misuse: str, enabled: bool) -> None:
    if enabled:
        own.enable()
    with capture_logs() as lines:
        MISUSES[misuse](own)
        MISUSES[misuse](own)
    if misuse != "a label that fails" or enabled:
        assert [line["event"] for line in lines if line["log_level"] == "error"] == ["metric_misused"]
    if enabled:
        (count,) = [line for line in samples(own) if line.startswith("isthmus_metrics_misused_total{")]
        assert count.endswith("} 2.0")
        assert not [line for line in samples(own) if line.startswith("isthmus_evictions_total{")]


def test_a_broken_log_does_not_fail_the_caller(own: Metrics, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def info(self, *_args: object, **_fields: object) -> None:
            raise OSError

        def error(self, *_args: object, **_fields: object) -> None:
            pass

    monkeypatch.setattr(metrics, "_log", Broken())
    own.emit("evictions", scope="server", decay_days=1)


def test_a_broken_registry_does_not_fail_the_caller(own: Metrics) -> None:
    own.enable()
    own._collectors["evictions"] = object()
    with capture_logs() as lines:
        own.emit("evictions", scope="server", decay_days=1)
    assert [line["event"] for line in lines] == ["evictions", "metric_misused"]


def test_series_are_bounded(own: Metrics) -> None:
    own.enable()
    with capture_logs():
        for number in range(MAX_SERIES + 5):
            own.emit("turn_seconds", 1, outcome=f"o{number}")
    assert len(own._series["turn_seconds"]) == MAX_SERIES
    assert 'isthmus_metrics_misused_total{metric="turn_seconds"} 5.0' in samples(own)


def test_declarations(own: Metrics) -> None:
    own.declare("queue_length", "gauge", (), "Messages that wait.")
    with pytest.raises(ValueError, match="declared twice"):
        own.declare("queue_length", "counter", (), "Messages that wait.")
    with pytest.raises(ValueError, match="label text is private"):
        own.declare("said", "counter", ("text",), "No.")
    own.enable()
    own.enable()
    own.declare("late", "counter", (), "Declared after the start.")
    own.emit("late")
    assert "isthmus_late_total 1.0" in samples(own)


def test_nothing_is_rendered_before_it_is_enabled(own: Metrics) -> None:
    own.emit("queue_length", 1)
    assert own.render() == b""


def test_prometheus_is_imported_only_when_it_is_enabled() -> None:
    code = (
        "import sys; from agent import metrics; metrics.emit('metrics_misused', metric='x');"
        "print(*[name for name in sys.modules if name in {'prometheus_client', 'aiohttp'}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


async def test_emitting_from_many_tasks_loses_nothing(own: Metrics) -> None:
    own.enable()

    async def work() -> None:
        for _ in range(20):
            own.emit("evictions", scope="server", decay_days=1)
            await asyncio.sleep(0)

    with capture_logs():
        await asyncio.gather(*(work() for _ in range(10)))
    assert 'isthmus_evictions_total{decay_days="1",scope="server"} 200.0' in samples(own)


def test_the_module_speaks_for_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert metrics.emit == metrics.process.emit
    fields: dict[str, Any] = {"metric": "x"}
    with capture_logs() as lines:
        metrics.emit("metrics_misused", **fields)
    assert lines[0]["metric"] == "x"
