"""The names of one server in memory: who bears one, whose looks like one, and whose are near one.

Columns of numbers instead of objects, so that hundreds of servers fit; one person's change touches that person alone.
Nothing here decides: whoever is found is read from the database again, with privacy as it is then.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from math import ceil, floor
from operator import add
from typing import Final

import numpy as np

SHORTEST: Final = 4
"""Names of fewer characters are near to too many others."""
NEAR: Final = 0.80
"""OSA similarity from which a name is near; of `fuzz.ratio` the same in percent."""
_SMALL: Final = 1 << 16
_LONGEST: Final = (1 << 16) - 1


class _Hashes:
    """Numbers by the hash of a text, as two columns sorted by hash. Two texts of one hash are told apart elsewhere."""

    __slots__ = ("_keys", "_values")

    def __init__(self) -> None:
        self._keys = array("q")
        self._values = array("q")

    def append(self, text: str, value: int) -> None:
        """Add a number out of order; `sort` must follow."""
        self._keys.append(hash(text))
        self._values.append(value)

    def sort(self) -> None:
        """Put in order what was appended."""
        order = np.argsort(np.frombuffer(self._keys, np.int64), kind="stable")
        self._keys = array("q", np.frombuffer(self._keys, np.int64)[order].tobytes())
        self._values = array("q", np.frombuffer(self._values, np.int64)[order].tobytes())

    def add(self, text: str, value: int) -> None:
        place = bisect_left(self._keys, hash(text))
        self._keys.insert(place, hash(text))
        self._values.insert(place, value)

    def get(self, text: str) -> list[int]:
        key = hash(text)
        place = end = bisect_left(self._keys, key)
        while end < len(self._keys) and self._keys[end] == key:
            end += 1
        return self._values[place:end].tolist()

    def remove(self, text: str, value: int) -> None:
        """Remove one number of a text."""
        self._pop(self._values.index(value, bisect_left(self._keys, hash(text))))

    def remove_all(self, value: int) -> None:
        """Remove a number from every text."""
        for place in reversed(_places(self._values, value)):
            self._pop(place)

    def _pop(self, place: int) -> None:
        self._keys.pop(place)
        self._values.pop(place)


class NameIndex:
    """Who bears which names, by account id; names in the form under which they are compared.

    Each name of each person has a number, its place in the columns. For each pair of letters the numbers of the names
    that hold it stand in an array of two bytes each; of four when there are more than 65,536 names.
    """

    __slots__ = ("_accounts", "_exact", "_free", "_lengths", "_looks", "_names", "_pairs", "_type", "revision")

    def __init__(self, revision: int = 0) -> None:
        self.revision = revision
        """The revision of the server's directory for which this is true."""
        self._names: list[str] = []
        self._accounts = array("q")
        self._lengths = array("H")
        self._free: list[int] = []
        self._exact = _Hashes()
        self._looks = _Hashes()
        self._pairs: dict[str, array[int]] = {}
        self._type = "H"

    def __len__(self) -> int:
        """How many names of people are held."""
        return len(self._names) - len(self._free)

    def append(self, account_id: int, names: Iterable[str], looks: Iterable[str]) -> None:
        """Add somebody new, many in a row: `sort` must follow before anything is asked."""
        for name in names:
            self._exact.append(name, self._number(account_id, name))
        for look in looks:
            self._looks.append(look, account_id)

    def sort(self) -> None:
        """Put in order what was appended."""
        self._exact.sort()
        self._looks.sort()

    def put(self, account_id: int, names: Collection[str], looks: Iterable[str]) -> None:
        """Set the names of somebody and what they look like (`names.skeletons`); without names the person is gone."""
        numbers = _places(self._accounts, account_id)
        kept = {self._names[number] for number in numbers}
        for number in numbers:
            if self._names[number] not in names:
                self._drop(number)
        for name in names:
            if name not in kept:
                self._exact.add(name, self._number(account_id, name))
        self._looks.remove_all(account_id)
        for look in looks:
            self._looks.add(look, account_id)

    def owners(self, name: str) -> frozenset[int]:
        """Return the accounts that bear a name."""
        return frozenset(self._accounts[number] for number in self._exact.get(name) if self._names[number] == name)

    def lookalikes(self, looks: Iterable[str]) -> frozenset[int]:
        """Return the accounts with a name that has one of these looks; as good as never somebody else beside them."""
        return frozenset(account_id for look in looks for account_id in self._looks.get(look))

    def names_of(self, account_id: int) -> frozenset[str]:
        """Return the names of somebody."""
        return frozenset(self._names[number] for number in _places(self._accounts, account_id))

    def near(self, wanted: str, limit: int) -> tuple[int, ...]:
        """Return at most so many accounts with a name near to this one, nearest first."""
        from rapidfuzz import fuzz, process
        from rapidfuzz.distance import OSA

        numbers = self._candidates(wanted)
        names = [self._names[number] for number in numbers]
        best: dict[int, float] = {}
        for scorer, cutoff, unit in ((OSA.normalized_similarity, NEAR, 100.0), (fuzz.ratio, NEAR * 100, 1.0)):
            for _, score, place in process.extract(wanted, names, scorer=scorer, score_cutoff=cutoff, limit=None):
                account_id = self._accounts[numbers[place]]
                best[account_id] = max(best.get(account_id, 0.0), score * unit)
        return tuple(sorted(best, key=lambda account_id: (-best[account_id], account_id))[:limit])

    def _candidates(self, wanted: str) -> Sequence[int]:
        """Return the numbers of names that share as many pairs of letters with this one as a near name must."""
        pairs = pairs_of(wanted)
        found = [self._pairs[pair] for pair in pairs if pair in self._pairs]
        if len(wanted) < SHORTEST or not found:
            return ()
        least = least_shared(len(wanted), len(pairs))
        kind = np.uint16 if self._type == "H" else np.uint32
        shared = np.bincount(np.concatenate([np.frombuffer(each, kind) for each in found]), minlength=len(self._names))
        asked = np.array([*least, len(pairs) + 1])[np.minimum(np.frombuffer(self._lengths, np.uint16), len(least))]
        numbers: list[int] = np.flatnonzero(shared >= asked).tolist()
        return numbers

    def _number(self, account_id: int, name: str) -> int:
        """Give a name of somebody its number."""
        if self._free:
            number = self._free.pop()
            self._names[number], self._accounts[number], self._lengths[number] = name, account_id, len(name)
        else:
            number = len(self._names)
            self._names.append(name)
            self._accounts.append(account_id)
            self._lengths.append(min(len(name), _LONGEST))
        if number == _SMALL and self._type == "H":
            self._type = "I"
            self._pairs = {pair: array("I", numbers) for pair, numbers in self._pairs.items()}
        if len(name) >= SHORTEST:
            for pair in pairs_of(name):
                if (numbers := self._pairs.get(pair)) is None:
                    numbers = self._pairs[_kept_once(pair)] = array(self._type)
                numbers.append(number)
        return number

    def _drop(self, number: int) -> None:
        name = self._names[number]
        self._exact.remove(name, number)
        if len(name) >= SHORTEST:
            for pair in pairs_of(name):
                numbers = self._pairs[pair]
                (place,) = _places(numbers, number)
                numbers[place] = numbers[-1]
                numbers.pop()
                if not numbers:
                    del self._pairs[pair]
        self._names[number], self._accounts[number], self._lengths[number] = "", 0, 0
        self._free.append(number)


