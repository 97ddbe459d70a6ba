"""Forms for long texts: what was given already stands in the form's id, or is kept where it does not fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cachetools import LRUCache

from agent.catalog import translate
from agent.commands import Command, Option, Step
from agent.steps import StepLost, is_step, read_step, step_id
from agent.text import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TEXT: Final = 4_000
"""Characters of one text in a form."""
TITLE: Final = 45
LABEL: Final = 45
DESCRIPTION: Final = 100
MOST_FIELDS: Final = 5
_OPEN: Final = 1_000
"""Forms whose options do not fit into an id, and that may still be sent."""
_KEPT: Final = "form:"
_LABEL, _INPUT, _PARAGRAPH = 18, 4, 2


@dataclass(frozen=True, slots=True)
class Field:
    """A long text that a form asks for."""

    option: Option
    text: str
    """What stands there at first."""


class Forms:
    """Makes forms and reads what was sent with them."""

    def __init__(self, commands: Sequence[Command]) -> None:
        self._commands = commands
        self._kept: LRUCache[str, tuple[Command, Mapping[str, Any]]] = LRUCache(_OPEN)

    def made(
        self, command: Command, options: Mapping[str, Any], fields: Sequence[Field], number: str, locale: str
    ) -> dict[str, Any]:
        """Return a form; `number` is the id of the interaction that asks for it."""
        return {
            "custom_id": self._identifier(command, options, number),
            "title": clip(f"/{' '.join(command.path)}", TITLE),
            "components": [_field(field, locale) for field in fields[:MOST_FIELDS]],
        }

    def read(self, data: Mapping[str, Any]) -> tuple[Command, dict[str, Any]]:
        """Return the command and all its options of a form that was sent.

        Raises:
            StepLost: the agent was restarted since, or the command is gone.
        """
        identifier = str(data.get("custom_id") or "")
        if is_step(identifier):
            command, options = read_step(identifier, self._commands)
        elif identifier in self._kept:
            command, options = self._kept.pop(identifier)
        else:
            raise StepLost("this form is too old: run the command again")
        long = {option.name for option in command.options if option.long}
        texts = {name: text for name, text in _texts(data.get("components") or ()) if name in long and text.strip()}
        return command, {**options, **texts}

    def _identifier(self, command: Command, options: Mapping[str, Any], number: str) -> str:
        if all(isinstance(value, (str, int)) for value in options.values()):
            written = step_id(Step("", command.path, options))
            if written is not None:
                return written
        identifier = f"{_KEPT}{number}"
        self._kept[identifier] = (command, dict(options))
        return identifier


def asked_for(command: Command, given: Mapping[str, Any]) -> tuple[Option, ...]:
    """Return the long texts that a command needs and that were not given."""
    return tuple(option for option in command.options if option.long and option.required and option.name not in given)


def _field(field: Field, locale: str) -> dict[str, Any]:
    said = clip(one_line(translate(locale, field.option.description)), DESCRIPTION)
    entry = {
        "type": _INPUT,
        "custom_id": field.option.name,
        "style": _PARAGRAPH,
        "required": True,
        "min_length": 1,
        "max_length": TEXT,
        **({"value": field.text} if field.text else {}),
    }
    return {
        "type": _LABEL,
        "label": clip(field.option.name, LABEL),
        **({"description": said} if said else {}),
        "component": entry,
    }


def _texts(components: Any) -> list[tuple[str, str]]:
    """Return the texts of a form by the names of their fields, whether in labels or in rows."""
    found: list[tuple[str, str]] = []
    for part in components:
        inner = [part["component"]] if part.get("component") else list(part.get("components") or ())
        found += [(str(each.get("custom_id")), str(each.get("value") or "")) for each in inner]
    return found
