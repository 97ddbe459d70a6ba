"""`isthmus persona …`, and `--persona` and `--impersonate` of the commands that try things."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.cli.entry import run_command

type Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str) -> Run:
    """Run one command line after the other on one database, as `isthmus` would."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOGNAME", "max")
    settings = f'[agent]\nembeddings = "off"\n[database]\nurl = "{database_url}"\n[plugins.memory]\nenabled = true\n'
    (tmp_path / "plugins.toml").write_text(settings)

    def run(*words: str) -> tuple[int, str, str]:
        code = run_command([*words, "--data", str(tmp_path / "data")])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def data(run: Run, *words: str) -> Any:
    code, out, err = run(*words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def remember(run: Run, content: str, persona: str, *place: str) -> None:
    arguments = json.dumps({"memory_content": content, "memory_scope": "target_user", "target_user": "me"})
    result = data(run, "tools", "call", "create_long_term_memory", arguments, "--persona", persona, *place)
    assert result["status"] == "memory_saved_successfully"


def prompt(run: Run, *words: str) -> str:
    return "\n".join(item["text"] for item in data(run, "prompt", *words)["items"])


def test_personas_of_a_server(run: Run, tmp_path: Path) -> None:
    assert run("persona", "list") == (0, "Isthmus\tdefault\t1\t\n", "")
    code, out, _ = run(
        "persona", "create", "Otto", "--prompt", "You are {bot}.", "--trigger", "aye", "--trigger", "sea"
    )
    assert (code, out) == (0, "Otto is here, with lineage 2.\n")
    (tmp_path / "mira.txt").write_text("You are {bot}, a gardener.\n")
    made = data(run, "persona", "create", "Mira", "--prompt-file", "mira.txt", "--avatar", "https://example.org/m.png")
    assert (made["prompt"], made["avatar"]) == ("You are {bot}, a gardener.", "https://example.org/m.png")
    assert run("persona", "rename", "mira", "Mirri")[1] == "Mira is called Mirri now.\n"
    assert run("persona", "default", "MIRRI")[1] == "Mirri answers by default now.\n"
    assert run("persona", "delete", "isthmus")[1] == "Isthmus is gone.\nIt had learned nothing there.\n"
    assert [
        (each["name"], each["persona_lineage_id"], each["is_default"]) for each in data(run, "persona", "list")
    ] == [
        ("Mirri", 3, True),
        ("Otto", 2, False),
    ]
    assert run("persona", "list", "--server", "work")[1] == "Isthmus\tdefault\t1\t\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["create", "Isthmus"], "There is a persona called Isthmus here already."),
        (["create", "Ben", "--prompt", "x", "--prompt-file", "x"], "give one of them"),
        (["create", "Ben", "--prompt-file", "gone.txt"], "--prompt-file gone.txt: No such file or directory"),
        (["create", "Ben", "--avatar", "x.png"], "must be an address"),
        (["rename", "Nobody", "Ben"], "There is no persona “Nobody” here. There are: Isthmus."),
        (["delete", "Isthmus"], "make another one the default first"),
        (["share-lineage", "Isthmus", "--lineage", "0"], "Lineage 0"),
        (["share-lineage", "Isthmus", "--lineage", "99"], "There is no lineage 99."),
        (["share-lineage", "Isthmus", "Otto", "--lineage", "1"], "say the same thing"),
        (["share-lineage", "Isthmus", "--other-server", "work"], "name that persona too"),
        (["list", "--server", "discord:1"], "no server with that id has been seen"),
    ],
)
def test_a_wrong_call_is_said_in_one_line(run: Run, words: list[str], says: str) -> None:
    code, out, err = run("persona", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says in err


def test_lineages_are_shared_across_servers_by_the_operator(run: Run) -> None:
    run("persona", "create", "Otto")
    run("persona", "create", "Otto", "--server", "work")
    remember(run, "{user} likes tea", "Otto")
    assert "max likes tea" in prompt(run, "--persona", "otto")
    assert "likes tea" not in prompt(run, "--persona", "Otto", "--server", "work")
    assert "likes tea" not in prompt(run)
    told = run("persona", "share-lineage", "Otto", "Otto", "--server", "work", "--other-server", "home")[1]
    assert told == "Otto belongs to lineage 2 now.\n"
    assert "max likes tea" in prompt(run, "--persona", "Otto", "--server", "work")


def test_what_a_deleted_persona_remembers_is_had_back(run: Run) -> None:
    run("persona", "create", "Otto")
    remember(run, "{user} likes tea", "Otto")
    assert run("persona", "delete", "Otto")[1].splitlines() == [
        "Otto is gone.",
        "What it remembers stays with lineage 2 (personal memories: 1).",
        "To have it back: isthmus persona share-lineage NAME --lineage 2",
    ]
    run("persona", "create", "Ben")
    assert "likes tea" not in prompt(run, "--persona", "Ben")
    run("persona", "share-lineage", "Ben", "--lineage", "2")
    assert "max likes tea" in prompt(run, "--persona", "Ben")
    remember(run, "{user} has a dog", "Ben")
    left = data(run, "persona", "share-lineage", "Ben")
    assert left["kept"] == {"personal_memories": 2}
    assert left["persona_lineage_id"] not in {0, 1, 2}


def test_the_prompt_is_of_whom_the_text_calls(run: Run) -> None:
    run("persona", "create", "Otto", "--prompt", "I am {bot}.", "--trigger", "aye aye")
    assert prompt(run, "--text", "Aye aye!").startswith("I am Otto.")
    assert prompt(run, "--text", "Aye aye!", "--persona", "isthmus").startswith("You are Isthmus")
    code, out, err = run("prompt", "--persona", "Nobody")
    assert (code, out) == (2, "")
    assert err == "isthmus: There is no persona “Nobody” here. There are: Isthmus, Otto.\n"
    assert run("tools", "call", "create_long_term_memory", "{}", "--persona", "Nobody")[0] == 2


def test_a_chat_with_a_persona(run: Run, tmp_path: Path) -> None:
    run("persona", "create", "Otto", "--prompt", "I am {bot}.")
    (tmp_path / "script.txt").write_text("hello\nhello, Isthmus\n/server work\nhello\n")
    code, out, _ = run("chat", "--persona", "OTTO", "--script", "script.txt", "--json")
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [record["speaker"] for record in records if record["type"] == "reply"] == ["Otto", "Otto", "Isthmus"]
    code, out, err = run("chat", "--persona", "Nobody", "--script", "script.txt", "--json")
    assert (code, out) == (2, "")
    assert "There is no persona “Nobody” here" in err
