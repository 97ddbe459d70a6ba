"""Code that is too long for a message, taken out of an answer so that it can go as a file. Pure functions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agent.files import TextFile
from agent.turn.split import FENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent.turn.split import Measure

_SAME: Final = (
    "c cpp cs css csv dart diff go html ini java js json jsx kt lua md php ps1 py rb rs scala sh sql svg swift tex "
    "toml ts tsx txt xml yaml"
)
"""Languages whose name is the ending of their files."""
_OTHERS: Final = (
    "bash=sh c#=cs c++=cpp csharp=cs golang=go haskell=hs javascript=js kotlin=kt markdown=md patch=diff perl=pl "
    "powershell=ps1 python=py python3=py ruby=rb rust=rs shell=sh typescript=ts yml=yaml zsh=sh"
)
_ENDINGS: Final = {each: each for each in _SAME.split()} | dict(each.split("=") for each in _OTHERS.split())
"""The ending of a file by the language that a fence names, in lower case."""
_OTHER: Final = "txt"


@dataclass(frozen=True, slots=True)
class Apart:
    """An answer whose long code goes as a file."""

    before: str
    file: TextFile
    after: str


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    language: str
    code: str


def code_apart(text: str, limit: int, measure: Measure) -> Apart | None:
    """Take out the one fenced block that is longer than `limit`; None when there is none, or more than one of them."""
    long = [block for block in _blocks(text) if measure(text[block.start : block.end]) > limit]
    if len(long) != 1:
        return None
    [block] = long
    words = block.language.lower().split()
    ending = _ENDINGS.get(words[0], _OTHER) if words else _OTHER
    file = TextFile(f"answer.{ending}", block.code)
    return Apart(text[: block.start].rstrip(), file, text[block.end :].strip("\n"))


def _blocks(text: str) -> Iterator[_Block]:
    """Yield the fenced blocks of a text; one that is never closed ends with it."""
    opened: re.Match[str] | None = None
    for match in FENCE.finditer(text):
        if opened is None:
            opened = match
        elif match[1].startswith(opened[1]) and not match[2].strip():
            yield _block(text, opened, match.start(), match.end())
            opened = None
    if opened is not None:
        yield _block(text, opened, len(text), len(text))


def _block(text: str, opened: re.Match[str], code_end: int, end: int) -> _Block:
    return _Block(opened.start(), end, opened[2], text[opened.end() + 1 : code_end])
