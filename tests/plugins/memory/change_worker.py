"""One of several processes that change or export what is there: `python -m tests.plugins.memory.change_worker JOB`.

Says `ready`, waits for a line, does its work, and prints the results as JSON.
"""

import asyncio
import json
import random
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from agent import logs
from agent.store.pool import ExternalServer, Store
from agent.tools import ToolContext
from plugins.memory.recall import Admitted
from plugins.memory.rendering import entry
from tests.plugins.memory.stage import Stage, author
from tests.plugins.memory.transfer.traffic import Traffic
from tests.plugins.memory.world import NOW, ROOM, about_person, about_server

ANA = author("Ana")
SHELVES: dict[str, str | None] = {"server": None, "personal": "@{ana}"}
"""By scope, the target with which the tools reach it."""
END = "the end"


@dataclass(frozen=True)
class Job:
    dsn: str
    does: str
    """`update`, `delete`, `write` or `export`."""
    name: str = ""
    """What a writer's texts begin with, and the texts that an update leaves."""
    memories: list[tuple[str, int]] = field(default_factory=list)
    """What is to be changed, by scope and id."""
    until: list[str] = field(default_factory=list)
    """An export ends with the file that holds these texts."""


def steps(name: str) -> Iterable[tuple[str, str, str]]:
    """Yield what a writer does, one after the other: operation, scope, and the text before it or of it.

    A creation is of both scopes at once: whoever reads them at two moments finds one without the other.
    """
    for number in range(30):
        text = f"{name} {number}"
        yield "create", "both", text
        if number % 3 == 0:
            yield "update", "server", text
            yield "delete", "personal", text
    yield "create", "both", f"{name} {END}"


class Worker:
    def __init__(self, store: Store, job: Job, context: ToolContext, stage: Stage) -> None:
        assert context.account.user_id is not None
        self._store, self._job, self._context, self._stage = store, job, context, stage
        self._user = context.account.user_id

    async def see(self) -> None:
        """Show the turn what is remembered, as its prompt does."""
        rows = await self._stage.repository.block(self._context.place.server.server_id, [self._user], 1)
        entries = [entry(row, row.content, "") for row in rows]
        self._stage.seen.show(self._context.turn_id, Admitted(list(rows), entries))

    async def update(self) -> list[Any]:
        return await self._change(self._job.name)

    async def delete(self) -> list[Any]:
        return await self._change("")

    async def _change(self, content: str) -> list[Any]:
        """Change everything at once, in an order of one's own."""

        async def change(scope: str, memory_id: int) -> tuple[int, dict[str, Any]]:
            result = await self._stage.update(self._context, memory_id, content, SHELVES[scope])
            return memory_id, result.as_json()

        order = random.Random(self._job.name).sample(self._job.memories, len(self._job.memories))
        return list(await asyncio.gather(*(change(scope, memory_id) for scope, memory_id in order)))

    async def write(self) -> list[Any]:
        ids: dict[tuple[str, str], Any] = {}
        statuses = []
        for operation, scope, text in steps(self._job.name):
            if operation == "create":
                ids["personal", text], ids["server", text] = await self._create_both(text)
            else:
                content = f"{text} changed" if operation == "update" else ""
                result = await self._stage.update(self._context, ids[scope, text], content, SHELVES[scope])
                statuses.append(result.status)
        return statuses

    async def _create_both(self, text: str) -> list[int | None]:
        own = about_person(self._user, text)
        shared = about_server(self._context.place.server.server_id, text)
        async with self._store.transaction() as conn:
            for write in (own, shared):
                await self._stage.privacy.lock_facts_of_write(conn, write)
            return [(await self._stage.repository.add(conn, write, ROOM, NOW)).memory_id for write in (own, shared)]

    async def export(self) -> list[Any]:
        files: list[list[tuple[str, str]]] = []
        traffic = Traffic(self._stage)
        server = self._context.place.server.server_id
        while not files or not set(self._job.until) <= {content for _, content in files[-1]}:
            file = await traffic.export(server_id=server, user_id=self._user)
            files.append([(scope, each["content"]) for scope in SHELVES for each in file[f"{scope}_memories"]])
        return files


async def work(job: Job) -> None:
    async with Store(ExternalServer(job.dsn), size=10) as store:
        stage = Stage(store)
        worker = Worker(store, job, await stage.context(ANA, turn_id=job.name or job.does), stage)
        await worker.see()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)
        sys.stdout.write(json.dumps(await getattr(worker, job.does)()) + "\n")


if __name__ == "__main__":
    logs.configure("json", "error", sys.stderr)
    asyncio.run(work(Job(**json.loads(sys.argv[1]))))
