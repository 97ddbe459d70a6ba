import asyncio
import json
import sys
from typing import Any

import aiohttp
import openai
import pytest
from openai import AsyncOpenAI

from tests.servers.openai import Answer, Ending, OpenAIServer, ToolCall, failed, rate_limited
from tests.servers.openai.check import BadRequest, check_chat
from tests.servers.openai.rules import answer_by_rules

USER: Any = {"role": "user", "content": "hi"}
TOOL: Any = {"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object"}}}
# The client is heavy to make; that is measured elsewhere.
pytestmark = pytest.mark.unwatched_loop


def client(server: OpenAIServer, key: str = "any") -> AsyncOpenAI:
    return AsyncOpenAI(base_url=server.url, api_key=key, max_retries=0)


async def ask(server: OpenAIServer, *, stream: bool) -> tuple[str, list[tuple[str, str]], str]:
    """One request by the real client: text, calls, finish reason."""
    async with client(server) as api:
        if not stream:
            done = await api.chat.completions.create(model="m", messages=[USER], tools=[TOOL])
            choice = done.choices[0]
            calls: list[Any] = list(choice.message.tool_calls or ())
            named = [(call.function.name, call.function.arguments) for call in calls]
            return choice.message.content or "", named, choice.finish_reason
        text, finish = "", ""
        pieces: dict[int, tuple[str, str]] = {}
        chunks: Any = await api.chat.completions.create(model="m", messages=[USER], tools=[TOOL], stream=True)
        async for chunk in chunks:
            (choice,) = chunk.choices
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for call in choice.delta.tool_calls or ():
                name, arguments = pieces.get(call.index, ("", ""))
                pieces[call.index] = (name + (call.function.name or ""), arguments + (call.function.arguments or ""))
        return text, list(pieces.values()), finish


@pytest.mark.parametrize("stream", [False, True])
async def test_texts_and_calls_arrive_whole_and_streamed(stream: bool) -> None:
    call = ToolCall("add", {"a": "x" * 100})
    async with OpenAIServer(Answer("Hello, " * 20), Answer("I add.", (call,))) as server:
        assert await ask(server, stream=stream) == ("Hello, " * 20, [], "stop")
        assert await ask(server, stream=stream) == ("I add.", [("add", call.text)], "tool_calls")
        assert [request["messages"] for request in server.requests] == [[USER], [USER]]


async def test_faults() -> None:
    broken = Answer("x" * 100, ending=Ending.RESET, ends_after=2)
    async with OpenAIServer(rate_limited(7), failed(503), broken) as server:
        with pytest.raises(openai.RateLimitError) as limited:
            await ask(server, stream=True)
        assert limited.value.response.headers["Retry-After"] == "7"
        with pytest.raises(openai.InternalServerError):
            await ask(server, stream=True)
        with pytest.raises(openai.APIConnectionError):
            await ask(server, stream=True)
        with pytest.raises(openai.InternalServerError, match="the script has no answer for request 4"):
            await ask(server, stream=True)


async def test_a_stall_is_noticed_when_the_client_leaves() -> None:
    async with OpenAIServer(Answer("Hello", ending=Ending.STALL, ends_after=1)) as server:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ask(server, stream=True), 0.5)
        await asyncio.sleep(0.1)
        assert server.cut_off == 1


async def test_only_the_key_is_let_in() -> None:
    async with OpenAIServer(Answer("Hello."), key="right") as server:
        async with client(server, "wrong") as api:
            with pytest.raises(openai.AuthenticationError):
                await api.models.list()
        async with client(server, "right") as api:
            assert [model.id async for model in api.models.list()] == ["loopback"]


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([], "not empty"),
        ([{"role": "robot", "content": "x"}], "invalid role"),
        ([{"role": "user", "content": ""}], "not empty"),
        ([{"role": "tool", "tool_call_id": "1", "content": "x"}], "must follow"),
        ([{"role": "assistant", "content": None}], "not empty"),
        ([{"role": "assistant", "tool_calls": [{"id": "1", "function": {"arguments": "{}"}}]}], "did not have"),
        ([{"role": "assistant", "tool_calls": [{"id": "1", "function": {"arguments": "{}"}}]}, USER], "followed by"),
    ],
)
def test_what_the_real_api_refuses_is_refused(messages: list[Any], why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        check_chat({"model": "m", "messages": messages})


def test_it_can_answer_by_the_offline_rules() -> None:
    said = json.dumps({"from": "Ana", "handle": "ana", "text": "remember that tea is at five"})
    create: Any = {"type": "function", "function": {"name": "create_long_term_memory", "parameters": {}}}
    messages: list[Any] = [{"role": "system", "content": "You are X."}, {"role": "user", "content": said}]
    answer = answer_by_rules({"model": "m", "messages": messages, "tools": [create]})
    assert [call.name for call in answer.calls] == ["create_long_term_memory"]
    call = {"id": "1", "function": {"name": "create_long_term_memory", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "1", "content": '{"status": "memory_already_known", "memory_id": 3}'}
    messages += [{"role": "assistant", "tool_calls": [call]}, result]
    assert answer_by_rules({"model": "m", "messages": messages}).text == "I knew that already (ID 3)."


async def test_it_runs_alone() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.servers.openai", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    url = json.loads(await process.stdout.readline())["url"]
    body = {"model": "m", "messages": [USER]}
    async with aiohttp.ClientSession() as session, session.post(f"{url}/chat/completions", json=body) as response:
        done = await response.json()
    assert done["choices"][0]["message"]["content"].startswith("Hello, you! I am the offline model")
    process.terminate()
    assert await process.wait() == 0
