import asyncio
import json
from typing import Any

import pytest
from pydantic_ai.messages import ToolReturnPart

from agent.models.errors import FailureKind
from agent.testing.scripted_model import ScriptedCall, ScriptedModel, SeenRequest
from agent.tools import ToolContext, ToolResult, TurnLost
from agent.trace import TraceKind
from agent.turn.loop_values import LoopLimits, StopReason, TurnFailed
from tests.agent.turn.loop_doubles import Adder, AddParameters, Run, make_tool


def add(a: int, b: int = 0) -> ScriptedCall:
    return ScriptedCall("add", {"a": a, "b": b})


def last_results(request: SeenRequest) -> list[dict[str, Any]]:
    return [json.loads(str(part.content)) for part in request.messages[-1].parts if part.part_kind == "tool-return"]


async def test_an_answer_ends_the_turn() -> None:
    run, model = Run(), ScriptedModel("  Hello.  ")
    result = await run.go(model)
    assert (result.text, result.calls, result.stop_reason) == ("Hello.", 0, StopReason.ANSWERED)
    assert (result.usage.requests, result.usage.input_tokens, result.usage.output_tokens) == (1, 10, 5)
    assert model.requests[0].texts[-1].endswith('"text": "add them"}')


async def test_calls_run_one_by_one_in_order_and_their_results_are_read() -> None:
    run, adder = Run(), Adder(run_ledger := Run().ledger)
    run.ledger = run_ledger
    model = ScriptedModel(("I add.", add(1, 2), add(3)), add(5, 5), "Done.")
    result = await run.go(model, [adder.tool()])
    assert adder.runs == [(1, 2), (3, 0), (5, 5)]
    assert run.ledger.positions == [0, 1, 2]
    assert (result.text, result.calls, result.usage.requests) == ("Done.", 3, 3)
    assert last_results(model.requests[1]) == [{"status": "added", "sum": 3}, {"status": "added", "sum": 3}]
    assert [kind for kind, _ in run.seen] == [TraceKind.TOOL_CALL, TraceKind.TOOL_RESULT] * 3
    assert run.seen[0][1] == {"name": "add", "arguments": {"a": 1, "b": 2}}
    assert run.seen[1][1] == {"name": "add", "result": {"status": "added", "sum": 3}}


async def test_what_the_model_said_beside_its_call_stands_in_for_an_empty_end() -> None:
    run = Run()
    adder = Adder(run.ledger)
    result = await run.go(ScriptedModel(("I will add that.", add(1)), "", "  "), [adder.tool()])
    assert result.text == "I will add that."


@pytest.mark.parametrize(
    ("call", "status"),
    [
        (ScriptedCall("add", '{"a": 1'), "invalid_arguments"),
        (ScriptedCall("add", "[1]"), "invalid_arguments"),
        (ScriptedCall("add", {"a": "many"}), "invalid_arguments"),
        (ScriptedCall("add", {}), "invalid_arguments"),
        (ScriptedCall("substract", {"a": 1}), "unknown_tool"),
    ],
)
async def test_a_bad_call_is_a_result_that_the_model_reads(call: ScriptedCall, status: str) -> None:
    run = Run()
    adder = Adder(run.ledger)
    model = ScriptedModel(call, add(2), "Done.")
    result = await run.go(model, [adder.tool()])
    assert result.text == "Done."
    assert last_results(model.requests[1])[0]["status"] == status
    assert adder.runs == [(2, 0)]


async def test_bad_calls_are_bounded() -> None:
    run = Run()
    model = ScriptedModel(default=lambda request: ScriptedCall("nothing") if request.may_call else "I give up.")
    result = await run.go(model, [Adder(run.ledger).tool()], LoopLimits(invalid_calls=3))
    assert (result.text, result.calls, result.stop_reason) == ("I give up.", 3, StopReason.CALL_LIMIT)


async def test_calls_are_bounded_and_the_model_may_still_answer() -> None:
    run = Run()
    adder = Adder(run.ledger)
    model = ScriptedModel((add(1), add(2), add(3)), "Two were enough.")
    result = await run.go(model, [adder.tool()], LoopLimits(calls=2))
    assert adder.runs == [(1, 0), (2, 0)]
    assert last_results(model.requests[1])[2]["status"] == "call_limit_reached"
    assert not model.requests[1].may_call
    assert model.requests[1].tools == ("add",)
    assert (result.text, result.stop_reason) == ("Two were enough.", StopReason.CALL_LIMIT)


async def test_a_model_that_only_calls_fails_calmly() -> None:
    run = Run()
    with pytest.raises(TurnFailed) as failed:
        await run.go(ScriptedModel(default=add(1)), [Adder(run.ledger).tool()], LoopLimits(calls=2))
    assert failed.value.kind is FailureKind.CALL_LIMIT
    assert (failed.value.calls, failed.value.usage.requests, failed.value.error_id) == (2, 3, "id1")


async def test_no_request_is_begun_when_the_tokens_are_used_up() -> None:
    run = Run()
    model = ScriptedModel(("I add.", add(1)), "never asked")
    result = await run.go(model, [Adder(run.ledger).tool()], LoopLimits(tokens=15))
    assert (result.text, result.stop_reason, len(model.requests)) == ("I add.", StopReason.TOKEN_LIMIT, 1)


