import asyncio
import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agent import tool_runner
from agent.contracts.cards import Card
from agent.tool_runner import InvalidArguments, run_tool, shown_result, validate_arguments
from agent.tools import Connection, Json, Tool, ToolContext, ToolResult, TurnLost
from tests.agent.turn.loop_doubles import Ids, make_tool, tool_context


class Parameters(BaseModel):
    count: int
    words: list[str] = []


async def no_effect(conn: Connection, result: ToolResult, cards: tuple[Card, ...] = ()) -> None:
    raise AssertionError


def context() -> ToolContext:
    return tool_context("", no_effect)


def runs(run: Any) -> Tool:
    return make_tool("try_it", run, Parameters)


async def echo(context: ToolContext, arguments: Parameters) -> ToolResult:
    return ToolResult("echoed", {"count": arguments.count, "tool": context.tool_name})


async def test_arguments_come_as_text_or_object() -> None:
    for raw in ('{"count": 2}', {"count": 2}):
        result = await run_tool(runs(echo), raw, context(), ids=Ids())
        assert result.as_json() == {"status": "echoed", "count": 2, "tool": "try_it"}


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("{", "not JSON"),
        ("", "count: Field required"),
        ("[]", "not a JSON object but list"),
        ('{"count": "many"}', "count: Input should be a valid integer"),
        ('{"count": 1, "words": [1]}', "words.0: Input should be a valid string"),
        ('"\\ud800"', "not JSON"),
        ('{"count": 1, "words": ["\ud800"]}', "not JSON"),
        ("NaN", "not a JSON object"),
    ],
)
async def test_what_is_wrong_with_arguments_is_said(raw: str, problem: str) -> None:
    result = await run_tool(runs(echo), raw, context(), ids=Ids())
    assert result.status == "invalid_arguments"
    assert problem in json.dumps(result.data)


async def test_problems_are_few_and_short_and_do_not_repeat_the_input() -> None:
    raw = json.dumps({"count": "SECRET" * 1_000, "words": ["x", *range(1_000)]})
    result = await run_tool(runs(echo), raw, context(), ids=Ids())
    text = json.dumps(result.as_json())
    assert len(text) < 2_000
    assert "SECRET" not in text


@given(st.text() | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps))
def test_no_text_breaks_the_validation(raw: str) -> None:
    with contextlib.suppress(InvalidArguments):
        assert isinstance(validate_arguments(runs(echo), raw), Parameters)


async def fail(context: ToolContext, arguments: Parameters) -> ToolResult:
    raise ValueError("secret detail")


async def leave(context: ToolContext, arguments: Parameters) -> ToolResult:
    raise SystemExit(3)


async def cancel(context: ToolContext, arguments: Parameters) -> ToolResult:
    raise asyncio.CancelledError


async def nothing(context: ToolContext, arguments: Parameters) -> None:
    pass


def blocking(context: ToolContext, arguments: Parameters) -> ToolResult:
    return ToolResult("not awaited")


async def no_json(context: ToolContext, arguments: Parameters) -> ToolResult:
    data: Any = {"when": object()}
    return ToolResult("done", data)


async def not_a_number(context: ToolContext, arguments: Parameters) -> ToolResult:
    return ToolResult("done", {"value": float("nan")})


@pytest.mark.parametrize("bad", [fail, leave, cancel, nothing, blocking, no_json, not_a_number])
async def test_whatever_a_tool_does_wrong_is_one_calm_result(bad: Any) -> None:
    result = await run_tool(runs(bad), {"count": 1}, context(), ids=Ids())
    assert (result.status, result.data["error_id"]) == ("tool_failed", "id1")
    assert "secret" not in json.dumps(result.as_json())


async def test_a_tool_that_swallows_its_cancellation_does_not_hold_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_runner, "CANCEL_GRACE", 0.02)
    release = asyncio.Event()

    async def stubborn(context: ToolContext, arguments: Parameters) -> ToolResult:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return ToolResult("late")

    result = await run_tool(runs(stubborn), {"count": 1}, context(), ids=Ids(), deadline=0.02)
    assert result.status == "tool_failed"
    release.set()
    await asyncio.sleep(0)


async def test_a_lost_turn_passes_through() -> None:
    async def lost(context: ToolContext, arguments: Parameters) -> ToolResult:
        raise TurnLost("gone")

    with pytest.raises(TurnLost):
        await run_tool(runs(lost), {"count": 1}, context(), ids=Ids())


async def test_a_turn_that_is_lost_while_a_late_call_ends_passes_through() -> None:
    async def lost(context: ToolContext, arguments: Parameters) -> ToolResult:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise TurnLost("gone") from None
        raise AssertionError

    with pytest.raises(TurnLost):
        await run_tool(runs(lost), {"count": 1}, context(), ids=Ids(), deadline=0.01)


def test_a_huge_result_is_cut_and_says_so() -> None:
    words: list[Json] = ["word"] * 100_000
    shown = shown_result(ToolResult("found", {"words": words}))
    assert shown["status"] == "found"
    assert len(json.dumps(shown)) < 50_000
    assert isinstance(size := shown["characters"], int)
    assert size > 700_000
