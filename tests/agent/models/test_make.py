import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from agent.contracts.context import ContextItem, Prompt, Role, Section, Tag
from agent.models.chat import preload
from agent.models.errors import ModelSetupError
from agent.models.make import make_model
from agent.settings.errors import SecretError
from agent.settings.model import AgentSettings
from agent.settings.secrets import Secret
from tests.agent.turn.loop_doubles import Adder, Run

preload()
KEY = Secret.parse("a-key")
make_model(AgentSettings(model="anthropic:claude-haiku-4-5", api_key=KEY))  # imports the client


def settings(model: str, **more: Any) -> AgentSettings:
    return AgentSettings.model_validate({"model": model, **more})


def test_offline_needs_nothing() -> None:
    model = make_model(settings("offline"), {})
    assert (model.name, model.streams) == ("offline", False)


def test_the_time_of_a_request_is_the_settings() -> None:
    model = make_model(settings("offline", request_timeout=12.5), {})
    assert (model.request_seconds, model.idle_seconds) == (12.5, 12.5)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("openai:gpt-5-mini", 'api_key = "env:OPENAI_API_KEY"'),
        ("anthropic:claude-haiku-4-5", 'api_key = "env:ANTHROPIC_API_KEY"'),
        ("nobody:model", "Unknown provider: nobody; set"),
        ("groq:llama-3.3-70b", r"pip install 'pydantic-ai-slim\[groq\]'"),
    ],
)
def test_what_is_missing_is_named_with_the_way_out(name: str, problem: str) -> None:
    with pytest.raises(ModelSetupError, match=problem) as failed:
        make_model(settings(name), {})
    assert name in str(failed.value)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(ModelSetupError, match=r"pip install 'pydantic-ai-slim\[anthropic\]'"):
        make_model(settings("anthropic:claude-haiku-4-5", api_key=KEY), {})


def test_a_secret_that_cannot_be_read_is_its_own_error() -> None:
    with pytest.raises(SecretError, match="NO_SUCH_VARIABLE"):
        make_model(settings("openai:gpt-5-mini", api_key=Secret.parse("env:NO_SUCH_VARIABLE", {})), {})


def test_the_key_is_never_shown() -> None:
    for name in ("openai:gpt-5-mini", "anthropic:claude-haiku-4-5"):
        assert "a-key" not in repr(make_model(settings(name, api_key=KEY), {}))


def test_ones_own_server_needs_no_key_and_knows_no_strict_tools() -> None:
    model = make_model(settings("openai:qwen3", base_url="http://127.0.0.1:1/v1"), {})
    assert model.model.profile.get("openai_supports_strict_tool_definition") is False
    assert model.model.profile.get("openai_chat_streaming_requires_finish_reason") is True
    own = make_model(settings("openai:gpt-5-mini", api_key=KEY), {})
    assert own.model.profile.get("openai_supports_strict_tool_definition", True) is True
    assert own.model.profile.get("openai_chat_streaming_requires_finish_reason") is True


ANSWER: list[dict[str, Any]] = [
    {
        "type": "message_start",
        "message": {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "claude-haiku-4-5",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello."}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 3},
    },
    {"type": "message_stop"},
]


@asynccontextmanager
async def anthropic_server(requests: list[dict[str, Any]]) -> AsyncIterator[str]:
    async def answer(request: web.Request) -> web.StreamResponse:
        requests.append(await request.json())
        lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in ANSWER]
        return web.Response(text="".join(lines), content_type="text/event-stream")

    app = web.Application()
    app.router.add_post("/v1/messages", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_anthropic_caches_what_stands_before_the_tail() -> None:
    def item(tag: Tag, role: Role, section: Section, text: str) -> ContextItem:
        return ContextItem(tag, role, section, text)

    prompt = Prompt(
        (
            item(Tag.PERSONA, Role.SYSTEM, Section.PREFIX, "You are Isthmus."),
            item(Tag.HISTORY, Role.USER, Section.PREFIX, '{"from": "Ana", "text": "hi"}'),
            item(Tag.HISTORY, Role.ASSISTANT, Section.PREFIX, "Hi, Ana."),
            item(Tag.NOW, Role.SYSTEM, Section.TAIL, "It is noon."),
            item(Tag.MESSAGE, Role.USER, Section.TAIL, '{"from": "Ana", "text": "and now?"}'),
        )
    )
    requests: list[dict[str, Any]] = []
    run = Run()
    async with anthropic_server(requests) as url:
        model = make_model(settings("anthropic:claude-haiku-4-5", api_key=KEY, base_url=url), {})
        result = await run.go(model, [Adder(run.ledger).tool()], prompt=prompt)
        await model.close()
    assert result.text == "Hello."
    assert (result.usage.input_tokens, result.usage.cached_tokens, result.usage.output_tokens) == (100, 90, 3)
    (sent,) = requests
    assert [(block["text"], "cache_control" in block) for block in sent["system"]] == [("You are Isthmus.", True)]
    blocks = [
        (message["role"], block["text"], "cache_control" in block)
        for message in sent["messages"]
        for block in message["content"]
    ]
    assert blocks == [
        ("user", '{"from": "Ana", "text": "hi"}', False),
        ("assistant", "Hi, Ana.", True),
        ("user", "It is noon.", False),
        ("user", '{"from": "Ana", "text": "and now?"}', False),
    ]
    assert [tool["name"] for tool in sent["tools"]] == ["add"]
