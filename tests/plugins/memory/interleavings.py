"""Two processes write and remind their models, in random orders; no turn may see what was so before it began.

One interleaving is a few steps in random order: a commit in either process, told of or not; a turn that begins in
either; a turn or load that is held up and goes on later; a notification that comes late; a listener that dies.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from agent.contracts.memory import MemoryScope
from agent.store.pool import ExternalServer, Store
from tests.plugins.memory.cache_worker import Side

ROOT = Path(__file__).parents[3]
MOST = 4
"""Memories that an owner has at most."""
STEPS = ("turn", "turn", "turn", "turn", "commit", "commit", "commit", "release", "forget")


class Process(Protocol):
    async def do(self, operation: str, *values: Any) -> Any: ...


class Remote:
    """A process that is asked over its standard input."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._reading = asyncio.create_task(self._read())

    async def do(self, operation: str, *values: Any) -> Any:
        assert self._process.stdin is not None
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._process.stdin.write(json.dumps([number, operation, *values]).encode() + b"\n")
        async with asyncio.timeout(30):
            return await answer

    async def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._reading
        assert await self._process.wait() == 0

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            number, result = json.loads(line)
            self._waiting.pop(number).set_result(result)


@dataclass
class Story:
    """What an owner's memories were after each commit, oldest first."""

    states: list[frozenset[str]] = field(default_factory=lambda: [frozenset()])
    committed: int = 0
    """The last state whose commit is known to be done; a later one may be under way."""
    ids: dict[str, int] = field(default_factory=dict)


class Interleavings:
    def __init__(self, processes: Sequence[Process], seed: int) -> None:
        self._processes = processes
        self._random = random.Random(seed)
        self._stories = {scope: Story() for scope in MemoryScope}
        self._numbers = itertools.count()
        self.counts: Counter[str] = Counter()
        """What happened how often."""

    async def run(self, count: int) -> None:
        for _ in range(count):
            await self.one()

    async def one(self) -> None:
        draw = self._random
        if draw.random() < 0.03:
            self.counts["listeners_died"] += await draw.choice(self._processes).do("deafen")
        for process in self._processes:
            await process.do("hold")
        turns: list[asyncio.Task[None]] = []
        for step in draw.choices(STEPS, k=draw.randint(5, 12)):
            process = draw.choice(self._processes)
            if step == "turn":
                turns.append(asyncio.create_task(self._turn(process)))
                await asyncio.sleep(0)  # it has begun
            elif step == "commit":
                await self._commit(process, draw.choice(list(MemoryScope)))
            elif step == "forget":
                await process.do("forget", draw.choice(list(MemoryScope)))
            else:
                await process.do("release")
        for process in self._processes:
            await process.do("release_all")
        await asyncio.gather(*turns)
        self.counts["interleavings"] += 1

    async def _turn(self, process: Process) -> None:
        first = {scope: story.committed for scope, story in self._stories.items()}
        seen = await process.do("turn")
        for scope, story in self._stories.items():
            contents = seen["contents"][scope]
            assert len(contents) == len(set(contents))
            possible = story.states[first[scope] :]
            assert set(contents) in possible, (
                f"a turn saw {sorted(contents)} of {scope}; after the last commit before it, it was "
                f"{sorted(possible[0])}, and it then changed {len(possible) - 1} times"
            )
            self.counts["changed_meanwhile"] += len(possible) > 1
        self.counts["turns"] += 1
        self.counts["began_during_load"] += seen["during_load"]

    async def _commit(self, process: Process, scope: MemoryScope) -> None:
        draw, story = self._random, self._stories[scope]
        tells = draw.random() < 0.5
        before = story.states[-1]
        old = draw.choice(sorted(before)) if before else None
        kind = "add" if old is None else draw.choice(("add", "edit", "edit", "delete"))
        if kind == "add" and len(before) == MOST:
            kind = "delete"
        new = f"canary {next(self._numbers)}"
        removed = frozenset() if old is None or kind == "add" else frozenset({old})
        story.states.append((before - removed) | (frozenset() if kind == "delete" else frozenset({new})))
        if kind == "add":
            story.ids[new] = await process.do("add", scope, new, tells)
        elif old is not None:
            memory_id = story.ids.pop(old)
            if kind == "edit":
                await process.do("edit", scope, new, tells, memory_id)
                story.ids[new] = memory_id
            else:
                await process.do("delete", scope, tells, memory_id)
        story.committed = len(story.states) - 1
        self.counts["commits"] += 1
        self.counts["not_told"] += not tells


@asynccontextmanager
async def two_processes(database_url: str, seed: int, *, listens: bool = True) -> AsyncIterator[Interleavings]:
    """This process and another, on one database; neither ever hears of the other's changes unless it `listens`."""
    command = (sys.executable, "-m", "tests.plugins.memory.cache_worker")
    arguments = (database_url, str(seed), "yes" if listens else "no")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, *arguments, cwd=ROOT, stdin=pipe, stdout=pipe)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    remote = Remote(process)
    try:
        async with Store(ExternalServer(database_url), size=10) as store:
            here = Side(store, seed + 1)
            await here.open(listens=listens)
            try:
                yield Interleavings((here, remote), seed)
            finally:
                await here.close()
        await remote.end()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
