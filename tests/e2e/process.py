"""Runs `isthmus` as its users do: as a process, on the embedded database."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PATIENCE = 100.0


@dataclass(frozen=True)
class Done:
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    def of(self, *types: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["type"] in types]


@dataclass(frozen=True)
class Isthmus:
    """One deployment: a folder with its settings, and a data directory."""

    folder: Path
    data: Path

    def __call__(self, *arguments: str, stdin: bytes | str = b"", **environ: str) -> Done:
        """Run one command to its end."""
        done = subprocess.run(
            self.command(*arguments),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
            cwd=self.folder,
            env=self.environ | environ,
        )
        err = done.stderr.decode()
        assert "Traceback" not in err, err
        return Done(done.returncode, done.stdout, err)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start one command, with pipes to all its streams."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            self.command(*arguments), stdin=pipe, stdout=pipe, stderr=pipe, cwd=self.folder, env=self.environ
        )

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "agent", *arguments, "--data", str(self.data)]

    @property
    def environ(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("ISTHMUS__", "XDG_"))}
        kept |= {"PYTHONPATH": str(ROOT), "LOGNAME": "tester", "HOME": str(self.folder)}
        return kept

    def chat(self, *lines: str, **environ: str) -> Done:
        """Say lines, and return the transcript as records."""
        return self("chat", "--script", "-", "--json", stdin="\n".join(lines), **environ)
