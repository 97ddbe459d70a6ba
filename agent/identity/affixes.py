"""What stands around a name and is no part of it: affixes (`master Ana`, `ana-chan`), brackets, quotes; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from agent.identity.names import normalise

_PAIRS: Final = {
    "(": ")",
    "[": "]",
    "<": ">",
    "\u00ab": "\u00bb",
    "\u201c": "\u201d",
    "\u201e": "\u201c",
    "\u2018": "\u2019",
    '"': '"',
    "'": "'",
    "`": "`",
    "*": "*",
}
_MOST: Final = 16
"""So many peelings of one name are looked at."""
_JOINT: Final = re.compile(r"[\s\-_.~,]+")
"""What joins an affix and a name."""


def peelings(name: str, affixes: Iterable[str] = ()) -> tuple[str, ...]:
    """Return what is left of a name without an affix or brackets around it, and of that again; the longest first.

    An affix stands at either end, in any letter case, and never inside a word: `san` is peeled off `Ana-san`, not off
    `Susan`. One in a script without letter case, as Japanese, needs nothing that joins it.
    """
    known = sorted(filter(None, map(bare_affix, affixes)), key=lambda affix: (-len(affix), affix))
    found: dict[str, None] = {}
    waiting = [name.strip()]
    while waiting and len(found) < _MOST:
        fresh = [each for each in _peeled_once(waiting.pop(0), known) if normalise(each) and each not in found]
        found |= dict.fromkeys(fresh)
        waiting += fresh
    return tuple(sorted(found, key=lambda each: (-len(each), each)))


def _peeled_once(name: str, affixes: list[str]) -> Iterator[str]:
    # What is left of a mention would be somebody's id, taken for a name.
    if len(name) > 1 and _PAIRS.get(name[0]) == name[-1] and not name.startswith(("<@", "<#")):
        yield name[1:-1].strip()
    words = normalise(name)
    for affix in affixes:
        if words.startswith(affix) and (length := _joint(words[len(affix) :], affix)) is not None:
            yield words[len(affix) + length :]
        if words.endswith(affix) and (length := _joint(words[: -len(affix)][::-1], affix)) is not None:
            yield words[: len(words) - len(affix) - length]


def _joint(rest: str, affix: str) -> int | None:
    """Return how many characters join the affix to the rest that begins with them; None where it is part of a word."""
    if (joint := _JOINT.match(rest)) is not None:
        return joint.end()
    return 0 if affix.lower() == affix.upper() else None


def bare_affix(affix: str) -> str:
    """Return an affix in the form under which names are compared, without what joins it to a name."""
    return re.sub(rf"^{_JOINT.pattern}|{_JOINT.pattern}$", "", normalise(affix))
