"""The first conversation, as a newcomer has it: saved, stopped, started again, still known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Deploy
from tests.e2e.process import PATIENCE, Done, Isthmus

pytestmark = pytest.mark.timeout(240)  # each test starts processes, and the machine may be busy

GAME_NIGHT = "game night is every Friday at 20:00"
KEYS = {"type", "time", "server", "channel", "speaker", "text", "data"}


@pytest.fixture(scope="module")
def first(isthmus: Isthmus) -> Done:
    """Nothing is set up, nothing is there: the very first start, with lines on standard input."""
    done = isthmus("chat", "--json", stdin=f"# the script of the README\n\nana: remember that {GAME_NIGHT}\n")
    assert done.code == 0, done.err
    return done


def test_the_first_conversation_saves(first: Done) -> None:
    assert [record["type"] for record in first.records] == ["message", "tool_call", "tool_result", "notice", "reply"]
    assert all(record.keys() == KEYS for record in first.records)
    message, call, result, notice, reply = first.records
    assert (message["speaker"], message["text"]) == ("ana", f"remember that {GAME_NIGHT}")
    assert {(record["server"], record["channel"]) for record in first.records} == {("home", "general")}
    assert call["data"]["name"] == result["data"]["name"] == "create_long_term_memory"
    assert result["data"]["result"]["status"] == "memory_saved_successfully"
    memory = notice["data"]["memory_id"]
    assert isinstance(memory, int)
    assert GAME_NIGHT in notice["text"]
    assert str(memory) in reply["text"]
    assert first.err == ""


def test_a_new_process_still_knows(first: Done, isthmus: Isthmus) -> None:
    done = isthmus.chat("ben: what do you know about this server")
    assert done.code == 0
    (reply,) = done.of("reply")
    assert GAME_NIGHT in reply["text"]


def test_the_prompt_shows_it_under_its_heading(first: Done, isthmus: Isthmus) -> None:
    found = isthmus("prompt", "--json", "--as", "ben", "--text", "hello").json
    by_tag = {item["tag"]: item for item in found["items"]}
    block = by_tag["KNOWLEDGE_SERVER_MEMORIES"]
    heading, *lines = block["text"].splitlines()
    assert heading.startswith("## ")
    assert "'s Memories about " in heading
    assert GAME_NIGHT in "\n".join(lines)
    assert block["section"] == "prefix"
    assert block["characters"] == len(block["text"])
    assert block["entries"]
    assert by_tag["MESSAGE"]["section"] == "tail"
    assert found["tokens"] == sum(item["tokens"] for item in found["items"])
    assert found["left_out"] == []
    sections = [item["section"] for item in found["items"]]
    assert sections == sorted(sections)


def test_another_server_does_not_know(first: Done, isthmus: Isthmus) -> None:
    done = isthmus.chat("/server work", "ben: what do you know about this server")
    assert GAME_NIGHT not in done.text


def test_the_doctor_is_content(first: Done, isthmus: Isthmus) -> None:
    done = isthmus("doctor", "--json")
    assert done.code == 0, done.text
    assert {line["state"] for line in done.json} == {"ok"}
    names = {line["name"] for line in done.json}
    assert {"database", "migrations", "pgvector", "model", "embeddings", "plugin memory"} <= names


def test_a_tool_runs_as_the_model_would_run_it(first: Done, isthmus: Isthmus) -> None:
    arguments = '{"memory_content": "the kettle is blue", "memory_scope": "server_wide"}'
    done = isthmus("tools", "call", "create_long_term_memory", arguments, "--server", "kitchen", "--as", "cleo")
    assert done.code == 0, done.err
    assert done.json["status"] == "memory_saved_successfully"
    shown = isthmus("prompt", "--server", "kitchen").text
    assert "=== KNOWLEDGE_SERVER_MEMORIES · system · prefix · " in shown
    assert "the kettle is blue" in shown
    assert GAME_NIGHT not in shown


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("create_long_term_memry", "{}", "did you mean create_long_term_memory?"),
        ("nothing", "{}", "there is no tool 'nothing'"),
    ],
)
def test_a_tool_that_is_not_there(first: Done, isthmus: Isthmus, name: str, arguments: str, said: str) -> None:
    done = isthmus("tools", "call", name, arguments)
    assert done.code == 2
    assert said in done.err
    assert done.out == b""


def test_arguments_that_do_not_fit_are_answered_as_the_model_reads_it(first: Done, isthmus: Isthmus) -> None:
    done = isthmus("tools", "call", "create_long_term_memory", '{"memory_scope": "everywhere"}')
    assert done.code == 2
    assert done.json["problems"]


def test_the_tools_are_listed_with_their_parameters(first: Done, isthmus: Isthmus) -> None:
    tools = {tool["name"]: tool for tool in isthmus("tools", "list", "--json").json}
    assert tools["create_long_term_memory"]["plugin"] == "memory"
    assert "memory_content" in tools["create_long_term_memory"]["parameters"]["properties"]


def test_a_backup_brings_the_memory_along(first: Done, isthmus: Isthmus, deploy: Deploy, tmp_path: Path) -> None:
    file = tmp_path / "kept.tar.gz"
    done = isthmus("backup", str(file), "--json")
    assert done.code == 0, done.err
    assert done.json["bytes"] == file.stat().st_size
    refused = isthmus("restore", str(file))
    assert refused.code == 1
    assert "not empty" in refused.err
    other = deploy()
    assert other("restore", str(file)).code == 0
    (reply,) = other.chat("ben: what do you know about this server").of("reply")
    assert GAME_NIGHT in reply["text"]


def test_a_damaged_backup_is_refused(deploy: Deploy, tmp_path: Path) -> None:
    file = tmp_path / "damaged.tar.gz"
    file.write_bytes(b"\x1f\x8b" + b"x" * 1000)
    done = deploy()("restore", str(file))
    assert done.code == 1
    assert "damaged" in done.err


def test_the_clock_can_be_moved(first: Done, isthmus: Isthmus) -> None:
    done = isthmus("chat", "--json", "--now", "2031-05-06T07:08:09Z", stdin="hello")
    assert {record["time"][:16] for record in done.records} == {"2031-05-06T07:08"}


def test_several_people_speak_in_several_places(first: Done, isthmus: Isthmus) -> None:
    done = isthmus.chat("/as dora", "/channel #random", "hi", "eve: hi too", "/thread plans", "hey", "/dm", "hello")
    said = [(record["speaker"], record["server"], record["channel"]) for record in done.of("message")]
    assert said == [
        ("dora", "home", "random"),
        ("eve", "home", "random"),
        ("dora", "home", "plans"),
        ("dora", "@dora", "@dora"),
    ]
    answered = [(record["server"], record["channel"]) for record in done.of("reply")]
    assert answered == [place[1:] for place in said]


def test_the_options_say_who_speaks_where(first: Done, isthmus: Isthmus) -> None:
    done = isthmus("chat", "--as", "Fay", "--server", "work", "--channel", "ideas", "--json", stdin="hello")
    assert {(record["server"], record["channel"]) for record in done.records} == {("work", "ideas")}
    assert done.records[0]["speaker"] == "Fay"


def test_a_direct_conversation_is_a_place_of_its_own(first: Done, isthmus: Isthmus) -> None:
    done = isthmus("chat", "--as", "Fay", "--dm", "--json", stdin="hello")
    assert {record["server"] for record in done.records} == {"@Fay"}


def test_a_name_is_resolved_in_its_place(first: Done, isthmus: Isthmus) -> None:
    isthmus.chat("gil: hello")
    found = isthmus("resolve", "gil", "--json").json
    assert (found["result"], found["key"], found["step"]) == ("resolved", "console_user:gil", "name")


def test_a_script_with_a_line_that_means_nothing_goes_on_and_fails(first: Done, isthmus: Isthmus) -> None:
    done = isthmus.chat("/nonsense", "hello")
    assert done.code == 1
    assert [record["type"] for record in done.records] == ["error", "message", "reply"]
    assert done.records[0]["text"].startswith("line 1: no command /nonsense")


def test_two_terminals_talk_at_once(first: Done, isthmus: Isthmus) -> None:
    one = isthmus.start("chat", "--script", "-", "--json", "--as", "one")
    two = isthmus.start("chat", "--script", "-", "--json", "--as", "two")
    outputs = [process.communicate(b"hello\n" * 5, timeout=PATIENCE)[0] for process in (one, two)]
    for name, process, output in zip(("one", "two"), (one, two), outputs, strict=True):
        assert process.returncode == 0
        records = Done(0, output, "").records
        assert [record["type"] for record in records] == ["message", "reply"] * 5
        assert records[0]["speaker"] == name


def test_the_plugins_are_listed(isthmus: Isthmus) -> None:
    (plugin,) = [each for each in isthmus("plugins", "list", "--json").json if each["name"] == "memory"]
    assert plugin["state"] == "loaded"
    assert "register_tools" in plugin["hooks"]


def test_migrations_are_done_once(deploy: Deploy) -> None:
    fresh = deploy()
    owners = [row["owner"] for row in fresh("migrate", "--json").json]
    assert owners[0] == "core"
    assert "memory" in owners
    assert fresh("migrate").text.startswith("Nothing to do")
