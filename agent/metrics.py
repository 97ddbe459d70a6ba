"""One `emit()`, two sinks: a structured log line, and a Prometheus registry once `enable()` was called.

A metric is declared once, beside the code that emits it:

    metrics.declare("turns_abandoned", "counter", ("reason",), "Turns that were given up.")
    metrics.emit("turns_abandoned", 3, reason="found_at_start")

`emit` never raises. What is not declared, or has other labels than declared, is counted under `metrics_misused` and
logged once: a wrong metric must not break a turn. Labels are ids, kinds and outcomes, never what people say or are
called. Names ending in `_seconds` are histograms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agent import logs

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

type Kind = Literal["counter", "gauge", "histogram"]
type Level = Literal["debug", "info"]

PREFIX = "isthmus_"
MAX_SERIES = 1_000
"""Combinations of labels that one metric keeps; further ones are still logged."""
MAX_LABEL = 100
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_log = logs.get_logger("metrics")


@dataclass(frozen=True, slots=True)
class Declared:
    """One metric: its kind, its labels in order, what it counts, and the level of its log lines."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str
    level: Level


class Metrics:
    """The declared metrics of a process and their sinks."""

    def __init__(self) -> None:
        self._declared: dict[str, Declared] = {}
        self._collectors: dict[str, Any] = {}
        self._series: dict[str, set[tuple[str, ...]]] = {}
        self._registry: CollectorRegistry | None = None
        self._reported: set[str] = set()
        self.declare("metrics_misused", "counter", ("metric",), "Emits that did not follow their declaration.")

    def declare(
        self, name: str, kind: Kind, labels: tuple[str, ...], description: str, *, level: Level | None = None
    ) -> None:
        """Declare a metric; saying the same again is fine.

        Args:
            name: snake_case, without prefix; histograms of time end in `_seconds`.
            kind: `counter` adds, `gauge` sets, `histogram` observes.
            labels: The names that every emit gives.
            description: One sentence for `/metrics`.
            level: Of the log line of each emit; info for counters, debug for the others, which are frequent.

        Raises:
            ValueError: The name is taken by another declaration, or a label's value would not be logged.

        """
        private = logs.PRIVATE_KEYS & set(labels)
        if private:
            raise ValueError(f"metric {name}: the label {min(private)} is private and would be dropped from the log")
        declared = Declared(name, kind, labels, description, level or ("info" if kind == "counter" else "debug"))
        known = self._declared.setdefault(name, declared)
        if known != declared:
            raise ValueError(f"metric {name} is declared twice, and differently: give one of them another name")
        if self._registry is not None and name not in self._collectors:
            self._collectors[name] = self._collector(declared)

    def emit(self, name: str, value: float = 1, **labels: object) -> None:
        """Count, set or observe `value`. Never raises."""
        try:
            self._emit(name, value, labels)
        except Exception as error:  # noqa: BLE001 - neither sink may fail the caller
            self._misused(name, type(error).__name__)

    def _emit(self, name: str, value: float, labels: dict[str, object]) -> None:
        declared = self._declared.get(name)
        if declared is None:
            self._misused(name, "not declared")
            return
        if labels.keys() != set(declared.labels):
            self._misused(name, f"labels {sorted(labels)} are not {sorted(declared.labels)}")
            return
        if not math.isfinite(value) or (declared.kind == "counter" and value < 0):
            self._misused(name, "the value is not a count")
            return
        self._log_line(declared, value, labels)
        self._observe(declared, value, tuple(str(labels[label])[:MAX_LABEL] for label in declared.labels))

    def _log_line(self, declared: Declared, value: float, labels: dict[str, object]) -> None:
        # A plain count of one says nothing that the line itself does not say.
        fields = labels if declared.kind == "counter" and value == 1 else {**labels, "value": value}
        if declared.level == "debug":
            _log.debug(declared.name, **fields)
        else:
            _log.info(declared.name, **fields)

    def _observe(self, declared: Declared, value: float, labels: tuple[str, ...]) -> None:
        collector = self._collectors.get(declared.name)
        if collector is None:
            return
        series = self._series.setdefault(declared.name, set())
        if labels not in series:
            if len(series) >= MAX_SERIES:
                self._misused(declared.name, f"more than {MAX_SERIES} combinations of labels")
                return
            series.add(labels)
        child = collector.labels(*labels) if labels else collector
        if declared.kind == "counter":
            child.inc(value)
        elif declared.kind == "gauge":
            child.set(value)
        else:
            child.observe(value)

    def _misused(self, name: str, reason: str) -> None:
        if name not in self._reported and len(self._reported) < MAX_SERIES:
            self._reported.add(name)
            _log.error("metric_misused", metric=name, reason=reason)
        collector = self._collectors.get("metrics_misused")
        if collector is not None:
            known = name if name in self._declared else "undeclared"
            collector.labels(known).inc()

    def enable(self) -> None:
        """Start the Prometheus sink: what is emitted from now on is kept for `render()`."""
        if self._registry is not None:
            return
        from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector

        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        for declared in self._declared.values():
            self._collectors[declared.name] = self._collector(declared)

    def _collector(self, declared: Declared) -> Any:
        from prometheus_client import Counter, Gauge, Histogram

        name, registry = PREFIX + declared.name, self._registry
        if declared.kind == "counter":
            return Counter(name, declared.help, declared.labels, registry=registry)
        if declared.kind == "gauge":
            return Gauge(name, declared.help, declared.labels, registry=registry)
        return Histogram(name, declared.help, declared.labels, registry=registry, buckets=BUCKETS)

    def render(self) -> bytes:
        """What `/metrics` answers, in Prometheus' text format; empty before `enable()`."""
        if self._registry is None:
            return b""
        from prometheus_client import generate_latest

        return generate_latest(self._registry)


process = Metrics()
"""The metrics of this process; the functions below are its methods."""

declare = process.declare
emit = process.emit
enable = process.enable
render = process.render
