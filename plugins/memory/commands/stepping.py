"""The buttons of a list in pages: pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.catalog import translate
from agent.commands import Step, StepKind

if TYPE_CHECKING:
    from agent.commands import Invocation


def page_steps(call: Invocation, page: int, pages: int) -> tuple[Step, ...]:
    """Return the steps to the pages before and behind one: the same command with everything else that was given."""
    around = (
        (translate(call.locale, "Back"), page - 1, StepKind.PREVIOUS),
        (translate(call.locale, "Next"), page + 1, StepKind.NEXT),
    )
    given = {name: value for name, value in call.options.items() if isinstance(value, (str, int))}
    return tuple(
        Step(label, call.command, {**given, "page": number}, kind)
        for label, number, kind in around
        if 1 <= number <= pages
    )
