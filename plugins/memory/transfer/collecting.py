"""What every reader of a file needs: numbered objects, moments, and a list of what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from agent.json_file import Fields, Report, kind_of
from agent.text import clean, clip, one_line
from plugins.memory.transfer.entries import MAX_ENTRIES, MAX_NAME, MAX_TAG, MAX_TAGS, Entry, Parsed, Source

_MILLISECONDS: Final = 100_000_000_000
"""Numbers from here on are milliseconds since 1970: as seconds they would be in the year 5138."""
_NUMBERS_SHOWN: Final = 5


@dataclass(slots=True)
class Collected:
    """A file under reading."""

    source: Source
    report: Report = field(default_factory=Report)
    entries: list[Entry] = field(default_factory=list)
    count: int = 0
    left_out: dict[str, list[int]] = field(default_factory=dict)
    """Field → the numbers of the entries that have it."""

    def objects(self, items: Any, where: str) -> Iterator[tuple[int, str, Fields]]:
        """Give each object of a list: its number, its place, its fields. Whatever else is in there is a fault."""
        if items is None:
            return
        if not isinstance(items, list):
            self.report.errors.append(f"{where}: a list is expected, this is {kind_of(items)}")
            return
        for index, item in enumerate(items):
            self.count += 1
            place = f"{where}[{index}]"
            if self.count > MAX_ENTRIES:
                self.report.errors.append(f"{place}: one file may hold at most {MAX_ENTRIES} memories")
                return
            label = f"entry {self.count} ({place})"
            if not isinstance(item, Mapping):
                self.report.errors.append(f"{label}: an object is expected, this is {kind_of(item)}")
                continue
            yield self.count, place, Fields(item, label, self.report)

    def leave_out(self, number: int, names: Iterable[str]) -> None:
        """Note fields of an entry that are not taken over."""
        for name in names:
            self.left_out.setdefault(clip(one_line(clean(name)), 80), []).append(number)

    def unknown(self, fields: Mapping[str, Any], known: Iterable[str], where: str = "") -> None:
        """Note fields outside of the entries that are not known."""
        for name in sorted(set(fields) - set(known)):
            shown = clip(one_line(clean(name)), 80)
            self.report.notes.append(f"{where}{': ' if where else ''}field {shown!r}: not known, left out")

    def parsed(self) -> Parsed:
        """Return the entries, and a line for each field that was left out."""
        lines = [
            f"field {name!r}: not taken over ({_entries(numbers)})" for name, numbers in sorted(self.left_out.items())
        ]
        return Parsed(self.source, tuple(self.entries), (*self.report.notes, *lines))


def _entries(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:_NUMBERS_SHOWN]))
    more = len(numbers) - _NUMBERS_SHOWN
    return f"{'entry' if len(numbers) == 1 else 'entries'} {shown}" + (f" and {more} more" if more > 0 else "")


def content_of(fields: Fields, *keys: str) -> str:
    """Return the text under the first of the keys that is there; a memory without one is a fault."""
    key = next((key for key in keys if fields.data.get(key) is not None), keys[0])
    before = len(fields.report.errors)
    text = fields.text(key)
    if not text.strip() and len(fields.report.errors) == before:
        fields.fault(key, "a text is expected, this is missing or empty")
    return text


def name_of(fields: Fields, key: str) -> str:
    """Return an id or a name in one line; numbers are ids too."""
    value = fields.data.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return clip(str(value), MAX_NAME)
    return one_line(fields.text(key, longest=MAX_NAME))


def tags_of(fields: Fields, key: str = "tags") -> tuple[str, ...]:
    """Return the tags."""
    return fields.texts(key, most=MAX_TAGS, longest=MAX_TAG)


def moment_of(fields: Fields, *keys: str, numbers: bool = False) -> datetime | None:
    """Return the moment under the first of the keys that is there: ISO 8601, without an offset UTC.

    With `numbers` also seconds or milliseconds since 1970.
    """
    key = next((key for key in keys if fields.data.get(key) is not None), None)
    if key is None:
        return None
    value = fields.data[key]
    try:
        if numbers and isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS else value, UTC)
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        pass
    shown = repr(clip(value, 40)) if isinstance(value, str) else kind_of(value)
    fields.fault(key, f"a moment like 2026-03-01T20:00:00Z is expected, this is {shown}")
    return None
