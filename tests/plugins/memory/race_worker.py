"""One of several processes that save at once: `python -m tests.plugins.memory.race_worker JOB`.

Says `ready`, waits for a line, does its saves all at once, and prints their results as JSON.
"""

import asyncio
import json
import sys
from dataclasses import dataclass
from typing import Any

from agent import logs
from agent.clock import SystemClock
from agent.privacy.guards import MemoryGuards
from agent.privacy.repository import Privacy
from agent.store.pool import ExternalServer, Store
from agent.tools import Connection, ToolResult
from plugins.memory.cards import Wording
from plugins.memory.repository import MemoryRepository
from plugins.memory.saving import Request, Writing, save
from plugins.memory.settings import MemorySettings
from tests.plugins.memory.stage import Announced, Hooks
from tests.plugins.memory.world import about_person, about_server, source


@dataclass(frozen=True)
class Job:
    dsn: str
    scope: str
    owner: int
    subject: int | None
    contents: list[str]
    cap: int
    can_recall: bool = False
    endless: bool = False
    """Save one after the other until killed, and say each as it is confirmed."""


async def always() -> bool:
    return True


async def never() -> bool:
    return False


def writing_for(store: Store, cap: int, *, can_recall: bool = False) -> Writing:
    return Writing(
        store,
        MemoryRepository(store),
        MemoryGuards(Privacy(store), Hooks()),
        Announced(),
        SystemClock(),
        MemorySettings(max_server_memories=cap, max_personal_memories=cap),
        can_recall=always if can_recall else never,
    )


async def unbound(conn: Connection, result: ToolResult, cards: Any = ()) -> None:
    """Bind to no turn."""


async def one(writing: Writing, job: Job, content: str) -> ToolResult:
    make = about_server if job.scope == "server" else about_person
    write = make(job.owner, content, subject_account_id=job.subject, source=source(occurred_at=SystemClock().now()))
    return await save(writing, Request(write, Wording("somebody")), unbound)


async def work(job: Job) -> None:
    async with Store(ExternalServer(job.dsn), size=10) as store:
        writing = writing_for(store, job.cap, can_recall=job.can_recall)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)
        number = 0
        while job.endless:
            result = await one(writing, job, f"{job.contents[0]} {number}")
            number += 1
            sys.stdout.write(json.dumps(result.as_json()) + "\n")
            sys.stdout.flush()
        results = await asyncio.gather(*(one(writing, job, content) for content in job.contents))
        sys.stdout.write(json.dumps([result.as_json() for result in results]) + "\n")


if __name__ == "__main__":
    logs.configure("json", "error", sys.stderr)
    asyncio.run(work(Job(**json.loads(sys.argv[1]))))
