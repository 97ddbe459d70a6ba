"""The names of large servers in memory: `python -m benchmarks.bench_directory` prints JSON.

Names are made of words of Unicode's locale data in several languages, so that pairs of letters are as uneven as in
real ones. Baselines of the same run: a dict of sets for exact names, and rapidfuzz over the plain list for near ones.
What happens in memory is measured in processor time, which other programs do not lengthen; the rest by the clock.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from math import ceil
from typing import Any

from babel import Locale
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from agent.clock import SystemClock
from agent.directory_changes import Member, MembersSeen
from agent.identity.arrivals import Arrivals
from agent.identity.index import NEAR, NameIndex
from agent.identity.indexes import NameIndexes
from agent.identity.keys import ParticipantKind
from agent.identity.names import normalise, skeletons
from agent.identity.people import People
from agent.invalidation import Invalidation
from agent.places import ServerRef
from agent.store.migrate import migrate
from agent.store.migration_sets import CORE
from agent.store.pool import ExternalServer, Store
from benchmarks.common import MEGABYTE, durable_cluster, percentiles, resident_mb

MEMBERS = 10_000
SERVERS, MEMBERS_EACH = 500, 1_000
QUESTIONS = 1_000
SERVER = ServerRef("console", "large", "Large")
GOALS = {
    "build_s": 1.0, "rename_ms": 1.0, "exact_us": 50.0, "suggestions_p99_ms": 5.0, "servers_500_mb": 600.0,
}  # fmt: skip

type Names = tuple[str, ...]


def words() -> list[str]:
    """Return some thousand words of several languages."""
    found: set[str] = set()
    for code in ("en", "de", "fr", "es", "pl", "tr", "fi", "id", "sw", "ru", "el"):
        locale = Locale.parse(code)
        for name in [*locale.territories.values(), *locale.languages.values()]:
            found |= {word.strip("()-") for word in name.split() if len(word) > 2}  # noqa: PLR2004 - a letter is none
    return sorted(found)


def people(count: int, chance: random.Random, pool: Sequence[str]) -> Iterator[Names]:
    """Yield the names of people, five each: shown here, nickname, global, username, of a persona."""
    for _ in range(count):
        one, two, three = chance.choices(pool, k=3)
        number = chance.randrange(10_000)
        yield (
            one,
            f"{one} {two}",
            f"{two} the {three}",
            f"{one.lower()}.{two.lower()}{number}",
            f"{three}{number % 100}",
        )


def prepared(account_id: int, names: Names, normalised: Names | None = None) -> tuple[int, list[str], frozenset[str]]:
    """Return a person as the index takes one; the database keeps the normalised names, but not what they look like."""
    normalised = normalised or tuple(map(normalise, names))
    return account_id, list(dict.fromkeys(normalised)), frozenset[str]().union(*map(skeletons, names))


def built(everybody: Sequence[Names], normalised: Sequence[Names]) -> NameIndex:
    """Return an index of people, from the names as the database gives them."""
    index = NameIndex()
    for account_id, (names, forms) in enumerate(zip(everybody, normalised, strict=True), 1):
        index.append(*prepared(account_id, names, forms))
    index.sort()
    return index


def forms_of(everybody: Sequence[Names]) -> list[Names]:
    """Return the normalised names of people."""
    return [tuple(map(normalise, names)) for names in everybody]


def timed(work: Callable[[Any], object], values: Sequence[Any]) -> list[float]:
    """Return the seconds of processor time that each call takes."""
    times = []
    for value in values:
        began = time.thread_time()
        work(value)
        times.append(time.thread_time() - began)
    return times


def microseconds(times: Sequence[float]) -> dict[str, float]:
    """Return p50 and p99."""
    ordered = sorted(times)
    return {f"p{part}": round(ordered[ceil(len(ordered) * part / 100) - 1] * 1e6, 2) for part in (50, 99)}


def misspelled(name: str, chance: random.Random) -> str:
    """Return a name with one letter exchanged, left out, doubled or swapped."""
    at = chance.randrange(len(name) - 1)
    return chance.choice(
        (
            name[:at] + "x" + name[at + 1 :],
            name[:at] + name[at + 1 :],
            name[:at] + name[at] + name[at:],
            name[:at] + name[at + 1] + name[at] + name[at + 2 :],
        )
    )


def in_memory(everybody: list[Names], chance: random.Random) -> dict[str, Any]:
    """Measure the index of one large server beside a dict and a plain list."""
    forms = forms_of(everybody)
    began = time.thread_time()
    index = built(everybody, forms)
    build = time.thread_time() - began
    plain: dict[str, set[int]] = {}
    for account_id, names in enumerate(everybody, 1):
        for name in names:
            plain.setdefault(normalise(name), set()).add(account_id)
    asked = [normalise(chance.choice(chance.choice(everybody))) for _ in range(QUESTIONS)]
    assert all(index.owners(name) == plain[name] for name in asked)
    near = [misspelled(name, chance) for name in asked if len(name) > 3]  # noqa: PLR2004 - shorter are near to nothing
    raw = list(plain)
    for wanted in near[:50]:
        assert set(index.near(wanted, MEMBERS)) == {each for name in over_all(wanted, raw) for each in plain[name]}
    return {
        "names": len(index),
        "build_s": round(build, 3),
        "exact_us": {"index": microseconds(timed(index.owners, asked)), "dict": microseconds(timed(plain.get, asked))},
        "alike_us": microseconds(timed(lambda name: index.lookalikes(skeletons(name)), asked)),
        "suggestions_ms": {
            "index": percentiles(timed(lambda wanted: index.near(wanted, 64), near)),
            "rapidfuzz_over_all": percentiles(timed(lambda wanted: over_all(wanted, raw), near[:200])),
        },
        "rename_ms": percentiles(timed(*renames(index, everybody, chance))),
    }


def over_all(wanted: str, names: Sequence[str]) -> set[str]:
    """Return near names by comparing every one that shares a pair of letters."""
    found = {
        name
        for scorer, cutoff in ((OSA.normalized_similarity, NEAR), (fuzz.ratio, NEAR * 100))
        for name, _, _ in process.extract(wanted, names, scorer=scorer, score_cutoff=cutoff, limit=None)
    }
    pairs = {wanted[at : at + 2] for at in range(len(wanted) - 1)}
    return {name for name in found if len(name) > 3 and any(pair in name for pair in pairs)}  # noqa: PLR2004


def renames(
    index: NameIndex, everybody: Sequence[Names], chance: random.Random
) -> tuple[Callable[[Any], object], list[Any]]:
    """Return what renames somebody, and whom, under which names."""
    renamed = []
    for account_id in chance.sample(range(1, len(everybody) + 1), min(QUESTIONS, len(everybody))):
        names = (f"Renamed {account_id} {chance.randrange(1000)}", *everybody[account_id - 1][1:])
        renamed.append(prepared(account_id, names))
    return lambda person: index.put(*person), renamed


async def with_database(everybody: list[Names], chance: random.Random) -> dict[str, Any]:
    """Measure what callers wait for, with the database that holds the truth."""
    async with AsyncExitStack() as stack:
        cluster = stack.enter_context(durable_cluster())
        url = stack.enter_context(cluster.fresh())
        await migrate(url, [CORE])
        store = await stack.enter_async_context(Store(ExternalServer(url)))
        arrivals, people_there = Arrivals(store, Invalidation(store), SystemClock()), People(store)
        kind = ParticipantKind.CONSOLE_USER
        members = tuple(Member(kind, str(n), each[0], each[2], each[3]) for n, each in enumerate(everybody, 1))
        first = await seconds(lambda: arrivals.observe(MembersSeen(SERVER, members, is_complete=True)))
        again = await seconds(lambda: arrivals.observe(MembersSeen(SERVER, members, is_complete=True)))
        async with store.connection() as conn:
            await conn.execute("ANALYZE")
            server_id: int = await conn.fetchval("SELECT server_id FROM servers")
        indexes = NameIndexes(store)
        cold = await seconds(lambda: indexes.get(server_id))
        await people_there.near(server_id, "warm")
        some = chance.sample(members, min(200, len(members)))

        async def rename(member: Member) -> None:
            await arrivals.observe(MembersSeen(SERVER, (Member(kind, member.external_id, "Renamed", None, None),)))
            await indexes.get(server_id)

        return {
            "members_first_s": round(first, 3),
            "members_again_s": round(again, 3),
            "build_from_database_s": round(cold, 3),
            "revision_query_ms": percentiles([await seconds(lambda: indexes.get(server_id)) for _ in some]),
            "exact_ms": percentiles(
                [await seconds(lambda m=each: people_there.bearers(server_id, m.display_name)) for each in some]  # type: ignore[misc]
            ),
            "suggestions_ms": percentiles(
                [
                    await seconds(lambda m=each: people_there.near(server_id, f"{m.username}x"))  # type: ignore[misc]
                    for each in some
                ]
            ),
            "rename_and_ask_ms": percentiles([await seconds(lambda m=each: rename(m)) for each in some]),  # type: ignore[misc]
        }


async def seconds(work: Callable[[], Any]) -> float:
    """Return how long something takes."""
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


def memory(chance: random.Random, pool: Sequence[str]) -> dict[str, Any]:
    """Measure what many servers take, and a tenth of them as a dict of sets with a list of names."""
    gc.collect()
    before = resident_mb()
    held = []
    for _ in range(SERVERS):
        some = list(people(MEMBERS_EACH, chance, pool))
        held.append(built(some, forms_of(some)))
    gc.collect()
    taken = resident_mb() - before
    names = sum(map(len, held))
    before = resident_mb()
    plain = []
    for _ in range(max(1, SERVERS // 10)):
        owners: dict[str, set[int]] = {}
        alike: dict[str, set[int]] = {}
        for account_id, borne in enumerate(people(MEMBERS_EACH, chance, pool), 1):
            for name in borne:
                owners.setdefault(normalise(name), set()).add(account_id)
                for look in skeletons(name):
                    alike.setdefault(look, set()).add(account_id)
        plain.append((owners, alike, list(owners)))
    gc.collect()
    baseline = (resident_mb() - before) * SERVERS / len(plain)
    return {
        "servers": len(held),
        "members_each": MEMBERS_EACH,
        "names": names,
        "mb": round(taken, 1),
        "bytes_a_name": round(taken * MEGABYTE / names),
        "mb_as_dicts": round(baseline, 1),
    }


def run() -> dict[str, Any]:
    """Measure everything."""
    chance = random.Random(4)  # noqa: S311 - the same names in every run
    pool = words()
    many = memory(chance, pool)
    everybody = list(people(MEMBERS, chance, pool))
    before = resident_mb()
    figures = in_memory(everybody, chance)
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "members": MEMBERS,
        "goals": GOALS,
        "memory": many,
        "in_memory": figures,
        "one_server_mb": round(resident_mb() - before, 1),
        "with_database": asyncio.run(with_database(everybody, chance)),
    }


def main() -> None:
    """Print the figures."""
    print(json.dumps(run(), indent=2))


if __name__ == "__main__":
    main()
