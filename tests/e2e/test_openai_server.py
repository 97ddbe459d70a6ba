"""The first conversation with a model behind OpenAI's interface: real processes, client, streams and tool calls."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers.openai import Answer, Ending, OpenAIServer, failed
from tests.servers.openai.rules import answer_by_rules

ROOT = Path(__file__).parents[2]


async def chat(server: OpenAIServer, folder: Path, *lines: str) -> list[dict[str, Any]]:
    """Say lines in a process of its own; return the transcript."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ISTHMUS__", "XDG_"))}
    ours = {
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "ISTHMUS__AGENT__MODEL": "openai:loopback",
        "ISTHMUS__AGENT__BASE_URL": server.url,
        "ISTHMUS__AGENT__API_KEY": "env:LOOPBACK_KEY",
        "LOOPBACK_KEY": "right",
    }
    command = [sys.executable, "-m", "agent", "chat", "--script", "-", "--json", "--data", str(folder / "data")]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=kept | ours
    )
    out, err = await process.communicate("\n".join(lines).encode())
    assert b"Traceback" not in err, err.decode()
    return [json.loads(line) for line in out.splitlines()]


def texts(records: list[dict[str, Any]], kind: str) -> list[str]:
    return [record["text"] for record in records if record["type"] == kind]


@pytest.mark.timeout(120)
async def test_what_is_saved_in_one_process_is_known_in_the_next(tmp_path: Path) -> None:
    async with OpenAIServer(otherwise=answer_by_rules, key="right") as server:
        said = await chat(server, tmp_path, "ana: remember that game night is every Friday at 20:00")
        assert [record["type"] for record in said] == ["message", "tool_call", "tool_result", "notice", "reply"]
        (result,) = [record["data"]["result"] for record in said if record["type"] == "tool_result"]
        assert result["status"] == "memory_saved_successfully"
        assert texts(said, "reply") == [f"I will remember that (ID {result['memory_id']})."]

        first, second = server.requests
        assert first["stream"] is second["stream"] is True
        assert "create_long_term_memory" in {tool["function"]["name"] for tool in first["tools"]}
        assert [message["role"] for message in second["messages"]][-2:] == ["assistant", "tool"]

        known = await chat(server, tmp_path, "ben: what do you know about this server")
        assert "game night is every Friday at 20:00" in texts(known, "reply")[0]
        assert "Memories about" in server.requests[2]["messages"][0]["content"]


@pytest.mark.timeout(120)
async def test_a_server_in_trouble_gets_no_further_than_a_calm_sentence(tmp_path: Path) -> None:
    broken = Answer("I will say this", ending=Ending.RESET, ends_after=1)
    answers = [broken, Answer("Here I am."), failed(401, "key sk-123 is wrong"), Answer("y" * 1_000_000, chunk=10_000)]
    async with OpenAIServer(*answers) as server:
        said = await chat(server, tmp_path, "ana: hello", "ana: hello?", "ana: and now?")
    first, second, *rest = texts(said, "reply")
    assert first == "Here I am."
    assert "sk-123" not in json.dumps(said)
    assert second.startswith("Sorry")
    assert 10_000 < len("".join(rest)) < 20_000
