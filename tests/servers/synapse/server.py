"""A Synapse that is started, killed and started again."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import aiohttp

from tests.servers.synapse.configuration import SERVER_NAME, SHARED_SECRET, write
from tests.servers.synapse.installed import python_of_synapse
from tests.servers.synapse.people import Person

PATIENCE = 60.0
"""Seconds in which it must answer; it takes two on a machine with nothing else to do."""
_names = itertools.count(1)


class Synapse:
    """One homeserver. `start` and the like block: a session fixture calls them outside of any event loop."""

    def __init__(self, folder: Path, appservices: tuple[Path, ...] = ()) -> None:
        self.folder = folder
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.server_name = SERVER_NAME
        self._python = python_of_synapse()
        self._config = write(folder, self.port, appservices)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and return when it answers."""
        command = [str(self._python), "-m", "synapse.app.homeserver", "-c", str(self._config)]
        if not (self.folder / "signing.key").exists():
            subprocess.run([*command, "--generate-keys"], check=True, capture_output=True, cwd=self.folder)
        output = (self.folder / "output.log").open("ab")
        with output:
            self._process = subprocess.Popen(command, cwd=self.folder, stdout=output, stderr=output)
        deadline = time.monotonic() + PATIENCE
        while not _answers(self.port):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"Synapse did not start: {(self.folder / 'output.log').read_text()[-2000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop it."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it, as a machine would that loses its power."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    async def restart(self, *, kill: bool = False) -> None:
        """End it and start it again, without holding up the event loop."""
        await asyncio.to_thread(self.kill if kill else self.stop)
        await asyncio.to_thread(self.start)

    async def person(self, name: str = "ana", display_name: str | None = None) -> Person:
        """Register somebody whose name is made unique, and log in."""
        localpart = f"{name}-{next(_names)}-{self.port}"
        async with aiohttp.ClientSession() as http:
            address = f"{self.url}/_synapse/admin/v1/register"
            async with http.get(address) as answer:
                nonce = (await answer.json())["nonce"]
            parts = (nonce, localpart, f"password of {localpart}", "notadmin")
            mac = hmac.new(SHARED_SECRET.encode(), "\x00".join(parts).encode(), hashlib.sha1).hexdigest()
            body: dict[str, Any] = {
                "nonce": nonce,
                "username": localpart,
                "password": parts[2],
                "admin": False,
                "mac": mac,
                "displayname": display_name or name.title(),
            }
            async with http.post(address, json=body) as answer:
                answer.raise_for_status()
                account = await answer.json()
        return Person(self.url, account["user_id"], parts[2], account["access_token"], body["displayname"])


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _answers(port: int) -> bool:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
