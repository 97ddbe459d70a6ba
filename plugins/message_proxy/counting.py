"""The metrics of the plugin: what became of messages, and how long they waited; no ids."""

from __future__ import annotations

from agent import metrics
from plugins.message_proxy.values import Outcome

metrics.declare(
    "message_proxy_outcomes", "counter", ("outcome",), "Messages of webhooks, by what became of them.", level="debug"
)
metrics.declare(
    "message_proxy_delay_seconds", "histogram", (), "Seconds that messages waited before their turn was begun."
)


def count(outcome: Outcome) -> None:
    """Count what became of a webhook's message."""
    metrics.emit("message_proxy_outcomes", outcome=outcome.value)


def delayed(seconds: float) -> None:
    """Observe how long a message waited."""
    metrics.emit("message_proxy_delay_seconds", max(seconds, 0.0))
