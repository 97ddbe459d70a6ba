"""Writing lorebooks as others read them: SillyTavern's own form, and the stand-alone form of character cards V3.

Where a book applies stays behind: what is imported elsewhere applies everywhere until somebody says otherwise.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

from plugins.lorebook.book import Book, Entry
from plugins.lorebook.fields import LOGICS
from plugins.lorebook.fields_of_cards import as_card
from plugins.lorebook.pattern import split_key


class Form(StrEnum):
    """The forms that a lorebook is written in."""

    SILLYTAVERN = "sillytavern"
    CARD = "card"
    """`lorebook_v3`, with the fields of a character card's `character_book`."""


def write_book(book: Book, form: Form) -> bytes:
    """Return the file of a book; reading it gives the same book."""
    entries = [_entry(entry) for entry in book.entries]
    data: dict[str, Any] = {
        **book.extra,
        "name": book.name,
        "description": book.description,
        "scan_depth": book.scan_depth,
        "token_budget": book.token_budget,
        "recursive_scanning": book.recursive,
    }
    data = {key: value for key, value in data.items() if value is not None}
    if form is Form.SILLYTAVERN:
        data["entries"] = {str(entry["uid"]): entry for entry in entries}
    else:
        data.setdefault("extensions", {})
        data["entries"] = [as_card({"use_regex": _has_pattern(entry), **entry}) for entry in entries]
        data = {"spec": "lorebook_v3", "data": data}
    return (json.dumps(data, ensure_ascii=False, indent=2) + "\n").encode()


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        **entry.extra,
        "uid": entry.uid,
        "key": list(entry.keys),
        "keysecondary": list(entry.secondary_keys),
        "comment": entry.name,
        "content": entry.content,
        "constant": entry.constant,
        "selective": entry.selective,
        "selectiveLogic": LOGICS.index(entry.logic),
        "order": entry.order,
        "disable": not entry.enabled,
        "scanDepth": entry.scan_depth,
        "matchWholeWords": entry.whole_words,
        "caseSensitive": entry.case_sensitive,
        "probability": entry.probability,
        "useProbability": True,
        "excludeRecursion": entry.exclude_recursion,
        "preventRecursion": entry.prevent_recursion,
        "delayUntilRecursion": entry.delay_until_recursion,
    }


def _has_pattern(entry: dict[str, Any]) -> bool:
    return any(split_key(key) is not None for key in (*entry["key"], *entry["keysecondary"]))
