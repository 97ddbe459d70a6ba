"""The screens of scripts: the transcript as text, or as JSON with one object a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agent.printing import printable
from agent.terminal import shown_place
from agent.text import one_line
from bridges.console.transcript import Record, RecordType, card_label

if TYPE_CHECKING:
    from typing import TextIO


class JsonScreen:
    """One JSON object a line."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def show(self, record: Record) -> None:
        """Print one record at once."""
        self._out.write(record.as_json() + "\n")
        self._out.flush()

    def typing(self, where: str) -> None:
        """Show nothing."""


class TextScreen:
    """A transcript for people."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def show(self, record: Record) -> None:
        """Print one record at once."""
        self._out.write(as_text(record) + "\n")
        self._out.flush()

    def typing(self, where: str) -> None:
        """Show nothing."""


def as_text(record: Record) -> str:
    """Return a record as text: the place, who, and what; further lines are indented."""
    place = one_line(printable(shown_place(record.server, record.channel)))
    body = printable(_body(record)).replace("\n", "\n    ")
    return f"[{place}] {body}"


def _body(record: Record) -> str:
    speaker = one_line(record.speaker)
    match record.type:
        case RecordType.TOOL_CALL:
            return f"  {record.text} {_compact(record.data.get('arguments', {}))}"
        case RecordType.TOOL_RESULT:
            return f"  {record.text} = {_compact(record.data.get('result', {}))}"
        case RecordType.NOTICE:
            label = "" if record.card is None else one_line(card_label(record.card))
            return f"* {record.text}" + (f"\n({label})" if label else "")
        case RecordType.ERROR:
            return f"error: {record.text}"
        case _:
            return f"{speaker}: {record.text}"


def _compact(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
