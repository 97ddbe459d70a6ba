"""How long a start takes: `python -m benchmarks.bench_start` prints JSON, in seconds.

`first_answer` goes from the command `isthmus chat --script -` to the first line of the answer, with the embedded
database and the offline model, in a data directory that has been used before (`warm`) or is new (`new_directory`).
`bare` is Python with the imports that any such program needs: the driver, the models, the command line.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.common import PLACE, ROOT

GOAL: Final = 2.0
ROUNDS: Final = 7
BARE: Final = "import asyncio, asyncpg, pydantic, typer; print('{}')"
SCRIPT: Final = "ana: hello\n"


def first_answer(data: Path) -> float:
    """Return the seconds from the command to its first answer."""
    config = data.parent / "plugins.toml"
    config.touch()
    command = [sys.executable, "-m", "agent", "chat", "--script", "-", "--json"]
    return _until_line([*command, "--config", str(config), "--data", str(data)], '"type": "reply"')


def _until_line(command: list[str], holds: str) -> float:
    began = time.perf_counter()
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(SCRIPT)
        process.stdin.flush()
        found = next((time.perf_counter() for line in process.stdout if holds in line), None)
        _, errors = process.communicate()
    if found is None or process.returncode:
        raise RuntimeError(f"no answer (exit code {process.returncode}): {errors[-2000:]}")
    return found - began


def _figures(measure: Callable[[], float], rounds: int) -> dict[str, float]:
    seconds = sorted(measure() for _ in range(rounds))
    return {"median": round(median(seconds), 3), "least": round(seconds[0], 3), "most": round(seconds[-1], 3)}


def run(rounds: int = ROUNDS) -> dict[str, Any]:
    """Measure starts."""
    PLACE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=PLACE) as directory:
        new = first_answer(Path(directory) / "data")
        warm = _figures(lambda: first_answer(Path(directory) / "data"), rounds)
    return {
        "goal": {"first_answer_warm": GOAL},
        "unit": "s",
        "first_answer": {"warm": warm, "new_directory": round(new, 3)},
        "bare": _figures(lambda: _until_line([sys.executable, "-c", BARE], "{}"), rounds),
    }


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
