"""The metrics of the core, declared in one place; labels are kinds and outcomes, never ids or names."""

from __future__ import annotations

from agent import metrics

metrics.declare("messages_in", "counter", ("platform",), "Messages that bridges brought.", level="debug")
metrics.declare(
    "messages_out", "counter", ("platform", "state"), "Messages of the outbox, by what became of them.", level="debug"
)
metrics.declare(
    "notices_withdrawn", "counter", ("platform", "state"), "Notices that were to be deleted, by what became of them."
)
metrics.declare("messages_unsent", "counter", ("reason",), "Messages that were given up unsent.")
metrics.declare("turns", "counter", ("outcome",), "Turns that ended, by outcome.", level="debug")
metrics.declare("turns_abandoned", "counter", ("reason",), "Events that were given up unanswered.")
metrics.declare("turns_corrected", "counter", (), "Turns that were begun anew because their message was edited.")
metrics.declare("turns_refused", "counter", ("reason",), "Messages that were addressed to the agent and not answered.")
metrics.declare(
    "prompts_not_arranged",
    "counter",
    ("reason",),
    "Arrangements of a prompt that changed what it says.",
)
metrics.declare("turn_seconds", "histogram", (), "Seconds from a turn's start to its committed answer.")
