"""Reading lorebooks that people bring: SillyTavern's own, and those of character cards (V2, V3; JSON or PNG)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Final

from agent.files import FileRefused, too_large
from agent.json_file import Fields, Report, kind_of, parse_object, storable
from agent.text import clean, clip, one_line
from plugins.lorebook.book import (
    MAX_BUDGET,
    MAX_CONTENT,
    MAX_DEPTH,
    MAX_KEY,
    MAX_KEYS,
    MAX_NAME,
    MAX_ORDER,
    MAX_PATTERNS,
    Book,
    Entry,
)
from plugins.lorebook.fields import LOGICS, USED, means_nothing
from plugins.lorebook.fields_of_cards import as_sillytavern, foreign_extensions
from plugins.lorebook.keys import probe
from plugins.lorebook.pattern import split_key
from plugins.lorebook.png import card_in_png, is_png

MAX_FILE: Final = 16 * 1024 * 1024
"""Bytes of a picture."""
MAX_JSON: Final = 4 * 1024 * 1024
_SIGNS: Final = re.compile(r"[\\^$|?*+()\[\]{}]")
"""What a pattern has and plain words seldom do."""
_MAX_UID: Final = 2**31 - 1
_LABELS: Final = 5
_BOOK_FIELDS: Final = frozenset({"name", "description", "scan_depth", "token_budget", "recursive_scanning", "entries"})
_DERIVED: Final = frozenset({"use_regex"})
"""What is worked out anew for each export."""
_COPIES: Final = frozenset({"originalData"})
"""What SillyTavern keeps of the file that a book came from: the same entries once more."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The lorebook within a file."""

    data: Mapping[str, Any]
    entries: list[tuple[str, Any]]
    """Each with what a report calls it."""
    is_card: bool
    name: str = ""


@dataclass(slots=True)
class _Kept:
    """By line, the entries of which it is true; and how many patterns there are."""

    by_line: dict[str, list[str]] = field(default_factory=dict)
    patterns: int = 0

    def add(self, line: str, label: str) -> None:
        self.by_line.setdefault(line, []).append(label)

    def lines(self) -> Iterator[str]:
        for line, labels in self.by_line.items():
            more = f" and {len(labels) - _LABELS} more" if len(labels) > _LABELS else ""
            yield f"{line} (in {', '.join(labels[:_LABELS])}{more})"


def read_book(content: bytes, file_name: str, *, most_entries: int) -> tuple[Book | None, Report]:
    """Return the lorebook of a file with notes on it; None with the errors for which nothing of it can be taken.

    It takes up to a second for the largest files: call it in a thread.

    Raises:
        FileRefused: the file as a whole cannot be used.
    """
    shown = clip(one_line(clean(file_name)), 80) or "the file"
    if is_png(content):
        content = card_in_png(content, shown, MAX_JSON)
    if len(content) > MAX_JSON:
        raise too_large(shown, MAX_JSON)
    found = _locate(parse_object(content, shown), shown)
    if len(found.entries) > most_entries:
        raise FileRefused(f"{shown}: it has {len(found.entries)} entries; at most {most_entries} fit into one server")
    report = Report()
    book = _book(found, clean(PurePath(shown).stem), report)
    return (None if report.errors else book), report


def _locate(data: Mapping[str, Any], name: str) -> _Found:
    if (program := _program(data)) is not None:
        raise FileRefused(f"{name}: a lorebook of {program} cannot be read; SillyTavern can convert it")
    inner = data.get("data")
    if isinstance(inner, Mapping) and data.get("spec") == "lorebook_v3":
        return _of_card(inner, "", name)
    if isinstance(inner, Mapping) and ("character_book" in inner or str(data.get("spec")).startswith("chara_card")):
        book = inner.get("character_book")
        if book is None:
            raise FileRefused(f"{name}: this character card has no lorebook")
        owner = inner.get("name") if isinstance(inner.get("name"), str) else ""
        return _of_card(book, f"{owner}'s lorebook" if owner else "", name)
    entries = data.get("entries")
    if isinstance(entries, Mapping):
        return _Found(data, [(f"entry {key}", value) for key, value in entries.items()], is_card=False)
    if isinstance(entries, list):
        return _of_card(data, "", name)
    raise FileRefused(f"{name}: this is neither a lorebook (it has no entries) nor a character card with one")


def _program(data: Mapping[str, Any]) -> str | None:
    """Return which other program a lorebook is from."""
    if "lorebookVersion" in data:
        return "NovelAI"
    return {"memory": "Agnai", "risu": "RisuAI"}.get(str(data.get("kind") or data.get("type")))


def _of_card(book: Any, called: str, name: str) -> _Found:
    entries = book.get("entries") if isinstance(book, Mapping) else None
    if not isinstance(entries, list):
        raise FileRefused(f"{name}: the lorebook of this character card has no list of entries")
    return _Found(book, [(f"entry {n}", entry) for n, entry in enumerate(entries, 1)], is_card=True, name=called)


