"""Several processes that do something at the same moment: each says `ready`, waits for a line, and prints JSON."""

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


async def start(worker: str, job: Any) -> asyncio.subprocess.Process:
    """Start a worker, a module of this package, with its job, a dataclass; it waits for a line."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        f"tests.plugins.memory.{worker}",
        json.dumps(asdict(job)),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    return process


async def race(worker: str, jobs: Sequence[Any]) -> list[list[Any]]:
    """Run each job in a process of its own, all at the same moment; return the results of each."""
    processes = await asyncio.gather(*(start(worker, job) for job in jobs))
    ended = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    assert [process.returncode for process in processes] == [0] * len(jobs)
    return [json.loads(out) for out, _ in ended]
