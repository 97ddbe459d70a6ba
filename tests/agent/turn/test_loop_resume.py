import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agent.store.pool import Store
from agent.testing.scripted_model import ScriptedCall, ScriptedModel
from agent.tools import ToolContext, ToolResult, TurnLost
from agent.turn.loop_values import TurnFailed
from tests.agent.turn.loop_doubles import NO_CONNECTION, Adder, AddParameters, Run, make_tool
from tests.agent.turn.test_loop import add, last_results


class SpeakParameters(BaseModel):
    text: str


async def test_a_restarted_turn_goes_on_behind_what_took_effect() -> None:
    run = Run()
    adder = Adder(run.ledger)
    first = ScriptedModel((add(1), add(2), add(3)), ConnectionError("the provider is gone"))

    async def stop_at_second(context: ToolContext, arguments: AddParameters) -> ToolResult:
        if arguments.a == 2 and len(adder.runs) == 1:
            raise TurnLost("stopped in the middle")
        return await adder(context, arguments)

    with pytest.raises(TurnLost):
        await run.go(first, [make_tool("add", stop_at_second)])
    assert (adder.runs, run.ledger.positions) == ([(1, 0)], [0])

    again = ScriptedModel("Done.")
    result = await run.go(again, [adder.tool()])
    assert adder.runs == [(1, 0), (2, 0), (3, 0)]
    assert run.ledger.positions == [0, 1, 2]
    assert (result.text, result.calls) == ("Done.", 3)
    assert [value["sum"] for value in last_results(again.requests[0])] == [1, 2, 3]
    assert result.usage.requests == 2, "the request before the restart is counted too"


async def test_what_failed_before_its_commit_is_told_so() -> None:
    run = Run()
    adder = Adder(run.ledger, before_commit=OSError("connection lost"))
    model = ScriptedModel(add(1), "It did not work.")
    await run.go(model, [adder.tool()])
    assert last_results(model.requests[1])[0]["status"] == "tool_failed"
    assert run.ledger.checkpoint is None


async def test_what_failed_behind_its_commit_is_told_as_done() -> None:
    run = Run()
    adder = Adder(run.ledger, after_commit=OSError("the notification failed"))
    model = ScriptedModel(add(1), "Done.")
    await run.go(model, [adder.tool()])
    assert last_results(model.requests[1]) == [{"status": "added", "sum": 1}]


async def test_an_abandoned_call_can_no_longer_take_effect() -> None:
    run = Run()
    late: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()

    async def stubborn(context: ToolContext, arguments: AddParameters) -> ToolResult:
        async def later() -> None:
            await asyncio.sleep(0.02)
            try:
                await context.effect(NO_CONNECTION, ToolResult("added"))
            except TurnLost as error:
                late.set_result(error)

        background.append(asyncio.create_task(later()))
        return ToolResult("begun")

    background: list[asyncio.Task[None]] = []
    await run.go(ScriptedModel(ScriptedCall("stubborn", {"a": 1}), "Done."), [make_tool("stubborn", stubborn)])
    assert isinstance(await late, TurnLost)
    assert run.ledger.checkpoint is None


async def test_a_checkpoint_can_be_kept_whatever_the_model_says(store: Store) -> None:
    nasty = "a\x00b\ud800c\r\n\u2028\x1b\U0001f642"

    async def speak(context: ToolContext, arguments: SpeakParameters) -> ToolResult:
        result = ToolResult("spoken", {"text": nasty, "heard": arguments.text})
        await context.effect(NO_CONNECTION, result)
        run.ledger.commit()
        return result

    run = Run()
    first = ScriptedModel(
        (
            f"I say {nasty}",
            ScriptedCall("speak", {"text": nasty}, call_id=f"id{nasty}"),
            ScriptedCall("speak", json.dumps({"text": "a\x00b"})),
            ScriptedCall("speak", f'{{"text": {nasty}'),
        ),
        KeyError("killed"),
    )
    tools = [make_tool("speak", speak, SpeakParameters)]
    with pytest.raises(TurnFailed):
        await run.go(first, tools)
    async with store.connection() as conn:
        kept = await conn.fetchval("SELECT $1::text::jsonb::text", run.ledger.checkpoint)
    run.ledger.checkpoint = kept
    again = ScriptedModel("Done.")
    assert (await run.go(again, tools)).text == "Done."
    heard = [result.get("heard") or result["status"] for result in last_results(again.requests[0])]
    assert heard == [nasty.replace("\ud800", "\ufffd"), "a\x00b", "invalid_arguments"]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.lists(st.integers(1, 3), max_size=4), st.data())
def test_whatever_interrupts_a_turn_each_effect_happens_once(
    numbers: list[int], shape: list[int], data: st.DataObject
) -> None:
    """Cut the calls into responses of any size, stop at any call, and begin again until the turn is done."""

    async def scenario() -> None:
        run = Run()
        adder = Adder(run.ledger)
        steps: list[ScriptedCall] = [add(number) for number in numbers]
        responses: list[tuple[ScriptedCall, ...]] = []
        sizes = [*shape, *([1] * len(steps))]
        while steps:
            size = sizes.pop(0)
            responses.append(tuple(steps[:size]))
            steps = steps[size:]

        stops = data.draw(st.sets(st.integers(0, len(numbers) - 1)))
        deaths = data.draw(st.sets(st.integers(0, len(numbers) - 1)))

        async def interrupted(context: ToolContext, arguments: AddParameters) -> ToolResult:
            if (position := len(adder.runs)) in stops:
                stops.discard(position)
                raise TurnLost("stopped")
            result = await adder(context, arguments)
            if position in deaths:
                raise TurnLost("stopped between the commit and what follows")
            return result

        def script() -> ScriptedModel:
            """Answer by what has been done, as a model does that reads the results."""
            done, left = len(run.ledger.positions), list(responses)
            while left and done >= len(left[0]):
                done -= len(left.pop(0))
            return ScriptedModel(*left[1 if done else 0 :], "Done.")

        for _ in range(2 * len(numbers) + 1):
            try:
                result = await run.go(script(), [make_tool("add", interrupted)])
            except TurnLost:
                continue
            break
        else:
            raise AssertionError("the turn never ended")
        assert [a for a, _ in adder.runs] == numbers
        assert run.ledger.positions == list(range(len(numbers)))
        assert (adder.total, result.calls) == (sum(numbers), len(numbers))

    asyncio.run(scenario())
