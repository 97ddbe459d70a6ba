import pytest

from agent.models.errors import ModelFailed
from agent.models.retry import Retries
from agent.testing.scripted_model import ScriptedCall, ScriptedModel, ScriptExhausted
from tests.agent.turn.loop_doubles import PROMPT, Adder, Run


async def test_it_follows_its_script_and_keeps_what_it_saw() -> None:
    run = Run()
    model = ScriptedModel(ScriptedCall("add", {"a": 1}))
    result = await run.go(model.say("Done."), [Adder(run.ledger).tool()])
    assert result.text == "Done."
    assert [request.tools for request in model.requests] == [("add",), ("add",)]
    assert model.requests[0].texts == tuple(item.text for item in PROMPT.items)
    assert model.requests[1].texts[-1] == '{"status": "added", "sum": 1}'


async def test_a_default_answers_whatever_the_script_does_not() -> None:
    model = ScriptedModel("First.", default=lambda request: f"I saw {len(request.messages)} messages.")
    assert [(await Run().go(model)).text for _ in range(2)] == ["First.", "I saw 2 messages."]


async def test_a_script_that_is_over_says_so() -> None:
    async def ask(_: float) -> object:
        return await ScriptedModel().chat.request([])

    with pytest.raises(ModelFailed) as failed:
        await Retries().run(ask, lambda: 1.0)
    assert isinstance(failed.value.__cause__, ScriptExhausted)