def _places(column: array[int], value: int) -> list[int]:
    """Return where a value stands in a column."""
    places: list[int] = np.flatnonzero(np.frombuffer(column, column.typecode) == value).tolist() if column else []
    return places


_STRINGS: dict[str, str] = {}
_MOST_STRINGS: Final = 100_000


def _kept_once(pair: str) -> str:
    """Return a string that is the same object in all servers."""
    if len(_STRINGS) > _MOST_STRINGS:
        _STRINGS.clear()
    return _STRINGS.setdefault(pair, pair)


def pairs_of(text: str) -> set[str]:
    """Return each two letters that stand side by side."""
    return set(map(add, text, text[1:]))


def least_shared(length: int, pairs: int) -> tuple[int, ...]:
    """Return for each length of a name, from 0, how many different pairs it shares at least with a near one.

    An edit of the wanted name breaks one pair (an insertion), two (a deletion, a substitution) or three (a
    transposition). One shared pair is always asked for; lengths that no near name has ask for more than there are.

    Args:
        length: Of the wanted name, at least 4.
        pairs: How many different pairs the wanted name has.

    """
    shortest, longest = max(SHORTEST, ceil(length * 2 / 3)), floor(length * 3 / 2)
    least = [pairs + 1] * (longest + 1)
    for other in range(shortest, longest + 1):
        edits = floor((1 - NEAR) * max(length, other) + 1e-9)
        broken = 3 * edits if edits >= abs(length - other) else -1
        # `ratio` counts deletions and insertions alone; they differ by as much as the lengths.
        operations = floor((1 - NEAR) * (length + other) + 1e-9)
        operations -= (operations - (length - other)) % 2
        if operations >= abs(length - other):
            deleted = (operations + length - other) // 2
            broken = max(broken, deleted + operations)
        if broken >= 0:
            least[other] = max(1, pairs - broken)
    return tuple(least)
