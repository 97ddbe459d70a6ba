"""Changing one field of an entry or a lorebook, from what somebody typed: pure functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from agent.catalog import N_, fill
from agent.text import clean, clip, one_line
from plugins.lorebook.book import (
    MAX_BUDGET,
    MAX_CONTENT,
    MAX_DEPTH,
    MAX_KEY,
    MAX_KEYS,
    MAX_NAME,
    MAX_ORDER,
    Book,
    Logic,
    Scope,
)
from plugins.lorebook.keys import probe

_ON: Final = frozenset({"on", "yes", "true", "1"})
_OFF: Final = frozenset({"off", "no", "false", "0"})
_DEFAULT: Final = frozenset({"default", "none", "-"})
_ALL: Final = frozenset({"all", "everywhere", "-"})
_KEY: Final = re.compile(r"\s*(/(?:[^/\\]|\\.)+/[dgimsuvy]*(?=\s*(?:,|\Z))|[^,]*)\s*(?:,|\Z)")
_CHANNEL: Final = re.compile(r"<#(\d+)>|([^\s,]+)")


class LoreRefused(Exception):
    """Something cannot be done; `translate(locale, refused.msgid, **refused.values)` says it to its user."""

    def __init__(self, msgid: str, **values: object) -> None:
        self.msgid = msgid
        self.values = values
        super().__init__(fill(msgid, values))


def split_keys(text: str) -> tuple[str, ...]:
    """Return the keys in a list with commas, where a pattern may hold commas of its own; `-` means none.

    Raises:
        LoreRefused: there are too many, one is too long, or one is no usable pattern.
    """
    if text.strip() in {"", "-"}:
        return ()
    found = (one_line(match[1]) for match in _KEY.finditer(clean(text)))
    keys = tuple(dict.fromkeys(key for key in found if key))
    if len(keys) > MAX_KEYS:
        raise LoreRefused(N_("At most {limit} keys fit into one entry."), limit=MAX_KEYS)
    for key in keys:
        if len(key) > MAX_KEY:
            raise LoreRefused(N_("A key has at most {limit} characters."), limit=MAX_KEY)
        if (problem := probe(key)) is not None:
            raise LoreRefused(N_("That key cannot be used: {problem}."), problem=problem)
    return keys


def _short(text: str) -> str:
    """Return what somebody typed, as a sentence may quote it."""
    return clip(one_line(clean(text)), 40)


def _text(longest: int) -> Callable[[str], str]:
    def read(text: str) -> str:
        text = clean(text).strip()
        if len(text) > longest:
            raise LoreRefused(
                N_("That text has {length} characters; at most {limit} fit."), length=len(text), limit=longest
            )
        return text

    return read


def _content(text: str) -> str:
    text = _text(MAX_CONTENT)(text)
    if not text:
        raise LoreRefused(N_("An entry needs a text."))
    return text


def _name(text: str) -> str:
    return one_line(_text(MAX_NAME)(text))


def _flag(text: str) -> bool:
    word = text.strip().lower()
    if word not in _ON | _OFF:
        raise LoreRefused(N_("That is on or off, not “{value}”."), value=_short(word))
    return word in _ON


def _flag_or_default(text: str) -> bool | None:
    return None if text.strip().lower() in _DEFAULT else _flag(text)


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        word = text.strip()
        if not re.fullmatch(r"[+-]?\d{1,9}", word, re.ASCII) or not least <= int(word) <= most:
            raise LoreRefused(
                N_("That is a number from {least} to {most}, not “{value}”."),
                least=least,
                most=most,
                value=_short(word),
            )
        return int(word)

    return read


def _whole_or_default(least: int, most: int) -> Callable[[str], int | None]:
    def read(text: str) -> int | None:
        return None if text.strip().lower() in _DEFAULT else _whole(least, most)(text)

    return read


def _logic(text: str) -> Logic:
    word = re.sub(r"[\s-]+", "_", text.strip().lower())
    if word not in set(Logic):
        choices = ", ".join(Logic)
        raise LoreRefused(N_("That is one of {choices}, not “{value}”."), choices=choices, value=_short(word))
    return Logic(word)


ENTRY_FIELDS: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "name": ("name", _name),
    "content": ("content", _content),
    "keys": ("keys", split_keys),
    "secondary": ("secondary_keys", split_keys),
    "logic": ("logic", _logic),
    "selective": ("selective", _flag),
    "constant": ("constant", _flag),
    "enabled": ("enabled", _flag),
    "order": ("order", _whole(-MAX_ORDER, MAX_ORDER)),
    "depth": ("scan_depth", _whole_or_default(0, MAX_DEPTH)),
    "whole-words": ("whole_words", _flag_or_default),
    "case-sensitive": ("case_sensitive", _flag_or_default),
    "probability": ("probability", _whole(0, 100)),
    "exclude-recursion": ("exclude_recursion", _flag),
    "prevent-recursion": ("prevent_recursion", _flag),
    "delay-until-recursion": ("delay_until_recursion", _flag),
}
"""What may be changed of an entry: by the word for it, the field and how its value is read."""

BOOK_FIELDS: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "name": ("name", _name),
    "description": ("description", _text(MAX_CONTENT)),
    "enabled": ("enabled", _flag),
    "depth": ("scan_depth", _whole_or_default(0, MAX_DEPTH)),
    "budget": ("token_budget", _whole_or_default(0, MAX_BUDGET)),
    "recursive": ("recursive", _flag_or_default),
}
"""The same of a lorebook; `persona` and `channels` need to know the place."""

SCOPE_FIELDS: Final = ("persona", "channels")


def entry_change(field: str, value: str) -> dict[str, Any]:
    """Return what changes of an entry, by field; patterns are tried, which takes some milliseconds.

    Raises:
        LoreRefused: there is no such field, or the value does not fit.
    """
    if field not in ENTRY_FIELDS:
        raise LoreRefused(
            N_("An entry has {fields}, not “{field}”."), fields=", ".join(ENTRY_FIELDS), field=_short(field)
        )
    name, read = ENTRY_FIELDS[field]
    return {name: read(value)}


def changed_book(book: Book, field: str, value: str, lineages: Mapping[str, int], here: str) -> Book:
    """Return the lorebook with one field changed.

    Args:
        book: The lorebook.
        field: A word of `BOOK_FIELDS` or `SCOPE_FIELDS`.
        value: What was typed.
        lineages: The lineage of each persona of the server, by name in lower case.
        here: The channel in which it was typed.

    Raises:
        LoreRefused: there is no such field, or the value does not fit.

    """
    if field == "persona":
        return replace(book, scope=Scope(lineage_of(value, lineages), book.scope.channel_ids))
    if field == "channels":
        return replace(book, scope=Scope(book.scope.lineage_id, channels_of(value, here)))
    if field not in BOOK_FIELDS:
        fields = ", ".join((*BOOK_FIELDS, *SCOPE_FIELDS))
        raise LoreRefused(N_("A lorebook has {fields}, not “{field}”."), fields=fields, field=_short(field))
    name, read = BOOK_FIELDS[field]
    change: Any = {name: read(value)}
    if change == {"name": ""}:
        raise LoreRefused(N_("A lorebook needs a name."))
    return replace(book, **change)


def lineage_of(value: str, lineages: Mapping[str, int]) -> int | None:
    """Return the lineage of a persona's name; None for `all`."""
    word = one_line(clean(value)).lower()
    if word in lineages:
        return lineages[word]
    if word in _ALL:
        return None
    raise LoreRefused(N_("There is no persona “{name}” here."), name=_short(word))


def channels_of(value: str, here: str) -> tuple[str, ...]:
    """Return the channels of a list: ids or mentions, `here`, or `all` for none."""
    if value.strip().lower() in {"", *_ALL}:
        return ()
    found = (match[1] or match[2] for match in _CHANNEL.finditer(clean(value)))
    channels = tuple(dict.fromkeys(here if word.lower() == "here" else word for word in found))
    if len(channels) > MAX_KEYS or any(len(channel) > MAX_NAME * 3 for channel in channels):
        raise LoreRefused(N_("At most {limit} channels fit."), limit=MAX_KEYS)
    return channels
