"""How lore stands in a prompt: pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from agent.contracts.context import ContextEntry, ContextItem, Role, Section, Tag
from agent.text import one_line

if TYPE_CHECKING:
    from datetime import datetime

    from plugins.lorebook.rules import Hit

STANDING: Final = "## Lore"
CALLED: Final = "## Lore that this conversation calls up"
_MACRO: Final = re.compile(r"\{\{(char|user)\}\}|\{(bot|user)\}", re.IGNORECASE)
_DECORATOR: Final = re.compile(r"\A(?:@@[^\n]*(?:\n|\Z))+")


def names_of(bot: str, user: str) -> dict[str, str]:
    """Return what the placeholders stand for."""
    return {"char": one_line(bot), "bot": one_line(bot), "user": one_line(user)}


def resolve(text: str, names: Mapping[str, str]) -> str:
    """Put the names in, once: a name that looks like a placeholder stays as it is, and so does every other macro."""
    return _MACRO.sub(lambda found: names[(found[1] or found[2]).lower()], text)


def shown_content(content: str, names: Mapping[str, str]) -> str:
    """Return the lore of an entry as the prompt shows it: without decorators (`@@…`), its names put in."""
    return resolve(_DECORATOR.sub("", content), names).strip()


def is_standing(hit: Hit) -> bool:
    """Tell whether an entry is in every prompt of its place, so that it belongs into the cached part."""
    return hit.entry.constant and hit.entry.probability >= 100  # noqa: PLR2004 - per cent


def items_of(hits: Iterable[Hit], names: Mapping[str, str], now: datetime) -> tuple[ContextItem, ...]:
    """Return at most two items, in the order of insertion: what always stands there, and what was called up.

    All lore is of this moment, so that when a prompt is too long it gives way after what is older, those of lower
    order first.
    """
    parts: dict[Section, list[ContextEntry]] = {Section.PREFIX: [], Section.TAIL: []}
    for hit in hits:
        text = shown_content(hit.entry.content, names)
        if not text:
            continue
        section, heading = (Section.PREFIX, STANDING) if is_standing(hit) else (Section.TAIL, CALLED)
        parts[section].append(ContextEntry(hit.entry.identity, text, text, now, heading))
    return tuple(
        ContextItem(Tag.LOREBOOK, Role.SYSTEM, section, "", tuple(entries))
        for section, entries in parts.items()
        if entries
    )
