"""OpenAI-compatible servers, through the real client, over a loopback server."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from agent.models.chat import ChatModel, preload
from agent.models.errors import FailureKind
from agent.models.make import make_model
from agent.settings.model import AgentSettings
from agent.settings.secrets import Secret
from agent.turn.loop_values import LoopLimits, StopReason, TurnFailed
from tests.agent.turn.loop_doubles import Adder, Run
from tests.servers.openai import Answer, Ending, OpenAIServer, ToolCall, failed, rate_limited

preload()
make_model(AgentSettings(model="openai:loopback", base_url="http://127.0.0.1:1/v1"))  # imports the client

ADD = Answer("I add.", (ToolCall("add", {"a": 1, "b": 2}),))


@asynccontextmanager
async def serving(
    *answers: Answer, key: str | None = None, change: Callable[[ChatModel], ChatModel] = lambda model: model
) -> AsyncIterator[tuple[OpenAIServer, ChatModel]]:
    async with OpenAIServer(*answers, key=key) as server:
        secret = Secret.parse("right") if key else None
        made = make_model(AgentSettings(model="openai:loopback", base_url=server.url, api_key=secret))
        try:
            yield server, change(made)
        finally:
            await made.close()


async def failure_of(model: ChatModel, run: Run | None = None, limits: LoopLimits | None = None) -> FailureKind:
    with pytest.raises(TurnFailed) as failed_turn:
        await (run or Run()).go(model, limits=limits)
    return failed_turn.value.kind


async def test_a_turn_with_a_call_over_the_wire() -> None:
    run = Run()
    adder = Adder(run.ledger)
    async with serving(ADD, Answer("That makes 3."), key="right") as (server, model):
        result = await run.go(model, [adder.tool()])
    assert (result.text, result.calls, adder.runs) == ("That makes 3.", 1, [(1, 2)])
    assert result.usage.requests == 2
    assert result.usage.input_tokens > 0
    first, second = server.requests
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert all(isinstance(message["content"], str) for message in first["messages"])
    assert (first["stream"], first["tools"][0]["function"]["name"]) == (True, "add")
    assert "strict" not in first["tools"][0]["function"]
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "tool"]
    assert json.loads(second["messages"][3]["content"]) == {"status": "added", "sum": 3}


async def test_a_restarted_turn_goes_on_over_the_wire() -> None:
    run = Run()
    adder = Adder(run.ledger)
    async with serving(ADD, *[failed(400, "no")]) as (_, model):
        with pytest.raises(TurnFailed):
            await run.go(model, [adder.tool()])
    async with serving(Answer("That makes 3.")) as (server, model):
        result = await run.go(model, [adder.tool()])
    assert (result.text, adder.runs) == ("That makes 3.", [(1, 2)])
    assert [message["role"] for message in server.requests[0]["messages"]][-2:] == ["assistant", "tool"]


@pytest.mark.parametrize(
    "fault",
    [
        failed(500),
        failed(503, "overloaded", "overloaded"),
        rate_limited(),
        Answer("Hello, you all", ending=Ending.RESET, ends_after=2),
        Answer("Hello, you all", ending=Ending.EOF),
        Answer("Hello, you all", ending=Ending.ERROR, ends_after=2),
        Answer(body=b"{ this is no json", content_type="application/json"),
        Answer(body=b"data: { this is no json\n\n", content_type="text/event-stream"),
        Answer(body=b"", content_type="text/event-stream"),
        Answer(""),
    ],
)
async def test_what_may_get_better_is_tried_again(fault: Answer) -> None:
    run = Run()
    async with serving(fault, Answer("Here I am.")) as (server, model):
        assert (await run.go(model)).text == "Here I am."
    assert len(server.requests) == 2
    assert len(run.waits) == 1


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Answer("Hello, you all", ending=Ending.RESET, ends_after=2), FailureKind.TRUNCATED),
        (Answer("Hello, you all", ending=Ending.EOF), FailureKind.TRUNCATED),
        (Answer("Hello, you all", ending=Ending.ERROR, ends_after=2), FailureKind.UNAVAILABLE),
        (Answer("Hello, you all", ending=Ending.STALL, ends_after=2), FailureKind.TIMEOUT),
        (Answer(body=b"data: { no json\n\n", content_type="text/event-stream"), FailureKind.BAD_RESPONSE),
        (Answer(""), FailureKind.EMPTY),
        (Answer("", finish_reason="content_filter"), FailureKind.BLOCKED),
        (rate_limited(), FailureKind.RATE_LIMITED),
    ],
)
async def test_what_does_not_get_better_is_told_by_its_kind(fault: Answer, kind: FailureKind) -> None:
    async with serving(*[fault] * 4, change=lambda model: replace(model, idle_seconds=0.1)) as (_, model):
        assert await failure_of(model) is kind


async def test_a_model_may_think_before_its_first_word() -> None:
    thinks = Answer("Here.", pause=0.4)
    async with serving(thinks, change=lambda model: replace(model, idle_seconds=0.1)) as (server, model):
        assert (await Run().go(model)).text == "Here."
    assert len(server.requests) == 1


async def test_retries_are_bounded() -> None:
    run = Run()
    async with serving(*[failed(500)] * 10) as (server, model):
        assert await failure_of(model, run) is FailureKind.UNAVAILABLE
    assert len(server.requests) == 4
    assert run.waits == [0.375, 0.75, 1.5]


async def test_retry_after_is_kept() -> None:
    run = Run()
    async with serving(rate_limited(3), Answer("Here I am.")) as (_, model):
        assert (await run.go(model)).text == "Here I am."
    assert run.waits == [pytest.approx(3.15)]


async def test_a_retry_after_beyond_the_turn_is_not_waited_for() -> None:
    run = Run()
    async with serving(rate_limited(600), Answer("never")) as (server, model):
        assert await failure_of(model, run) is FailureKind.RATE_LIMITED
    assert (len(server.requests), run.waits) == (1, [])


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (failed(400, "bad", "invalid_request"), FailureKind.REJECTED),
        (failed(401, "bad key", "invalid_api_key"), FailureKind.AUTHENTICATION),
        (failed(404, "no such model", "model_not_found"), FailureKind.NOT_FOUND),
        (failed(429, "no credit", "insufficient_quota"), FailureKind.QUOTA),
        (failed(400, "too long", "context_length_exceeded"), FailureKind.TOO_LONG),
    ],
)
async def test_what_does_not_get_better_is_not_tried_again(fault: Answer, kind: FailureKind) -> None:
    async with serving(fault, Answer("never")) as (server, model):
        assert await failure_of(model) is kind
    assert len(server.requests) == 1


async def test_a_wrong_key_is_an_authentication_failure() -> None:
    async with OpenAIServer(Answer("never"), key="right") as server:
        model = make_model(AgentSettings(model="openai:loopback", base_url=server.url))
        assert await failure_of(model) is FailureKind.AUTHENTICATION
        await model.close()


async def test_no_server_is_a_connection_failure() -> None:
    model = make_model(AgentSettings(model="openai:loopback", base_url="http://127.0.0.1:9/v1"))
    assert await failure_of(model) is FailureKind.CONNECTION
    await model.close()


async def test_a_stalled_answer_is_given_up_and_tried_again() -> None:
    stalled = Answer("Hello, you all who", ending=Ending.STALL, ends_after=2)
    async with serving(stalled, Answer("Here.", pause=0.01), change=lambda m: replace(m, idle_seconds=0.15)) as (
        server,
        model,
    ):
        assert (await Run().go(model)).text == "Here."
        await asyncio.sleep(0.05)
        assert server.cut_off == 1


async def test_a_server_that_never_answers_is_cut_by_the_time_limit() -> None:
    async with serving(Answer("too late", pause=30)) as (_, model):
        assert await failure_of(model, limits=LoopLimits(seconds=0.2)) is FailureKind.TIME_LIMIT


async def test_a_slow_drip_is_cut_by_the_time_of_one_request() -> None:
    drip = Answer("x" * 10_000, drip=0.02)
    async with serving(drip, Answer("Here."), change=lambda m: replace(m, request_seconds=0.3)) as (_, model):
        assert (await Run().go(model)).text == "Here."


async def test_a_slow_answer_within_its_time_is_read_whole() -> None:
    async with serving(Answer("abcdef", drip=0.02, chunk=1)) as (_, model):
        assert (await Run().go(model)).text == "abcdef"


async def test_megabytes_are_cut_while_they_are_read() -> None:
    async with serving(Answer("x" * 8_000_000, chunk=40_000)) as (server, model):
        result = await Run().go(model)
        assert (len(result.text), result.stop_reason) == (16_000, StopReason.CUT)
        await asyncio.sleep(0.05)
        assert server.cut_off == 1


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("add", '{"a": 1'),
        ToolCall("add", '{"a": "many"}'),
        ToolCall("subtract", {"a": 1}),
        ToolCall("add", {"a": 1, "text": "x" * 50_000}),
        ToolCall("add", "x" * 50_000),
    ],
)
async def test_bad_calls_go_back_to_the_model(call: ToolCall) -> None:
    run = Run()
    async with serving(Answer(calls=(call,)), Answer("Sorry.")) as (server, model):
        assert (await run.go(model, [Adder(run.ledger).tool()])).text == "Sorry."
    _, second = server.requests
    assert second["messages"][-1]["role"] == "tool"
    assert len(second["messages"][-2]["tool_calls"][0]["function"]["arguments"]) < 51_000


@pytest.mark.parametrize("call_id", ["", "same"])
async def test_calls_without_ids_of_their_own(call_id: str) -> None:
    run = Run()
    adder = Adder(run.ledger)
    twins = tuple(ToolCall("add", {"a": number}, call_id) for number in (1, 2))
    async with serving(Answer(calls=twins), Answer("Done.")) as (server, model):
        assert (await run.go(model, [adder.tool()])).text == "Done."
    assert adder.runs == [(1, 0), (2, 0)]
    ids = [message["tool_call_id"] for message in server.requests[1]["messages"] if message["role"] == "tool"]
    assert len(set(ids)) == 2


async def test_the_last_request_asks_for_no_call() -> None:
    run = Run()
    async with serving(ADD, Answer("Enough.")) as (server, model):
        result = await run.go(model, [Adder(run.ledger).tool()], LoopLimits(calls=1))
    assert (result.text, result.stop_reason) == ("Enough.", StopReason.CALL_LIMIT)
    assert server.requests[1]["tool_choice"] == "none"


async def test_a_server_that_reports_no_usage_is_estimated() -> None:
    async with serving(Answer("Hello there.", usage=False)) as (_, model):
        usage = (await Run().go(model)).usage
    assert usage.input_tokens > 10
    assert usage.output_tokens == 4


async def test_cancelling_closes_the_connection() -> None:
    async with serving(Answer("Hello", ending=Ending.STALL, ends_after=1)) as (server, model):
        task = asyncio.create_task(Run().go(model))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.05)
        assert server.cut_off == 1
