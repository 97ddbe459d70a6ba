"""A conversation between a room and a channel, while the homeserver and the agent are killed and started again."""

from __future__ import annotations

import asyncio
import random
import socket
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import aiohttp
import tomlkit

from tests.e2e.discord.process import DiscordProcess
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.synapse import Person, Synapse
from tests.servers.synapse.configuration import SERVER_NAME
from tests.servers.synapse.people import Refused

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0


@dataclass(frozen=True)
class Scale:
    messages: int = 40
    agent_kills: int = 2
    synapse_kills: int = 1
    pause: float = 0.05
    seed: int = 5


@dataclass
class Report:
    said: int = 0
    agent_kills: int = 0
    synapse_kills: int = 0
    missing: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    out_of_order: int = 0
    seconds: float = 0.0

    @property
    def figures(self) -> dict[str, Any]:
        return asdict(self)


class Storm:
    """The two servers, the agent's process, and what is said."""

    def __init__(self, discord: LoopbackDiscord, folder: Path, database_url: str, scale: Scale) -> None:
        self.discord = discord
        self.scale = scale
        self.report = Report()
        self.chance = random.Random(scale.seed)
        self.folder = folder
        self._database_url = database_url
        self._port = _free_port()

    async def run(self) -> Report:
        """Prepare, talk through everything that happens, and look what stands on either side."""
        began = time.monotonic()
        registration = await self._registered()
        home = self.folder / "home"
        home.mkdir()
        self.synapse = await asyncio.to_thread(Synapse, home, (registration,))
        await asyncio.to_thread(self.synapse.start)
        try:
            async with DiscordProcess(self.discord, self.folder, self._tables(self.synapse.url)) as agent:
                await self._talk(agent)
        finally:
            await asyncio.to_thread(self.synapse.kill)
        self.report.seconds = round(time.monotonic() - began, 1)
        return self.report

    async def _registered(self) -> Path:
        """Have the operator's command write the registration, before there is a homeserver that knows it."""
        tables = self._tables("http://127.0.0.1:1")
        del tables["bridges"]["discord"]
        (self.folder / "plugins.toml").write_text(tomlkit.dumps(tables))
        await self._command("registration")
        return self.folder / "data" / "relay-registration.yaml"

    async def _command(self, *words: str) -> None:
        """Run `isthmus relay …`."""
        options = ["--config", str(self.folder / "plugins.toml"), "--data", str(self.folder / "data")]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "agent", "relay", *words, *options,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=ROOT,
        )  # fmt: skip
        output, _ = await process.communicate()
        assert process.returncode == 0, output.decode()

    def _tables(self, homeserver: str) -> dict[str, Any]:
        relay = {"homeserver": homeserver, "server_name": SERVER_NAME, "port": self._port}
        return {
            "agent": {"embeddings": "off"},
            "database": {"url": self._database_url},
            "bridges": {"relay": relay, "discord": {}},
        }

    async def _talk(self, agent: DiscordProcess) -> None:
        guild = self.discord.guild("Garden")
        mara, general = guild.member("mara"), guild.channel("general")
        cyn = await self.synapse.person("cyn")
        room = await cyn.create_room("Kitchen")
        await agent.start()
        await cyn.invite(room, f"@isthmus_relay:{SERVER_NAME}")
        await self._command("link", room, f"discord:{general.id}")
        await self.discord.until(lambda: bool(self.discord.messages(general)), PATIENCE, "the link")
        kills = asyncio.create_task(self._kill(agent))
        for number in range(self.scale.messages):
            if number % 2:
                self.discord.say(mara, general, f"channel {number}")
            else:
                await self._say(cyn, room, number)
            self.report.said += 1
            await asyncio.sleep(self.scale.pause * self.chance.random() * 2)
        await kills
        expected = [f"{'channel' if number % 2 else 'room'} {number}" for number in range(self.scale.messages)]
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            there, here = await self._room(cyn, room), [each.content for each in self.discord.messages(general)]
            if set(expected) <= set(there) and set(expected) <= set(here):
                break
            await asyncio.sleep(0.5)
        await asyncio.sleep(2)  # what is doubled comes late
        there, here = await self._room(cyn, room), [each.content for each in self.discord.messages(general)]
        for place in (there, here):
            counted = Counter(place)
            self.report.missing += [each for each in expected if not counted[each]]
            self.report.doubled += [each for each in expected if counted[each] > 1]
        for place, word in ((there, "channel"), (here, "room")):
            numbers = [int(each.split()[1]) for each in place if each.startswith(f"{word} ")]
            self.report.out_of_order += sum(one > other for one, other in pairwise(numbers))

    async def _kill(self, agent: DiscordProcess) -> None:
        """Kill the agent and the homeserver while people talk, in an order of chance."""
        plan = ["agent"] * self.scale.agent_kills + ["synapse"] * self.scale.synapse_kills
        self.chance.shuffle(plan)
        pause = self.scale.messages * self.scale.pause / (len(plan) + 1)
        for each in plan:
            await asyncio.sleep(pause * (0.5 + self.chance.random()))
            if each == "agent":
                await agent.kill()
                self.report.agent_kills += 1
                await agent.start()
            else:
                await self.synapse.restart(kill=True)
                self.report.synapse_kills += 1

    async def _say(self, cyn: Person, room: str, number: int) -> None:
        """Say something as a real client does: again under the same transaction id until it is taken."""
        path = f"v3/rooms/{room}/send/m.room.message/storm{number}"
        content = {"msgtype": "m.text", "body": f"room {number}", "m.mentions": {}}
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    await cyn.call("PUT", path, content)
                except (aiohttp.ClientError, OSError, TimeoutError, Refused):
                    await asyncio.sleep(0.2)
                else:
                    return

    async def _room(self, cyn: Person, room: str) -> list[str]:
        bodies: list[str] = []
        start: dict[str, str] = {}
        while True:
            query = {"dir": "b", "limit": "500", **start}
            page = await cyn.call("GET", f"v3/rooms/{room}/messages", None, **query)
            bodies += [str(each["content"].get("body")) for each in page["chunk"] if each["type"] == "m.room.message"]
            if not page["chunk"] or "end" not in page:
                return bodies[::-1]
            start = {"from": page["end"]}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
