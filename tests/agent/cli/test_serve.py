"""`isthmus run` as a process: signals, exit codes, one process for one bot account."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(240)  # each test starts processes, and the machine may be busy

ROOT = Path(__file__).parents[3]
PATIENCE = 100.0


class Run:
    def __init__(self, folder: Path, url: str, **settings: object) -> None:
        self.folder = folder
        folder.mkdir()
        lines = ["[plugins.memory]", "enabled = false", "[database]", f'url = "{url}"', "[bridges.forrun]"]
        lines += ['module = "tests.agent.cli.bridge_for_run:RunBridge"', f'folder = "{folder}"']
        lines += [f"{key} = {value!r}".replace("'", '"') for key, value in settings.items()]
        (folder / "plugins.toml").write_text("\n".join(lines))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agent", "run", "--data", str(folder / "data")],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_for(self, what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not (self.folder / what).exists():
            assert time.monotonic() < deadline, what
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.02)

    def end(self) -> tuple[int, str]:
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said


type Start = Callable[..., Run]


@pytest.fixture
def start(tmp_path: Path, database_url: str) -> Iterator[Start]:
    started: list[Run] = []

    def start(**settings: object) -> Run:
        started.append(Run(tmp_path / f"run{len(started)}", database_url, **settings))
        return started[-1]

    yield start
    for run in started:
        if run.process.poll() is None:
            run.process.kill()
        run.process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_stops_gracefully(start: Start, number: signal.Signals) -> None:
    run = start(say="hello")
    run.wait_for("sent")
    run.process.send_signal(number)
    code, said = run.end()
    assert code == 0
    assert "isthmus: stopping; a second signal stops at once" in said
    assert "Traceback" not in said
    assert (run.folder / "stopped").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_second_signal_stops_at_once(start: Start, number: signal.Signals, code: int) -> None:
    run = start(stop_seconds=60.0)
    run.wait_for("started")
    run.process.send_signal(signal.SIGTERM)
    run.wait_for("stopping")
    began = time.monotonic()
    run.process.send_signal(number)
    assert run.end()[0] == code
    assert time.monotonic() - began < 20  # far less than the 60 s that the bridge would take


def test_a_start_can_be_given_up(start: Start) -> None:
    run = start(start_seconds=60.0)
    run.wait_for("starting")
    run.process.send_signal(signal.SIGTERM)
    code, said = run.end()
    assert code == 0
    assert "Traceback" not in said


def test_only_one_process_serves_an_account(start: Start) -> None:
    first = start(token="t1")
    first.wait_for("started")
    second = start(token="t1")
    code, said = second.end()
    assert code == 1
    (line,) = [line for line in said.splitlines() if line.startswith("isthmus: ")]
    assert "another isthmus run already serves this account" in line
    assert "t1" not in line
    other = start(token="t2")
    other.wait_for("started")
    assert first.process.poll() is None


def test_a_database_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", "postgresql://nobody:hunter2@127.0.0.1:9/none")
    code, said = run.end()
    assert code == 1
    assert "127.0.0.1:9" in said
    assert "hunter2" not in said
    assert "Traceback" not in said
