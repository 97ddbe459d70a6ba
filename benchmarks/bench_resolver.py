"""How often a name means the right person: `python -m benchmarks.bench_resolver` prints JSON.

Servers are filled with names from public lists (benchmarks/data/people); a tenth of the people have a twin of the same
name or of one that looks the same, and a twentieth are hidden. A third of the queries name somebody who is not there,
a third misspell a name, and a third spell a name or a saved nickname exactly.

`resolver` is the agent's; `ratio_90` takes the best name by rapidfuzz's `ratio` from 90 on, as is often done. `wrong`
means that somebody was taken who was not meant: a memory would have been about the wrong person.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from rapidfuzz import fuzz, process

from agent.contracts.people import Persona
from agent.identity.directory import Directory, Scope
from agent.identity.index import NameIndex
from agent.identity.names import normalise, skeletons
from agent.identity.people import NEAREST
from agent.identity.resolver import Resolver
from agent.identity.results import Ambiguous, BridgeUser, NotFound, Resolution, Resolved, Self
from agent.places import Channel, ChannelRef, Place, Server, ServerRef
from benchmarks.common import percentiles
from benchmarks.people_data import Kind, Query, Town, shares, town

TOWNS, SIZE, ROUNDS = 12, 1_000, 250
CUTOFF = 90
EXACT_GOAL, MISSPELLED_GOAL = 0.99, 0.80
PERSONA = Persona(1, 1, 1, "Isthmus", "", None, (), is_default=True)
PLACE = Place(Server(1, ServerRef("discord", "s", "s")), Channel(1, ChannelRef("c", "c")))
SCOPE = Scope(PLACE, (), PERSONA, PERSONA.nickname)


class Members:
    """The people of one server as the resolver asks for them, by the agent's index and without a database."""

    def __init__(self, where: Town) -> None:
        self._entries = {entry.account.account_id: entry for entry in where.entries}
        self._index = NameIndex()
        for number, entry in self._entries.items():
            looks = frozenset[str]().union(*(skeletons(name.value) for name in entry.names))
            self._index.append(number, {name.normalised for name in entry.names}, looks)
        self._index.sort()

    async def bearers(self, _server: int, name: str, _identifier: str | None = None) -> Directory:
        """Return who bears a name."""
        return self._of(self._index.owners(normalise(name)))

    async def lookalikes(self, _server: int, looks: frozenset[str]) -> Directory:
        """Return whose name looks so."""
        return self._of(self._index.lookalikes(looks))

    async def near(self, _server: int, name: str) -> Directory:
        """Return who has a near name."""
        return self._of(self._index.near(normalise(name), NEAREST))

    def _of(self, accounts: Iterable[int]) -> Directory:
        return Directory(tuple(self._entries[number] for number in accounts))


def verdict(query: Query, result: Resolution, where: Town) -> str:
    """Return what an answer is worth: right, ambiguous, needlessly_ambiguous, suggested, not_found or wrong."""
    match result:
        case Resolved(account=account) | BridgeUser(account=account):
            return "right" if account.account_id == query.meant else "wrong"
        case Self():
            return "wrong"
        case Ambiguous():
            return "ambiguous" if is_rightly_ambiguous(query, where) else "needlessly_ambiguous"
        case NotFound(suggestions=suggestions):
            keys = {entry.account.key for entry in where.entries if entry.account.account_id == query.meant}
            return "suggested" if keys & {each.key for each in suggestions} else "not_found"


def is_rightly_ambiguous(query: Query, where: Town) -> bool:
    """Tell whether somebody else bears that name, or was given the same or one that looks the same on purpose."""
    wanted = normalise(query.name)
    owners = {entry.account.account_id for entry in where.entries if entry.bears(wanted)}
    return len(owners) > 1 or any(where.rivals.get(owner) for owner in owners)


def baseline(query: Query, names: list[tuple[str, int]]) -> str:
    """Return what the best name by plain `ratio` is worth."""
    found = process.extractOne(
        normalise(query.name), [name for name, _ in names], scorer=fuzz.ratio, score_cutoff=CUTOFF
    )
    if found is None:
        return "not_found"
    return "right" if names[found[2]][1] == query.meant else "wrong"


def tally(verdicts: dict[Kind, Counter[str]]) -> dict[str, Any]:
    """Return the shares of each verdict by the kind of query, and the sum of what is wrong."""
    shown: dict[str, Any] = {
        kind.value: {word: round(count / counts.total(), 4) for word, count in sorted(counts.items())}
        for kind, counts in verdicts.items()
    }
    return {**shown, "wrong": sum(counts["wrong"] for counts in verdicts.values())}


def run() -> dict[str, Any]:
    """Return the figures."""
    return asyncio.run(_run())


async def _run() -> dict[str, Any]:
    ours = {kind: Counter[str]() for kind in Kind}
    theirs = {kind: Counter[str]() for kind in Kind}
    asked: Counter[str] = Counter()
    times: list[float] = []
    for seed in range(TOWNS):
        where = town(seed, SIZE, ROUNDS)
        asked.update(shares(where.queries))
        names = [(name.normalised, entry.account.account_id) for entry in where.entries for name in entry.names]
        resolver = Resolver(Members(where))  # type: ignore[arg-type]  # people without a database
        for query in where.queries:
            began = time.perf_counter()
            result = await resolver.resolve(query.name, SCOPE)
            times.append(time.perf_counter() - began)
            ours[query.kind][verdict(query, result, where)] += 1
            theirs[query.kind][baseline(query, names)] += 1
    figures = tally(ours)
    exact = ours[Kind.EXACT] + ours[Kind.NICKNAME]
    found = (exact["right"] + exact["ambiguous"]) / exact.total()
    suggested = ours[Kind.MISSPELLED]["suggested"] / ours[Kind.MISSPELLED].total()
    return {
        "servers": TOWNS,
        "members": SIZE,
        "queries": dict(asked),
        "resolver": {**figures, "ms": percentiles(times)},
        "ratio_90": tally(theirs),
        "exact_found": round(found, 4),
        "misspelled_suggested": round(suggested, 4),
        "met": figures["wrong"] == 0 and found >= EXACT_GOAL and suggested >= MISSPELLED_GOAL,
    }


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
