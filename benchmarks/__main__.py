"""Runs benchmarks and prints their figures as one JSON object: `python -m benchmarks [NAME …]`.

NAME is `turns` for bench_turns.py; without names all of them run, each in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.common import machine

HERE = Path(__file__).parent
OK, FAILED, WRONG = 0, 1, 2


def names() -> list[str]:
    """Return what can be run."""
    return sorted(file.stem.removeprefix("bench_") for file in HERE.glob("bench_*.py"))


def run(name: str) -> dict[str, Any]:
    """Run one benchmark and return its figures, or what went wrong."""
    command = [sys.executable, "-m", f"benchmarks.bench_{name}"]
    done = subprocess.run(command, cwd=HERE.parent, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return {"error": f"exit code {done.returncode}"}
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def main(arguments: list[str]) -> int:
    """Print the figures; the exit code is 1 when one of them failed, 2 when there is none of that name."""
    if unknown := sorted(set(arguments) - set(names())):
        sys.stderr.write(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(names())}\n")
        return WRONG
    figures = {name: run(name) for name in arguments or names()}
    print(json.dumps({"machine": machine(), **figures}, indent=2))
    return FAILED if any("error" in each for each in figures.values()) else OK


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
