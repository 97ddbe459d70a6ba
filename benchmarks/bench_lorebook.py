"""What lorebooks cost a message: `python -m benchmarks.bench_lorebook` prints JSON, in milliseconds.

One server with as many entries as a deployment allows by default, three keys each, some of them patterns, one of which
takes too long for every text. `plain` looks for each key with `in` and `re` on the event loop, one after the other.
A stall is how long a timer on the event loop was late, without the time for which this thread was ready to run and
was given no processor.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import re
import time
from collections.abc import AsyncIterator
from statistics import median
from typing import Any

from agent.places import Channel, ChannelRef, Place, Server, ServerRef
from benchmarks.common import percentiles
from plugins.lorebook.book import Book, Entry
from plugins.lorebook.context import LoreContext, always
from plugins.lorebook.rules import Defaults
from plugins.lorebook.settings import LorebookSettings
from plugins.lorebook.shelf import Shelf, make_shelf

ENTRIES = LorebookSettings().max_entries
PATTERNS = 200
ROUNDS = 100
STALL_GOAL = 20.0
PLACE = Place(Server(1, ServerRef("console", "s", "s")), Channel(1, ChannelRef("c", "c")))
TALK = "the old road runs from the harbour to the hills where nobody has lived since the war of the two moons"
WORDS = TALK.split()


def make_book() -> Book:
    """Return a book whose entries share many of their words."""
    entries = [
        Entry(
            content=f"Place {number} lies between {WORDS[number % 20]} and {WORDS[number % 17]}.",
            keys=(
                f"place {number}",
                f"{WORDS[number % 20]} number{number}",
                rf"/\bpl(?:ace|aza)s? {number}\b/i" if number < PATTERNS else f"site{number}",
            ),
            uid=number,
            entry_id=number,
        )
        for number in range(ENTRIES)
    ]
    return Book("bench", (*entries, Entry(content="never", keys=(r"/(\w+\s?)*\d!\d/",), uid=ENTRIES)), book_id=1)


def messages(seed: int) -> list[str]:
    """Return a message and three before it, some 300 words each, which name a few places."""
    text = " ".join(WORDS * 15)
    return [f"{text} place {seed * 7 % ENTRIES} {text} 1!a site{seed * 11 % ENTRIES}" for _ in range(4)]


class Stalls:
    """How late a timer of the running loop was, in seconds."""

    def __init__(self) -> None:
        self.late: list[float] = []
        self._stop = False

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Watch while the block runs."""
        task = asyncio.create_task(self._beat())
        await asyncio.sleep(0.01)
        self.late.clear()
        yield
        self._stop = True
        await task

    async def _beat(self) -> None:
        waited = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        try:
            while not self._stop:
                before, began = _waited(waited), time.perf_counter()
                await asyncio.sleep(0.001)
                self.late.append(time.perf_counter() - began - 0.001 - (_waited(waited) - before))
        finally:
            os.close(waited)


def _waited(file: int) -> float:
    return int(os.pread(file, 100, 0).split()[1]) / 1e9


async def scans(shelf: Shelf) -> dict[str, Any]:
    """Measure the plugin's own search."""
    context = LoreContext(None, LorebookSettings(), message_limit=8_000)  # type: ignore[arg-type]  # no shelf is read
    times: list[float] = []
    found = 0
    stalls = Stalls()
    async with stalls.watched():
        for seed in range(ROUNDS):
            began = time.perf_counter()
            scan = await context.search(shelf, PLACE, 1, messages(seed), always)
            times.append(time.perf_counter() - began)
            found += len(scan.activation.hits)
    return {**percentiles(times), "found": found, "stall_max": round(max(stalls.late) * 1000, 2)}


async def plain(book: Book) -> dict[str, Any]:
    """Measure the plain way, without the pattern that takes too long: it would never end."""
    keys = [key.lower() for entry in book.entries[:-1] for key in entry.keys if not key.startswith("/")]
    patterns = [
        re.compile(key[1:-2], re.IGNORECASE) for e in book.entries[:-1] for key in e.keys if key.startswith("/")
    ]
    times: list[float] = []
    for seed in range(ROUNDS):
        began = time.perf_counter()
        text = "\n".join(messages(seed)).lower()
        assert any(key in text for key in keys[::-1])
        assert sum(key in text for key in keys) + sum(pattern.search(text) is not None for pattern in patterns)
        times.append(time.perf_counter() - began)
    return {**percentiles(times), "stall_max": round(max(times) * 1000, 2)}


async def run() -> dict[str, Any]:
    """Measure both on the same book."""
    book = make_book()
    builds: list[float] = []
    shelf = Shelf()
    for _ in range(3):
        began = time.perf_counter()
        shelf = await asyncio.to_thread(make_shelf, [book], Defaults())
        builds.append(time.perf_counter() - began)
    gc.collect()
    gc.freeze()  # as a running agent does at its start
    figures = {"scan": await scans(shelf), "plain": await plain(book)}
    return {
        "entries": len(book.entries),
        "patterns": PATTERNS + 1,
        "build": round(median(builds) * 1000, 1),
        **figures,
        "goal_stall": STALL_GOAL,
        "holds": figures["scan"]["stall_max"] < STALL_GOAL,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run())))
