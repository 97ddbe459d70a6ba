"""Whether a text names somebody who hides: pure, and fast enough for every line of a prompt.

A name counts as whole words, in any case and form (`normalise`). In scripts that set no space between words it counts
wherever it stands. Who bears a common word as a name hides every text with that word: withholding more is never wrong.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from agent.identity.names import folded
from agent.identity.words import SHORTEST, UNSPACED

_WORD: Final = re.compile(r"\w+")


class HiddenNames:
    """The names of everybody who hides, ready to be looked for."""

    __slots__ = ("_anywhere", "_by_first", "_names")

    def __init__(self, names: Iterable[str]) -> None:
        """Take normalised names; those of a single character are left out, because they stand in every text."""
        self._names = frozenset(name for name in names if len(name) >= SHORTEST)
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        self._anywhere: list[str] = []
        for name in self._names:
            words = tuple(_WORD.findall(name))
            if not words or UNSPACED.search(name):
                self._anywhere.append(name)
            else:
                self._by_first.setdefault(words[0], []).append(words)

    def __bool__(self) -> bool:
        """Tell whether there is anybody to look for."""
        return bool(self._names)

    def without(self, names: Collection[str]) -> HiddenNames:
        """Return these names without some, which mean somebody else where it is known who is meant."""
        return self if self._names.isdisjoint(names) else HiddenNames(self._names.difference(names))

    def named_in(self, text: str) -> bool:
        """Tell whether a text holds one of the names."""
        if not self._names:
            return False
        plain = folded(text)
        if any(name in plain for name in self._anywhere):
            return True
        words = _WORD.findall(plain)
        return any(
            tuple(words[start : start + len(name)]) == name
            for start, word in enumerate(words)
            if word in self._by_first
            for name in self._by_first[word]
        )


@dataclass(frozen=True, slots=True)
class Hidden:
    """Who hides, as far as texts of one place can name them."""

    here: HiddenNames
    """Names borne in the server of the place: for what was learned there."""
    around: HiddenNames
    """Those, and names borne in other servers of the people who take part: for what was learned about them anywhere."""

    def __bool__(self) -> bool:
        """Tell whether there is anybody to look for."""
        return bool(self.around)


NOBODY: Final = Hidden(HiddenNames(()), HiddenNames(()))
