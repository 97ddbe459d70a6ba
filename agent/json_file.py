"""Reading JSON that people bring: what is wrong is said with its place, and nothing is dropped in silence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from agent.files import FileRefused
from agent.text import clean, clip, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent.tools import Json

MAX_VALUES: Final = 300_000
"""Commas and brackets in one file: reading more would hold up everything else for too long."""
SHOWN: Final = 40
"""Lines of a report that are shown; the others are counted."""
_LONGEST: Final = 1_000_000
_POSITION: Final = re.compile(r" at (line \d+ column \d+)$")
_BOM: Final = b"\xef\xbb\xbf"


def parse_object(content: bytes, name: str) -> dict[str, Json]:
    """Return the JSON object of a file.

    Raises:
        FileRefused: it is no JSON, no object, nested deeper than 200 levels, or holds too many values.
    """
    value = parse_json(content, name)
    if not isinstance(value, dict):
        raise FileRefused(f"{name}: a JSON object is expected, this is {kind_of(value)}")
    return value


def parse_json(content: bytes, name: str) -> Json:
    """Return the JSON value of a file.

    Raises:
        FileRefused: it is no JSON, nested deeper than 200 levels, or holds too many values.
    """
    from pydantic_core import from_json

    if sum(content.count(mark) for mark in (b",", b"[", b"{")) > MAX_VALUES:
        raise FileRefused(f"{name}: it holds more than {MAX_VALUES} values")
    try:
        value: Json = from_json(content.removeprefix(_BOM), allow_inf_nan=False)
    except ValueError as error:
        raise FileRefused(f"{name}: this is no JSON: {_reason(str(error))}") from None
    return value


def _reason(message: str) -> str:
    found = _POSITION.search(message)
    if found is None:
        return one_line(message)
    what = "it is nested too deeply" if message.startswith("recursion") else message[: found.start()]
    return f"{what} ({found[1].replace(' column', ', column')})"


def kind_of(value: object) -> str:
    """Return what kind of JSON value something is, as messages say it."""
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list"}
    return "null" if value is None else names.get(type(value), "an object")


@dataclass(slots=True)
class Report:
    """What is said of a file: errors, for which nothing of it is taken, and notes."""

    errors: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def lines(self, shown: int = SHOWN) -> tuple[str, ...]:
        """Return the errors, or where there are none the notes; the first ones, and how many more there are."""
        lines = self.errors or self.notes
        more = len(lines) - shown
        return (*lines[:shown], *([f"… and {more} more"] if more > 0 else ()))


class Fields:
    """Reads one JSON object field by field; each fault becomes a line of the report, and the default is returned.

    `shown` holds how the report calls a field whose name in the file is another one.
    """

    def __init__(
        self, data: Mapping[str, Any], where: str, report: Report, shown: Mapping[str, str] | None = None
    ) -> None:
        self.data = data
        self._where = where
        self.report = report
        self._shown = shown or {}

    def inside(self, key: str, value: Mapping[str, Any]) -> Fields:
        """Return the fields of an object that stands in one of these."""
        return Fields(value, f"{self._where}{': ' if self._where else ''}{self.shown(key)}", self.report)

    def fault(self, key: str, text: str) -> None:
        """Note an error of a field."""
        self.report.errors.append(self._line(key, text))

    def note(self, key: str, text: str) -> None:
        """Note something that is worth knowing about a field."""
        self.report.notes.append(self._line(key, text))

    def _line(self, key: str, text: str) -> str:
        return f"{self._where}{': ' if self._where else ''}{self.shown(key)}: {text}"

    def shown(self, key: str) -> str:
        """Return how messages call a field."""
        return clip(one_line(clean(self._shown.get(key, key))), 80)

    def _expected(self, key: str, what: str) -> None:
        self.fault(key, f"{what} is expected, this is {kind_of(self.data[key])}")

    def text(self, key: str, default: str = "", *, longest: int = _LONGEST) -> str:
        """Return a text, cleaned; null and a missing field give the default."""
        value = self.data.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            self._expected(key, "a text")
            return default
        if len(value) > longest:
            self.fault(key, f"at most {longest} characters are expected, these are {len(value)}")
            return default
        return clean(value)

    def flag(self, key: str, default: bool) -> bool:  # noqa: FBT001 - the field's own default
        """Return a truth value; null and a missing field give the default."""
        value = self.flag_or_none(key)
        return default if value is None else value

    def flag_or_none(self, key: str) -> bool | None:
        """Return a truth value, or None for null and a missing field."""
        value = self.data.get(key)
        if value is not None and not isinstance(value, bool):
            self._expected(key, "true or false")
            return None
        return value

    def whole(self, key: str, least: int, most: int) -> int | None:
        """Return a whole number within bounds, or None for null and a missing field."""
        value = self.data.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value.is_integer():
            self._expected(key, "a whole number")
            return None
        if not least <= value <= most:
            self.fault(key, f"a number from {least} to {most} is expected, this is {_number(value)}")
            return None
        return int(value)

    def texts(self, key: str, *, most: int, longest: int) -> tuple[str, ...]:
        """Return a list of texts, trimmed, without empty ones; null and a missing field give none."""
        value = self.data.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            kind = "a list with something else in it" if isinstance(value, list) else kind_of(value)
            self.fault(key, f"a list of texts is expected, this is {kind}")
            return ()
        texts = tuple(filter(None, (one_line(clean(text)) for text in value)))
        if len(texts) > most:
            self.fault(key, f"at most {most} texts are expected, these are {len(texts)}")
            return ()
        if too_long := [text for text in texts if len(text) > longest]:
            self.fault(key, f"at most {longest} characters are expected, these are {len(too_long[0])}")
            return ()
        return texts

    def unknown(self, known: Iterable[str]) -> dict[str, Any]:
        """Return the fields that are not known."""
        taken = frozenset(known)
        return {key: value for key, value in self.data.items() if key not in taken}


def _number(value: float) -> str:
    return clip(str(value), 20)


def storable(value: Any) -> Any:
    """Return a JSON value that PostgreSQL can keep: its texts without NUL and lone surrogates."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [storable(item) for item in value]
    if isinstance(value, Mapping):
        return {clean(str(key)): storable(item) for key, item in value.items()}
    return value
