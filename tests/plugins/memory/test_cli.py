"""`isthmus memory …`, as an operator types it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent import logs
from agent.cli.entry import run_command

type Run = Callable[..., tuple[int, str, str]]

GAMES, TEA = "game night is on Friday", "likes tea"


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> Iterator[Run]:
    """Run one command line after the other on one database, with three memories in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOGNAME", "max")
    settings = (
        f'[agent]\nembeddings = "off"\n[database]\nurl = "{database_url}"\n'
        "[plugins.privacy]\nenabled = true\n[plugins.memory]\nenabled = true\nmax_server_memories = 7\n"
    )
    (tmp_path / "plugins.toml").write_text(settings)

    def run(*words: str) -> tuple[int, str, str]:
        code = run_command([*words, "--data", str(tmp_path / "data")])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    for scope, text, *place in (
        ("server_wide", GAMES),
        ("target_user", TEA),
        ("server_wide", "the kettle is blue", "--server", "kitchen"),
    ):
        arguments = json.dumps({"memory_content": text, "memory_scope": scope, "target_user": "me"})
        code, out, err = run("tools", "call", "create_long_term_memory", arguments, *place)
        assert code == 0, out + err
    yield run
    logs.configure()  # a command leaves them silent


def data(run: Run, *words: str) -> Any:
    code, out, err = run("memory", *words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def contents(found: Any) -> list[str]:
    return [one["content"] for one in found]


def test_what_is_remembered_is_listed_searched_and_shown(run: Run) -> None:
    (game,) = data(run, "list")
    assert (game["content"], game["server"], game["tool"], game["author"]) == (
        GAMES,
        "console:home",
        "create_long_term_memory",
        "max",
    )
    assert (game["age_days"], game["dormant"], game["protected"], game["channel"]) == (0, False, False, "general")
    assert contents(data(run, "list", "--server", "kitchen")) == ["the kettle is blue"]
    assert contents(data(run, "list", "--user", "max")) == [TEA]
    assert contents(data(run, "list", "--user", "max", "--server", "home")) == [GAMES, TEA]
    assert contents(data(run, "list", "--persona", "Isthmus")) == [GAMES]
    assert contents(data(run, "search", "FRIDAY game")) == [GAMES]
    assert contents(data(run, "search", "gaming on fridays")) == [GAMES]
    assert data(run, "search", "dragons") == []
    assert data(run, "list", "--server", "nowhere") == []
    assert data(run, "show", str(game["memory_id"])) == game
    code, out, _ = run("memory", "list")
    assert (code, out) == (0, f"{game['memory_id']}\tserver\t0 d\t{GAMES}\n")
    nothing = "nothing is remembered there: nobody has entered the server nowhere yet\n"
    assert run("memory", "list", "--server", "nowhere")[1] == nothing
    assert run("memory", "search", "dragons")[1] == "nothing is remembered there\n"
    acts = json.loads(run("privacy", "audit", "max", "--json")[1])
    assert {(act["via"], act["by_operator"]) for act in acts} == {("isthmus memory list", True)}


def test_the_clock_may_be_set(run: Run) -> None:
    (game,) = data(run, "list", "--now", "2099-01-01T00:00:00Z")
    assert (game["dormant"], game["age_days"] > 1000) == (True, True)
    server, personal = data(run, "stats", "--now", "2099-01-01T00:00:00Z")
    assert (server["dormant"], personal["dormant"]) == (2, 1)


def test_counts_and_settings(run: Run) -> None:
    server, personal = data(run, "stats")
    assert (server["scope"], server["memories"], server["owners"], server["dormant"]) == ("server", 2, 2, 0)
    assert (personal["scope"], personal["memories"], personal["protected"]) == ("personal", 1, 0)
    assert [row["memories"] for row in data(run, "stats", "--server", "kitchen")] == [1, 0]
    assert [row["memories"] for row in data(run, "stats", "--server", "nowhere")] == [0, 0]
    assert [row["memories"] for row in data(run, "stats", "--user", "max")] == [0, 1]
    found = data(run, "settings")
    assert (found["max_server_memories"], found["decay_days"], found["memory.self_teaching"]) == (7, 30, True)
    assert "memory.member_edits\tFalse\n" in run("memory", "settings")[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "404"), "there is no such memory"),
        (("show", "x"), "valid integer"),
        (("show", str(2**80)), "ID"),
        (("list", "--user", "nobody"), "nobody"),
        (("list", "--persona", "Otto"), "Otto"),
        (("list", "--persona", "Otto", "--server", "nowhere"), "--persona"),
        (("list", "--now", "soon"), "soon"),
        (("search", " "), "TEXT"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(run: Run, words: tuple[str, ...], said: str) -> None:
    code, out, err = run("memory", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
