"""The README shows what really happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
CONVERSATION = re.search(r"```console\n(.*?)```", README, re.DOTALL)
COMMAND = re.compile(r"^\$ printf '(?P<lines>.*)\\n' \| make chat\n(?P<shown>(?:(?!\$ ).*\n)+)", re.MULTILINE)


def test_the_conversation_is_a_real_one(tmp_path: Path) -> None:
    assert CONVERSATION is not None
    commands = list(COMMAND.finditer(CONVERSATION[1]))
    assert len(commands) == 2
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ISTHMUS__")}
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "agent", "chat", "--data", str(tmp_path)],
            input=command["lines"] + "\n",
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=environment,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, command["shown"]), done.stderr


def test_the_first_commands_are_those_of_a_fresh_machine() -> None:
    first = re.search(r"```sh\n(.*?)```", README, re.DOTALL)
    assert first is not None
    assert [line.split("#")[0].strip() for line in first[1].splitlines()] == ["make chat", "make test"]