def _book(found: _Found, file_name: str, report: Report) -> Book:
    fields = Fields(found.data, "", report)
    kept = _Kept()
    entries = tuple(sorted(_entries(found, kept, report), key=lambda entry: entry.uid))
    extra = fields.unknown(_BOOK_FIELDS | _COPIES)
    if not extra.get("extensions"):
        extra.pop("extensions", None)
    for key in extra:
        fields.note(key, "kept for the export, not used")
    report.notes += kept.lines()
    name = fields.text("name", longest=1_000) or found.name or file_name
    return Book(
        name=clip(one_line(clean(name)), MAX_NAME) or "lorebook",
        entries=entries,
        description=fields.text("description", longest=MAX_CONTENT),
        scan_depth=fields.whole("scan_depth", 0, MAX_DEPTH),
        token_budget=fields.whole("token_budget", 0, MAX_BUDGET),
        recursive=fields.flag_or_none("recursive_scanning"),
        extra=storable(extra),
    )


def _entries(found: _Found, kept: _Kept, report: Report) -> Iterable[Entry]:
    taken: set[int] = set()
    for label, data in found.entries:
        if not isinstance(data, Mapping):
            report.errors.append(f"{label}: an object is expected, this is {kind_of(data)}")
            continue
        shown: Mapping[str, str] = {}
        if found.is_card:
            data, shown = as_sillytavern(data)  # noqa: PLW2901 - the same entry under other names
        called = data.get("comment") or data.get("name")
        title = clip(one_line(clean(called)), 40) if isinstance(called, str) else ""
        where = f"{label} ({title})" if title else label
        entry = _entry(Fields(data, where, report, shown), kept, where)
        yield _numbered(entry, taken)


def _numbered(entry: Entry, taken: set[int]) -> Entry:
    """Give an entry a number of its own, where its file gives it none or one that another one has."""
    uid = entry.uid
    if uid < 0 or uid in taken:
        uid = max(taken, default=-1) + 1
    taken.add(uid)
    return entry if uid == entry.uid else replace(entry, uid=uid)


def _entry(fields: Fields, kept: _Kept, where: str) -> Entry:
    logic = fields.whole("selectiveLogic", 0, len(LOGICS) - 1) or 0
    content = fields.text("content", longest=MAX_CONTENT)
    if content.startswith("@@"):
        kept.add("content: lines that begin with @@ are kept and not shown", where)
    uid = fields.data.get("uid")
    is_number = isinstance(uid, int) and not isinstance(uid, bool) and 0 <= uid < _MAX_UID
    return Entry(
        content=content,
        keys=_keys(fields, "key", kept),
        secondary_keys=_keys(fields, "keysecondary", kept),
        logic=LOGICS[logic],
        selective=fields.flag("selective", default=True),
        constant=fields.flag("constant", default=False),
        enabled=not fields.flag("disable", default=False),
        order=_or(fields.whole("order", -MAX_ORDER, MAX_ORDER), 100),
        scan_depth=fields.whole("scanDepth", 0, MAX_DEPTH),
        whole_words=fields.flag_or_none("matchWholeWords"),
        case_sensitive=fields.flag_or_none("caseSensitive"),
        probability=_probability(fields),
        exclude_recursion=fields.flag("excludeRecursion", default=False),
        prevent_recursion=fields.flag("preventRecursion", default=False),
        delay_until_recursion=_delayed(fields),
        name=clip(one_line(fields.text("comment") or fields.text("name")), MAX_NAME),
        uid=int(uid) if is_number and uid is not None else -1,
        extra=storable(_extra(fields, kept, where)),
    )


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _keys(fields: Fields, name: str, kept: _Kept) -> tuple[str, ...]:
    keys = tuple(dict.fromkeys(fields.texts(name, most=MAX_KEYS, longest=MAX_KEY)))
    patterns = [key for key in keys if split_key(key) is not None]
    kept.patterns += len(patterns)
    if kept.patterns > MAX_PATTERNS:
        if kept.patterns - len(patterns) <= MAX_PATTERNS:
            fields.fault(name, f"there are more than {MAX_PATTERNS} patterns in this file")
        return keys
    for key in patterns:
        if (problem := probe(key)) is not None:
            fields.fault(name, clip(problem, 200))
    plain = [key for key in keys if key not in patterns and _SIGNS.search(key)]
    if plain and fields.data.get("use_regex") is True:
        fields.note(name, f"{clip(plain[0], 80)} is taken for plain words; a pattern is written /…/")
    return keys


def _probability(fields: Fields) -> int:
    probability = _or(fields.whole("probability", 0, 100), 100)
    if fields.flag("useProbability", default=True) or probability == 100:  # noqa: PLR2004 - per cent
        return probability
    fields.note("probability", f"{probability} is switched off in the file, and so not taken over")
    return 100


def _delayed(fields: Fields) -> bool:
    value = fields.data.get("delayUntilRecursion")
    if isinstance(value, int) and not isinstance(value, bool):
        if value > 1:
            fields.note("delayUntilRecursion", f"level {value} is taken for the first")
        return value > 0
    return fields.flag("delayUntilRecursion", default=False)


def _extra(fields: Fields, kept: _Kept, where: str) -> dict[str, Any]:
    extra = {key: value for key, value in fields.unknown(USED | _DERIVED).items() if value is not None}
    if isinstance(extra.get("extensions"), Mapping):
        extra["extensions"] = foreign_extensions(extra["extensions"])
    if extra.get("extensions") == {}:
        del extra["extensions"]
    if extra.get("name") == fields.data.get("comment") or not fields.data.get("comment"):
        extra.pop("name", None)
    for key, value in extra.items():
        if not means_nothing(key, value):
            kept.add(f"{fields.shown(key)}: kept for the export, not used", where)
    return extra
