"""The texts of a preset as they stand in a prompt: pure functions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from agent.contracts.context import ContextEntry, ContextItem, Role, Section, Tag
from agent.text import one_line

if TYPE_CHECKING:
    from plugins.presets.preset import Preset

_NAME: Final = re.compile(r"\{\{(char|user)\}\}", re.IGNORECASE)
_MACRO: Final = re.compile(r"\{\{\s*([^{}\s:]{1,40})")
NAMES: Final = frozenset({"char", "user"})
"""The macros that are resolved."""


def names_of(bot: str, user: str) -> dict[str, str]:
    """Return what the macros stand for."""
    return {"char": one_line(bot), "user": one_line(user)}


def resolve(text: str, names: Mapping[str, str]) -> str:
    """Put the names in, once: a name that looks like a macro stays as it is, and so does every other macro."""
    return _NAME.sub(lambda found: names[found[1].lower()], text)


def macros_in(text: str) -> tuple[str, ...]:
    """Return the names of the macros that stay text."""
    found = (match[1] for match in _MACRO.finditer(text))
    return tuple(dict.fromkeys(name for name in found if name.lower() not in NAMES))


def item_of(preset: Preset, names: Mapping[str, str]) -> tuple[ContextItem, ...]:
    """Return one item with an entry for each text, so that the budget counts them; `rules.arrange` spreads them."""
    entries = tuple(
        ContextEntry(prompt.identity, text, text)
        for prompt in preset.sent()
        if (text := resolve(prompt.content, names).strip())
    )
    return (ContextItem(Tag.PRESET, Role.SYSTEM, Section.PREFIX, "", entries),) if entries else ()
