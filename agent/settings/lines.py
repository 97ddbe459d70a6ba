"""In which line of a TOML document each key stands: `tomllib` does not say.

The document has been parsed before, so this scan may trust its form: it only has to know table headers, keys, and
where texts and brackets that span lines end. Keys within an inline table or a list share their parent's line.
"""

from __future__ import annotations

import re

type _Path = tuple[str, ...]

_BARE = r"[A-Za-z0-9_-]+"
_PART = rf"(?:{_BARE}|\"(?:[^\"\\]|\\.)*\"|'[^']*')"
_KEY = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_HEADER = re.compile(rf"[ \t]*\[\[?[ \t]*({_KEY})[ \t]*\]")
_ASSIGNMENT = re.compile(rf"[ \t]*({_KEY})[ \t]*=")
_TOKEN = re.compile(r"\"\"\"|'''|\"(?:[^\"\\]|\\.)*\"|'[^']*'|#.*|[\[{]|[\]}]")
_ENDS = {'"""': re.compile(r'(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL), "'''": re.compile(r"(?:[^']|'(?!''))*'{3,5}")}


def key_lines(text: str) -> dict[_Path, int]:
    """The line, counted from 1, of the first mention of each table and key."""
    lines: dict[_Path, int] = {}
    table: _Path = ()
    state = _Value()
    for number, line in enumerate(text.split("\n"), start=1):
        rest = line
        if not state.open:
            if header := _HEADER.match(line):
                table = _parts(header[1])
                _note(lines, (), table, number)
                continue
            if assignment := _ASSIGNMENT.match(line):
                _note(lines, table, _parts(assignment[1]), number)
                rest = line[assignment.end() :]
        state.read(rest)
    return lines


def _note(lines: dict[_Path, int], table: _Path, key: _Path, number: int) -> None:
    for length in range(1, len(key) + 1):
        lines.setdefault((*table, *key[:length]), number)


def _parts(key: str) -> _Path:
    return tuple(_unquoted(part) for part in re.findall(_PART, key))


def _unquoted(part: str) -> str:
    if part.startswith("'"):
        return part[1:-1]
    if part.startswith('"'):
        # Escapes in keys are rare; a key that holds one is simply not found, and its table's line is shown.
        return part[1:-1]
    return part


class _Value:
    """Whether the value that is being read goes on in the next line."""

    def __init__(self) -> None:
        self._quote: str | None = None
        self._depth = 0

    @property
    def open(self) -> bool:
        return self._quote is not None or self._depth > 0

    def read(self, line: str) -> None:
        position = 0
        if self._quote is not None:
            end = _ENDS[self._quote].match(line)
            if end is None:
                return
            self._quote = None
            position = end.end()
        while token := _TOKEN.search(line, position):
            position = token.end()
            kind = token[0]
            if kind in _ENDS:
                end = _ENDS[kind].match(line, position)
                if end is None:
                    self._quote = kind
                    return
                position = end.end()
            elif kind in {"[", "{"}:
                self._depth += 1
            elif kind in {"]", "}"}:
                self._depth = max(0, self._depth - 1)