async def test_no_request_is_begun_when_the_time_is_up() -> None:
    run = Run()

    async def slow(context: ToolContext, arguments: AddParameters) -> ToolResult:
        run.clock.ahead += 1_000
        return ToolResult("done")

    with pytest.raises(TurnFailed) as failed:
        await run.go(ScriptedModel((ScriptedCall("slow", {"a": 1}), add(1))), [make_tool("slow", slow)])
    assert (failed.value.kind, failed.value.calls) == (FailureKind.TIME_LIMIT, 1)


async def test_a_model_that_never_answers_is_cut_by_the_time_limit() -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    run, model = Run(), ScriptedModel("never said")
    model._respond = never  # type: ignore[method-assign,assignment]
    with pytest.raises(TurnFailed) as failed:
        await run.go(model, limits=LoopLimits(seconds=0.05))
    assert failed.value.kind is FailureKind.TIME_LIMIT


async def test_a_huge_answer_is_cut() -> None:
    result = await Run().go(ScriptedModel("x" * 1_000_000), limits=LoopLimits(reply_chars=100))
    assert (result.text, result.stop_reason) == ("x" * 99 + "…", StopReason.CUT)


async def test_control_characters_and_surrogates_do_not_reach_the_platform() -> None:
    assert (await Run().go(ScriptedModel("a\x00b\ud800c"))).text == "ab\ufffdc"


async def test_empty_answers_are_asked_again_and_then_fail() -> None:
    run, model = Run(), ScriptedModel("", " \n", "too late")
    with pytest.raises(TurnFailed) as failed:
        await run.go(model)
    assert failed.value.kind is FailureKind.EMPTY
    assert (len(model.requests), run.waits) == (2, [0.375])


async def test_an_empty_answer_may_get_better() -> None:
    assert (await Run().go(ScriptedModel("", "Here."))).text == "Here."


async def test_a_failing_tool_is_a_result_without_a_traceback() -> None:
    async def fail(context: ToolContext, arguments: AddParameters) -> ToolResult:
        raise ValueError("secret detail")

    run, model = Run(), ScriptedModel(ScriptedCall("fail", {"a": 1}), "It did not work.")
    assert (await run.go(model, [make_tool("fail", fail)])).text == "It did not work."
    (result,) = last_results(model.requests[1])
    assert (result["status"], result["error_id"]) == ("tool_failed", "id1")
    assert "secret" not in json.dumps(result)


async def test_a_hanging_tool_ends_at_its_deadline() -> None:
    async def hang(context: ToolContext, arguments: AddParameters) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError

    run, model = Run(), ScriptedModel(ScriptedCall("hang", {"a": 1}), "It did not work.")
    await run.go(model, [make_tool("hang", hang)], LoopLimits(tool_seconds=0.02))
    assert last_results(model.requests[1])[0]["status"] == "tool_failed"


async def test_a_lost_turn_passes_through() -> None:
    run = Run()
    run.ledger.lost = True
    with pytest.raises(TurnLost):
        await run.go(ScriptedModel(add(1), "never"), [Adder(run.ledger).tool()])


async def test_cancelling_passes_through_and_ends_the_call_first() -> None:
    ended = asyncio.Event()

    async def hang(context: ToolContext, arguments: AddParameters) -> ToolResult:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    task = asyncio.create_task(Run().go(ScriptedModel(ScriptedCall("hang", {"a": 1})), [make_tool("hang", hang)]))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_calls_with_one_id_get_ids_of_their_own() -> None:
    run = Run()
    adder = Adder(run.ledger)
    twins = tuple(ScriptedCall("add", {"a": number}, call_id="same") for number in (1, 2))
    model = ScriptedModel(twins, ScriptedCall("add", {"a": 3}, call_id="same"), "Done.")
    await run.go(model, [adder.tool()])
    assert adder.runs == [(1, 0), (2, 0), (3, 0)]
    ids = [
        part.tool_call_id for m in model.requests[-1].messages for part in m.parts if part.part_kind == "tool-return"
    ]
    assert len(set(ids)) == 3


async def test_a_result_that_looks_like_a_picture_stays_text() -> None:
    async def trap(context: ToolContext, arguments: AddParameters) -> ToolResult:
        return ToolResult("found", {"kind": "image-url", "url": "http://127.0.0.1:1/x.png"})

    run, model = Run(), ScriptedModel(ScriptedCall("trap", {"a": 1}), "Seen.")
    await run.go(model, [make_tool("trap", trap)])
    (part,) = model.requests[1].messages[-1].parts
    assert isinstance(part, ToolReturnPart)
    assert isinstance(part.content, str)


async def test_no_request_has_more_messages_than_allowed() -> None:
    run = Run()
    model = ScriptedModel(default=lambda request: add(1) if request.may_call else "Done.")
    await run.go(model, [Adder(run.ledger).tool()], LoopLimits(calls=100, wire_messages=10))
    assert max(len(request.messages) for request in model.requests) <= 10
