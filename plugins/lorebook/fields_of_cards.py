"""Entries of character cards (V2 and V3) under SillyTavern's names, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from plugins.lorebook.fields import CARD_FIELDS, EXTENSIONS

_TO_CARD: Final = {ours: theirs for theirs, ours in CARD_FIELDS.items()}
_TO_EXTENSION: Final = {ours: theirs for theirs, ours in EXTENSIONS.items()}
_RESERVED: Final = frozenset({*CARD_FIELDS, "enabled", "case_sensitive"}) - frozenset(_TO_CARD)
"""What a card means something else by."""

type _Named = tuple[str, Any, str]
"""A field in SillyTavern's name, its value, and what the card calls it."""


def as_sillytavern(data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a card's entry in SillyTavern's names, and for each what the card calls it. Nothing is checked here."""
    fields = [*_plain(data), *_extended(data.get("extensions"))]
    return {name: value for name, value, _ in fields}, {name: called for name, _, called in fields}


def _plain(data: Mapping[str, Any]) -> Iterator[_Named]:
    for name, value in data.items():
        if name == "enabled":
            yield "disable", not value if isinstance(value, bool) else value, name
        elif name == "case_sensitive":
            yield "caseSensitive", value, name
        elif name == "position":
            if value != "before_char":
                yield "position", 1 if value == "after_char" else value, name
        elif name != "extensions":
            yield CARD_FIELDS.get(name, name), value, name


def _extended(extensions: Any) -> Iterator[_Named]:
    if not isinstance(extensions, Mapping):
        if extensions is not None:
            yield "extensions", extensions, "extensions"
        return
    for name, value in extensions.items():
        if name in EXTENSIONS and value is not None:
            yield EXTENSIONS[name], value, f"extensions.{name}"
    if foreign := foreign_extensions(extensions):
        yield "extensions", foreign, "extensions"


def foreign_extensions(extensions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the extensions that are no copies of SillyTavern's own fields."""
    return {name: value for name, value in extensions.items() if name not in EXTENSIONS}


def as_card(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry in SillyTavern's names as a card's entry."""
    extensions: dict[str, Any] = dict(entry.get("extensions") or {})
    card: dict[str, Any] = {
        "name": entry.get("comment", ""),
        "enabled": not entry.get("disable"),
        "case_sensitive": entry.get("caseSensitive"),
        "position": "after_char" if entry.get("position") == 1 else "before_char",
        "extensions": extensions,
    }
    for name, value in entry.items():
        if name in _TO_CARD:
            card[_TO_CARD[name]] = value
        elif name in _TO_EXTENSION:
            extensions[_TO_EXTENSION[name]] = value
        elif name in _RESERVED:
            extensions.setdefault(name, value)
        elif name not in {"disable", "extensions"}:
            card[name] = value
    return card
