"""Near names: what to ask back when nobody bears a name. A suggestion is never an answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Final

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from agent.identity.directory import Entry, Name, is_hidden
from agent.identity.names import label, normalise
from agent.identity.results import Suggestion

SUGGESTIONS: Final = 5
SHORTEST: Final = 4
"""Names of fewer characters are near to too many others."""
_NEAR: Final = 0.80
_NEAR_RATIO: Final = 80.0


def length_bounds(wanted: str) -> tuple[int, int]:
    """Return the least and the greatest length of a name that can be near to this one."""
    return max(SHORTEST, math.ceil(len(wanted) * 2 / 3)), math.floor(len(wanted) * 3 / 2)


def suggest(name: str, entries: Iterable[Entry]) -> tuple[Suggestion, ...]:
    """Return at most five people with a name near to this one, nearest first; nobody whose privacy is FULL.

    Only edit distance and plain ratio are used: partial scorers put "ana" on "diana the great".
    """
    wanted = normalise(name)
    if len(wanted) < SHORTEST:
        return ()
    pairs = frozenset(_pairs(wanted))
    found: list[Suggestion] = []
    for entry in entries:
        if is_hidden(entry.account):
            continue
        best = max(((_score(wanted, pairs, each), each) for each in entry.names), key=_by_score, default=None)
        if best is not None and best[0] > 0:
            shown = label(entry.account.display_name, entry.account.key)
            found.append(Suggestion(entry.account.key, shown, label(best[1].value, entry.account.key), best[0]))
    found.sort(key=lambda suggestion: (-suggestion.score, str(suggestion.key)))
    return tuple(found[:SUGGESTIONS])


def _by_score(scored: tuple[float, Name]) -> tuple[float, int, str]:
    return scored[0], -scored[1].source.strength, scored[1].normalised


def _score(wanted: str, pairs: frozenset[str], name: Name) -> float:
    """Return how near the name is, 0 to 100; 0 when it is not near at all."""
    shortest, longest = length_bounds(wanted)
    if not shortest <= len(name.normalised) <= longest or pairs.isdisjoint(_pairs(name.normalised)):
        return 0.0
    similarity = OSA.normalized_similarity(wanted, name.normalised)
    ratio = fuzz.ratio(wanted, name.normalised)
    near = similarity >= _NEAR or ratio >= _NEAR_RATIO
    return round(max(similarity * 100, ratio), 1) if near else 0.0


def _pairs(text: str) -> Iterator[str]:
    return (text[index : index + 2] for index in range(len(text) - 1))
