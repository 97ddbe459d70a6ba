import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import aiohttp

ROOT = Path(__file__).parents[3]


async def test_it_runs_by_itself() -> None:
    program = (sys.executable, "-m", "tests.servers.discord")
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*program, stdin=pipe, stdout=pipe, cwd=ROOT)
    assert child.stdin is not None
    assert child.stdout is not None
    where: dict[str, Any] = json.loads(await child.stdout.readline())
    child.stdin.write(b"hello\n")
    await child.stdin.drain()
    headers = {"Authorization": f"Bot {where['token']}"}
    address = f"{where['api_base']}/channels/{where['channel']}/messages"
    async with aiohttp.ClientSession(headers=headers) as session, asyncio.timeout(10):
        said: list[dict[str, Any]] = []
        while not said:
            said = await (await session.get(address)).json()
        await session.post(address, json={"content": "yes"})
        shown = json.loads(await child.stdout.readline())
    assert (said[0]["content"], said[0]["author"]["username"]) == ("hello", "mara")
    assert (shown["content"], shown["author"]) == ("yes", "agent")
    child.terminate()
    assert await child.wait() == 0
