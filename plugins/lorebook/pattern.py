r"""Patterns as JavaScript writes them, `/dragons?/i`, for the module `regex`.

Every construct is read and written anew, so that nothing else reaches the compiler: what JavaScript does not have
(recursion, fuzzy matching, possessive quantifiers) means nothing here either, and a pattern that would grow while it
is compiled is refused before. `\w`, `\d`, `\b` know all scripts.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Final

import regex

MAX_SIZE: Final = 5_000
"""Characters of a pattern with its fixed repetitions written out, as the compiler does: that takes time and memory."""
MAX_GROUPS: Final = 50
"""Groups within one another."""
_KEY: Final = re.compile(r"/(.+)/([dgimsuvy]*)", re.DOTALL)
_UNESCAPED_SLASH: Final = re.compile(r"(?:[^\\/]|\\.)*/", re.DOTALL)
_GROUP: Final = re.compile(r"\((?:\?(?:[:=!]|<[=!]|<(?P<name>[A-Za-z_]\w*)>|(?P<on>[ims]*)(?:-(?P<off>[ims]+))?:))?")
_QUANTIFIER: Final = re.compile(r"(?:[*+?]|\{(?P<least>\d{1,5})(?:,(?P<most>\d{0,5}))?\})\??")
_ESCAPE: Final = re.compile(
    r"\\(?:(?P<plain>[dDwWsSbBtnrfv])|(?P<number>[1-9]\d?)|0|c(?P<control>[A-Za-z])|x(?P<hex>[0-9A-Fa-f]{2})"
    r"|u(?P<utf16>[0-9A-Fa-f]{4})|u\{(?P<point>[0-9A-Fa-f]{1,6})\}|k<(?P<name>[A-Za-z_]\w*)>"
    r"|(?P<property>[pP]\{[A-Za-z_=]{1,40}\})|(?P<other>.))",
    re.DOTALL,
)
_FLAGS: Final = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL}


class PatternRefused(Exception):
    """A pattern cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Translated:
    """A pattern for `regex`, its flags, and the letters in it."""

    pattern: str
    flags: int
    letters: str


def split_key(key: str) -> tuple[str, str] | None:
    """Return pattern and flags of a key that is a pattern; None for plain words."""
    found = _KEY.fullmatch(key)
    if found is None or _UNESCAPED_SLASH.match(found[1]):
        return None
    return found[1], found[2]


def compile_pattern(pattern: str, flags: str) -> regex.Pattern[str]:
    """Compile a pattern. It may take some milliseconds.

    Raises:
        PatternRefused: it is no pattern, or one that is too large.
    """
    translated = translate(pattern, flags)
    try:
        with warnings.catch_warnings(action="ignore"):
            return regex.compile(translated.pattern, translated.flags | regex.VERSION0, cache_pattern=False)
    except (regex.error, RecursionError, OverflowError, ValueError) as error:
        raise PatternRefused(str(error).partition(" at position")[0]) from None


def translate(pattern: str, flags: str) -> Translated:
    """Return the pattern as `regex` writes it.

    Raises:
        PatternRefused: JavaScript has no such construct, or it is too large.
    """
    reader = _Reader(pattern, multiline="m" in flags)
    written = reader.read()
    return Translated(written, sum(value for flag, value in _FLAGS.items() if flag in flags), reader.letters)


