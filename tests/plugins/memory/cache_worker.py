"""One of two processes that remind their model of what both write.

`python -m tests.plugins.memory.cache_worker DSN SEED LISTENS`
takes one JSON list a line, `[number, operation, argument…]`, and says `[number, result]` for each as it ends.
"""

import asyncio
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agent import logs
from agent.contracts.context import Tag
from agent.contracts.memory import MemoryScope, MemoryWrite, WriteKind
from agent.invalidation import Invalidation
from agent.store.pool import ExternalServer, Store
from agent.store.revisions import read as read_revisions
from agent.turn.values import Turn, server_owner, user_owner
from plugins.memory.memory import Memory
from plugins.memory.repository import Actor, Edit, MemoryRepository
from tests.plugins.memory.prompts import Prompts
from tests.plugins.memory.stage import Stage, author
from tests.plugins.memory.world import about_person, about_server, save

TAGS = {MemoryScope.SERVER: Tag.KNOWLEDGE_SERVER_MEMORIES, MemoryScope.PERSONAL: Tag.KNOWLEDGE_USER_MEMORIES}
NOBODY = Actor(None, None, None)


class Gates:
    """Places at which a turn or a load waits, or not, until the test lets it go on."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._held: list[asyncio.Future[None]] = []
        self.are_open = True

    @property
    def held(self) -> int:
        return len(self._held)

    async def wait(self) -> None:
        if not self.are_open and self._random.random() < 0.6:
            gate = asyncio.get_running_loop().create_future()
            self._held.append(gate)
            await gate

    def release(self) -> None:
        if self._held:
            self._held.pop(self._random.randrange(len(self._held))).set_result(None)

    def release_all(self) -> None:
        self.are_open = True
        while self._held:
            self.release()


class GatedRepository(MemoryRepository):
    """Its loads may take long, before the database is asked and after."""

    def __init__(self, store: Store, gates: Gates) -> None:
        super().__init__(store)
        self._gates = gates
        self.loading = 0

    async def block(self, *values: Any) -> Sequence[Memory]:
        self.loading += 1
        try:
            await self._gates.wait()
            rows = await super().block(*values)
            await self._gates.wait()
            return rows
        finally:
            self.loading -= 1


class Side:
    """What one process does, with the parts that a running agent has."""

    def __init__(self, store: Store, seed: int) -> None:
        self._store = store
        self._gates = Gates(seed)
        self._stage = Stage(store)
        self._repository = self._stage.repository = GatedRepository(store, self._gates)
        self._stage.cache = type(self._stage.cache)(self._repository, self._stage.clock)
        self._context = Prompts(self._stage).context
        self._invalidation = Invalidation(store)
        self._invalidation.listen(self._stage.cache.forget)
        self._turn: Turn | None = None
        self._turns = 0

    async def open(self, *, listens: bool) -> None:
        self._turn = await Prompts(self._stage).turn(author("Ana"))
        if listens:
            self._invalidation.start()

    async def close(self) -> None:
        await self._invalidation.stop()

    async def do(self, operation: str, *values: Any) -> Any:
        return await getattr(self, f"do_{operation}")(*values)

    async def do_turn(self) -> dict[str, Any]:
        assert self._turn is not None
        during_load = self._repository.loading > 0
        self._turns += 1
        async with self._store.connection() as conn:
            revisions = dict(await read_revisions(conn, self._owners.values()))
        await self._gates.wait()
        items = await self._context.items(replace(self._turn, turn_id=f"turn{self._turns}", revisions=revisions))
        shown = {item.tag: [entry.text for entry in item.entries] for item in items}
        return {"contents": {scope: shown.get(tag, []) for scope, tag in TAGS.items()}, "during_load": during_load}

    async def do_add(self, scope: str, content: str, tells: bool) -> int | None:
        added = await save(self._repository, self._store, self._write(scope, content))
        self._told(scope, tells)
        return added.memory_id

    async def do_edit(self, scope: str, content: str, tells: bool, memory_id: int) -> None:
        await self._change(scope, content, memory_id)
        self._told(scope, tells)

    async def do_delete(self, scope: str, tells: bool, memory_id: int) -> None:
        await self._change(scope, None, memory_id)
        self._told(scope, tells)

    async def do_forget(self, scope: str) -> None:
        """Hear of a change late, or of none at all."""
        self._stage.cache.forget(self._owners[MemoryScope(scope)])

    async def do_hold(self) -> None:
        self._gates.are_open = False

    async def do_release(self) -> None:
        self._gates.release()

    async def do_release_all(self) -> None:
        self._gates.release_all()

    async def do_deafen(self) -> int:
        """Have all listening connections die, as when the server is restarted; they come back after a while."""
        async with self._store.connection() as conn:
            return len(
                await conn.fetch(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND query ~ 'LISTEN|pg_notify' AND pid <> pg_backend_pid()"
                )
            )

    @property
    def _owners(self) -> dict[MemoryScope, str]:
        server_id, user_id = self._ids
        return {MemoryScope.SERVER: server_owner(server_id), MemoryScope.PERSONAL: user_owner(user_id)}

    @property
    def _ids(self) -> tuple[int, int]:
        assert self._turn is not None
        assert self._turn.account.user_id is not None
        return self._turn.place.server.server_id, self._turn.account.user_id

    def _write(self, scope: str, content: str) -> MemoryWrite:
        server_id, user_id = self._ids
        return about_server(server_id, content) if scope == MemoryScope.SERVER else about_person(user_id, content)

    async def _change(self, scope: str, content: str | None, memory_id: int) -> None:
        kind = WriteKind.DELETE if content is None else WriteKind.UPDATE
        write = replace(self._write(scope, content or ""), kind=kind)
        owner_id = self._ids[0] if scope == MemoryScope.SERVER else self._ids[1]
        async with self._store.transaction() as conn:
            assert await self._stage.guards.recheck(conn, write) is None
            memory = await self._repository.read(write.scope, memory_id, owner_id, 1, conn)
            assert memory is not None
            now = self._stage.clock.now()
            if content is None:
                assert await self._repository.remove(conn, memory, NOBODY, now) is not None
            else:
                edit = Edit(content, memory.version, memory.subject_account_id, memory.subject_user_id)
                assert await self._repository.edit(conn, memory, edit, NOBODY, now) is not None

    def _told(self, scope: str, tells: bool) -> None:
        """Announce a committed change; the notification of one that is not told is lost, here and elsewhere."""
        if tells:
            self._invalidation.announce(self._owners[MemoryScope(scope)])


async def serve(dsn: str, seed: int, *, listens: bool) -> None:
    running: set[asyncio.Task[None]] = set()

    async def answer(number: int, operation: str, *values: Any) -> None:
        result = await side.do(operation, *values)
        sys.stdout.write(json.dumps([number, result]) + "\n")
        sys.stdout.flush()

    def ended(task: asyncio.Task[None]) -> None:
        running.discard(task)
        task.result()

    reader = asyncio.StreamReader(limit=2**20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async with Store(ExternalServer(dsn), size=10) as store:
        side = Side(store, seed)
        await side.open(listens=listens)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while line := await reader.readline():
            task = asyncio.create_task(answer(*json.loads(line)))
            running.add(task)
            task.add_done_callback(ended)
        await side.close()


if __name__ == "__main__":
    logs.configure("json", "error", sys.stderr)
    asyncio.run(serve(sys.argv[1], int(sys.argv[2]), listens=sys.argv[3] == "yes"))
