"""A reply's steps as buttons. Their ids say what they do, so that they work after a restart: pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agent.commands import StepKind
from agent.steps import step_id
from agent.text import clip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.commands import Step

ROWS: Final = 5
IN_ROW: Final = 5
LABEL: Final = 80
_ROW, _BUTTON = 1, 2
_GREY, _RED = 2, 4
_KIND: Final = 1_000
"""A component's number tells the kind of its step: Discord keeps it and gives it back when a button is pressed."""
_ORDER: Final = (StepKind.PLAIN, StepKind.PREVIOUS, StepKind.NEXT, StepKind.CONFIRM)


def rows_of(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return rows of buttons; a step that fits into no button is left out, for the text says it in words too."""
    buttons: dict[str, dict[str, Any]] = {}
    for number, step in enumerate(steps):
        identifier = step_id(step)
        if identifier is None or identifier in buttons or len(buttons) == ROWS * IN_ROW:
            continue
        buttons[identifier] = {
            "type": _BUTTON,
            "id": _KIND * (1 + _ORDER.index(step.kind)) + number,
            "style": _RED if step.kind is StepKind.CONFIRM else _GREY,
            "label": clip(step.label, LABEL) or "…",
            "custom_id": identifier,
        }
    every = list(buttons.values())
    return [{"type": _ROW, "components": every[at : at + IN_ROW]} for at in range(0, len(every), IN_ROW)]


def kind_of(pressed: Mapping[str, Any]) -> StepKind:
    """Return the kind of the step whose button was pressed."""
    place = int(pressed.get("id") or 0) // _KIND - 1
    return _ORDER[place] if 0 <= place < len(_ORDER) else StepKind.PLAIN