class _Reader:
    """Goes through a pattern once; `sizes` holds the size of each open group."""

    def __init__(self, pattern: str, *, multiline: bool) -> None:
        self._pattern = pattern
        self._multiline = multiline
        self._at = 0
        self._out: list[str] = []
        self._sizes = [0]
        self._atom: int | None = None
        """The size of what a quantifier would repeat; None where nothing can be repeated."""
        self._letters: dict[str, None] = {}

    @property
    def letters(self) -> str:
        return "".join(self._letters)

    def read(self) -> str:
        while self._at < len(self._pattern):
            if not self._quantifier():
                self._close_atom()
                self._one()
            if sum(self._sizes) + (self._atom or 0) > MAX_SIZE:
                raise PatternRefused("its repetitions within repetitions are too large")
        if len(self._sizes) > 1:
            raise PatternRefused("a ( is not closed")
        return "".join(self._out)

    def _close_atom(self) -> None:
        self._sizes[-1] += self._atom or 0
        self._atom = None

    def _quantifier(self) -> bool:
        found = _QUANTIFIER.match(self._pattern, self._at)
        if found is None:
            return False
        if self._atom is None:
            raise PatternRefused(f"there is nothing to repeat before {found[0][:10]}")
        least, most = found["least"], found["most"]
        if most and int(most) < int(least):
            raise PatternRefused(f"{found[0]} is out of order")
        self._take(found[0])
        self._sizes[-1] += self._atom * max(int(least or 1), 1) + 1
        self._atom = None
        return True

    def _take(self, text: str, written: str | None = None) -> None:
        self._at += len(text)
        self._out.append(text if written is None else written)

    def _one(self) -> None:
        character = self._pattern[self._at]
        match character:
            case "(":
                self._open()
            case ")":
                self._close()
            case "[":
                self._class()
            case "\\":
                self._escape()
            case "^" | "|":
                self._take(character)
            case "$":
                self._take("$", "$" if self._multiline else r"\Z")
            case ".":
                self._take(".")
                self._atom = 1
            case _:
                self._take(character, regex.escape(character, special_only=True, literal_spaces=True))
                self._letters[character] = None
                self._atom = 1

    def _open(self) -> None:
        found = _GROUP.match(self._pattern, self._at)
        if found is None or self._pattern.startswith("?", found.end()):
            raise PatternRefused(f"there is no group {self._pattern[self._at : self._at + 4]}")
        if len(self._sizes) > MAX_GROUPS:
            raise PatternRefused(f"more than {MAX_GROUPS} groups stand within one another")
        self._take(found[0])
        self._sizes.append(1)

    def _close(self) -> None:
        if len(self._sizes) == 1:
            raise PatternRefused("a ) has no (")
        self._take(")")
        self._atom = self._sizes.pop()

    def _escape(self) -> None:
        found = _ESCAPE.match(self._pattern, self._at)
        if found is None:
            raise PatternRefused("it ends with a \\")
        if found["name"]:
            written = f"(?P={found['name']})"
        elif found["plain"] or found["number"] or found["property"]:
            written = found[0]
        else:
            written = regex.escape(_character(found), special_only=True)
        self._take(found[0], written)
        self._atom = None if found["plain"] in {"b", "B"} else 1

    def _class(self) -> None:
        at = self._at + 1
        negated = self._pattern.startswith("^", at)
        at += negated
        parts: list[str] = []
        while not self._pattern.startswith("]", at):
            if at >= len(self._pattern):
                raise PatternRefused("a [ is not closed")
            found = _ESCAPE.match(self._pattern, at)
            text = found[0] if found else self._pattern[at]
            parts.append(_in_class(found) if found else _literal_in_class(text))
            at += len(text)
        whole = self._pattern[self._at : at + 1]
        nothing = r"[\s\S]" if negated else "(?!)"
        self._take(whole, f"[{'^' if negated else ''}{''.join(parts)}]" if parts else nothing)
        self._atom = 1


def _character(found: re.Match[str]) -> str:
    """Return the character that an escape means."""
    code = found["hex"] or found["utf16"] or found["point"]
    if code is not None:
        if int(code, 16) > 0x10FFFF:  # noqa: PLR2004 - the last character there is
            raise PatternRefused(f"there is no character {found[0]}")
        return chr(int(code, 16))
    if found["control"]:
        return chr(ord(found["control"]) % 32)
    return found["other"] or "\0"


def _in_class(found: re.Match[str]) -> str:
    if found["plain"] == "b":
        return r"\x08"
    if found["plain"] == "B" or found["number"] or found["name"]:
        raise PatternRefused(f"{found[0]} means nothing between [ and ]")
    if found["plain"] or found["property"]:
        return found[0]
    return _literal_in_class(_character(found), escaped=True)


def _literal_in_class(character: str, *, escaped: bool = False) -> str:
    special = r"\[]&|~^" + ("-" if escaped else "")
    return "\\" + character if character in special else character
