"""Whatever is said, set or handed over: lines for people, never a traceback, never a terminal that obeys."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.e2e.conftest import Deploy
from tests.e2e.process import PATIENCE, Isthmus

pytestmark = pytest.mark.timeout(240)  # each test starts processes, and the machine may be busy

RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SAID = [
    b"x" * 1_000_000,
    b"nul\x00byte",
    b"\xff\xfe invalid",
    "lone \ud800 surrogate".encode("utf-8", "surrogatepass"),
    ("a" + "\u0301" * 10_000).encode(),
    "\u202egnp.exe\u2066".encode(),
    b"\x1b]0;title\x07\x1b[2J\x9b31m",
    b"/" + b"\x1b[31m" * 10,
    b"\x1b[31mana: hello",
    b'/stop "',
    b"",
    b"   ",
    b"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb: emoji name",
    b"\\",
    b"{bot} {user} @{ana}",
    b"# a comment",
]


@pytest.mark.parametrize("form", ["text", "json"])
def test_anything_may_be_said(isthmus: Isthmus, form: str) -> None:
    arguments = ["--json"] if form == "json" else []
    done = isthmus("chat", "--script", "-", *arguments, stdin=b"\n".join([*SAID, b"last words"]))
    assert done.code == 1  # some of these are no commands
    assert RAW.sub("", done.text) == done.text
    assert done.err == ""
    if form == "json":
        messages = [record for record in done.of("message") if "command" not in record["data"]]
        assert messages[-1]["text"] == "last words"
        assert len(done.of("reply")) >= len(messages)
        assert len(messages[0]["text"]) == 1_000_000


def test_an_empty_script_says_nothing(isthmus: Isthmus) -> None:
    done = isthmus("chat", "--json")
    assert (done.code, done.out, done.err) == (0, b"", "")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe", "plugins.toml:1: is not UTF-8 text"),
        (b"[agent]\nmodel = 'offline'\n[agent]\n", "plugins.toml:3: table [agent] stands here a second time"),
        (b"[agent]\nmodel = 7\n", "agent.model = 7: expected a text in quotes"),
        (b"[agent]\nmodle = 'x'\n", "did you mean model?"),
        (b"[plugins.memroy]\n", "memory?"),
        (b"[plugins.memory]\nmax_server_memory = 3\n", "max_server_memories"),
        (b"agent = [", "not valid TOML"),
    ],
)
def test_settings_that_are_wrong(deploy: Deploy, content: bytes, said: str) -> None:
    isthmus = deploy()
    (isthmus.folder / "plugins.toml").write_bytes(content)
    done = isthmus("chat")
    assert done.code == 2
    assert said in done.err
    assert done.out == b""
    doctor = isthmus("doctor")
    assert doctor.code == 1
    assert said in doctor.text
    assert "→" in doctor.text


def test_settings_that_are_a_directory_or_missing_or_empty(deploy: Deploy) -> None:
    isthmus = deploy()
    (isthmus.folder / "plugins.toml").mkdir()
    done = isthmus("plugins", "list")
    assert done.code == 2
    assert "is a directory" in done.err
    (isthmus.folder / "plugins.toml").rmdir()
    assert isthmus("plugins", "list", "--config", "nowhere.toml").code == 2
    (isthmus.folder / "empty.toml").write_text("")
    assert isthmus("plugins", "list", "--config", "empty.toml").code == 0


def test_a_secret_that_cannot_be_read_is_named_and_not_shown(deploy: Deploy) -> None:
    isthmus = deploy('[database]\nurl = "file:nowhere"\n')
    done = isthmus("chat", stdin="hello")
    assert done.code == 1
    assert "file:nowhere" in done.err
    assert len(done.err.splitlines()) <= 2
    assert isthmus("doctor").code == 1


def test_a_model_without_its_key_says_what_to_set(deploy: Deploy) -> None:
    isthmus = deploy('[agent]\nmodel = "openai:gpt-5-mini"\n')
    done = isthmus("chat", stdin="hello", OPENAI_API_KEY="")
    assert done.code == 1
    assert "OPENAI_API_KEY" in done.err


@pytest.mark.parametrize("kind", ["file", "below a file", "kernel's", "other version", "foreign files"])
def test_a_data_directory_that_cannot_be_used(deploy: Deploy, kind: str) -> None:
    isthmus = deploy()
    data = isthmus.data
    if kind in {"file", "below a file"}:
        data.write_text("")
        data = data if kind == "file" else data / "below"
    elif kind == "kernel's":
        data = Path("/proc/isthmus")
    else:
        (data / "postgres").mkdir(parents=True)
        name, content = ("PG_VERSION", "9.6\n") if kind == "other version" else ("thesis.txt", "precious")
        (data / "postgres" / name).write_text(content)
    done = Isthmus(isthmus.folder, data)("chat", stdin="hello")
    assert done.code == 1
    assert str(data) in done.err or "9.6" in done.err
    assert len(done.err.splitlines()) <= 2
    if kind == "foreign files":
        assert (data / "postgres" / "thesis.txt").read_text() == "precious"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_conversation_and_leaves_nothing_running(
    isthmus: Isthmus, number: signal.Signals, code: int
) -> None:
    process = isthmus.start("chat", "--script", "-")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"ana: hello\n")
    process.stdin.flush()
    assert b"ana: hello" in process.stdout.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert err == b""
    assert not (isthmus.data / "postgres" / "postmaster.pid").exists()


def test_after_kill_9_the_next_start_works(deploy: Deploy) -> None:
    isthmus = deploy()
    process = isthmus.start("chat", "--script", "-")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"ana: hello\n")
    process.stdin.flush()
    process.stdout.readline()
    process.kill()
    process.communicate()
    done = isthmus.chat("ben: hello")
    assert done.code == 0
    assert "Hello, ben!" in done.text


def test_reading_only_the_beginning_is_no_error(isthmus: Isthmus) -> None:
    process = isthmus.start("chat", "--script", "-", "--json")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"ana: hello\n" * 3)
    process.stdin.close()
    process.stdin = None
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert err == b""
