"""Tells operators of failing plugins: a line in the log that does not repeat itself, and a metric that counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent import logs, metrics
from agent.extensions.calls import Failure
from agent.extensions.repeats import Repeats

metrics.declare(
    "plugin_failures",
    "counter",
    ("plugin", "hook", "reason"),
    "Calls of plugins that raised, were late, or answered nonsense.",
    level="debug",  # the line of each failure is written below, with more to say
)
_log = logs.get_logger("agent.plugins")


class Failures:
    """Logs each (plugin, hook, kind of error) once, then at most once a minute with a count; counts each in a metric.

    `monotonic` gives seconds.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._repeats: Repeats[tuple[str, str, str, str]] = Repeats(monotonic)

    def note(self, failure: Failure) -> None:
        """Log and count one failure."""
        metrics.emit("plugin_failures", plugin=failure.plugin, hook=failure.hook, reason=failure.reason.value)
        kind = type(failure.error).__name__ if failure.error else ""
        count = self._repeats.happened((failure.plugin, failure.hook, failure.reason.value, kind))
        if count:
            fields: dict[str, Any] = {"count": count} if count > 1 else {}
            if failure.error is not None:
                fields["exc_info"] = failure.error
            _log.warning(
                "plugin_failed", plugin=failure.plugin, hook=failure.hook, reason=failure.reason.value, **fields
            )

    def flush(self) -> None:
        """Log the counts that were not told yet."""
        for (plugin, hook, reason, kind), count in self._repeats.take_untold():
            _log.warning("plugin_failed", plugin=plugin, hook=hook, reason=reason, error=kind, count=count)
