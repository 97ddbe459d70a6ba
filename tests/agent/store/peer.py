"""A process of its own on a data directory: answers one line of JSON for each command on standard input."""

import asyncio
import json
import sys
from pathlib import Path

from agent.store.embedded import EmbeddedServer
from agent.store.errors import StoreError
from agent.store.pool import Store


def say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


async def answer(store: Store, server: EmbeddedServer, command: str) -> object:
    verb, _, rest = command.partition(" ")
    if verb == "started":
        return server.started_here
    if verb == "add":

        async def add() -> None:
            async with store.transaction() as connection:
                await connection.execute("INSERT INTO kept VALUES ($1) ON CONFLICT DO NOTHING", int(rest))

        await store.retrying(add)
        return "added"
    async with store.connection() as connection:
        return [record[0] for record in await connection.fetch("SELECT number FROM kept ORDER BY number")]


async def main(data_dir: Path) -> None:
    server = EmbeddedServer(data_dir, durable=False, settings={"dynamic_shared_memory_type": "mmap"})
    try:
        store = Store(server)
        await store.open()
    except StoreError as error:
        say({"error": type(error).__name__, "text": str(error)})
        return
    async with store.transaction() as connection:
        await connection.execute("SELECT pg_advisory_xact_lock(1)")
        await connection.execute("CREATE TABLE IF NOT EXISTS kept (number int PRIMARY KEY)")
    say("ready")
    while line := await asyncio.to_thread(sys.stdin.readline):
        say(await answer(store, server, line.strip()))
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
