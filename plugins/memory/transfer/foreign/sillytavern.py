"""SillyTavern lorebooks, and the books of character cards (V2, V3): each entry becomes a memory of the server.

Keys, positions and chances mean nothing to a memory: they are named as left out, except that keys are kept as tags.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from agent.contracts.memory import MemoryScope
from agent.json_file import Fields, kind_of
from agent.text import clip, one_line
from plugins.memory.transfer.collecting import Collected, content_of
from plugins.memory.transfer.entries import MAX_TAG, MAX_TAGS, Entry, ImportRefused, Parsed, Source

_CARDS: Final = frozenset({"chara_card_v2", "chara_card_v3"})
_MACRO: Final = re.compile(r"\{\{(user|char)\}\}", re.IGNORECASE)
_KEYS: Final = ("key", "keys")
_KNOWN: Final = frozenset({"uid", "id", "content", *_KEYS, "disable", "enabled", "comment", "name"})
_BOOK: Final = ("entries", "name")
KEYS_NOTE: Final = (
    "keys are kept as tags, and call nothing up: for lore that joins when it is spoken of, use isthmus lorebook import"
)


def looks_so(data: Any) -> bool:
    """Tell whether a file is a lorebook, or a character card."""
    return isinstance(data, Mapping) and ("entries" in data or _is_card(data) or "character_book" in data)


def _is_card(data: Mapping[str, Any]) -> bool:
    """Tell whether a file says that it is a card; what it says may be of any kind."""
    spec = data.get("spec")
    return isinstance(spec, str) and spec in _CARDS


def read_sillytavern(data: Mapping[str, Any]) -> Parsed:
    """Return the entries that are switched on.

    Raises:
        ImportRefused: there is no book in the card, or faults, a line each.
    """
    collected = Collected(Source.SILLYTAVERN)
    book, where = _book(data)
    collected.unknown(book, _BOOK)
    entries = book.get("entries")
    if isinstance(entries, Mapping):
        entries = list(entries.values())
    for number, place, fields in collected.objects(entries, where):
        collected.leave_out(number, sorted(_meaningful(fields)))
        if _is_off(fields):
            collected.report.notes.append(f"entry {number} ({place}): switched off in the file, left out")
            continue
        content = _MACRO.sub(
            lambda macro: "{user}" if macro[1].lower() == "user" else "{bot}", content_of(fields, "content")
        )
        entry = Entry(number, place, MemoryScope.SERVER, content, tags=_tags(fields))
        collected.entries.append(entry)
    if collected.report.errors:
        raise ImportRefused(*collected.report.errors)
    if any(entry.tags for entry in collected.entries):
        collected.report.notes.append(KEYS_NOTE)
    return collected.parsed()


def _book(data: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    inner = data.get("data")
    if _is_card(data):
        book = inner.get("character_book") if isinstance(inner, Mapping) else None
        where = "data.character_book"
    elif "character_book" in data:
        book, where = data["character_book"], "character_book"
    else:
        return data, "entries"
    if book is None:
        raise ImportRefused(f"{where}: this character card has no book, so there is nothing to take over")
    if not isinstance(book, Mapping):
        raise ImportRefused(f"{where}: an object is expected, this is {kind_of(book)}")
    return book, f"{where}.entries"


def _meaningful(fields: Fields) -> list[str]:
    """Return the unknown fields that say anything."""
    said = fields.unknown(_KNOWN).items()
    return [key for key, value in said if value is not False and value not in (None, "", [], {})]


def _placeholder(macro: re.Match[str]) -> str:
    return "{user}" if macro[1].lower() == "user" else "{bot}"


def _is_off(fields: Fields) -> bool:
    return fields.flag("disable", default=False) or not fields.flag("enabled", default=True)


def _tags(fields: Fields) -> tuple[str, ...]:
    """Return the keys, and before them the title, which the memory would lose otherwise."""
    key = next((key for key in _KEYS if fields.data.get(key) is not None), _KEYS[0])
    title = next(filter(None, (one_line(fields.text(name)) for name in ("comment", "name"))), "")
    keys = fields.texts(key, most=1000, longest=10_000)
    tags = tuple(clip(tag, MAX_TAG) for tag in dict.fromkeys(filter(None, (title, *keys))))
    if len(tags) > MAX_TAGS:
        fields.note(key, f"only the first {MAX_TAGS} of {len(tags)} are kept as tags")
    return tags[:MAX_TAGS]
