from __future__ import annotations

import pytest

from agent.ailments import Ailment, ModelState
from agent.models.errors import FailureKind
from agent.store.errors import DatabaseUnavailable
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.scripted_model import ScriptedModel


@pytest.mark.parametrize(
    ("kind", "is_away"), [(FailureKind.CONNECTION, True), (FailureKind.QUOTA, True), (FailureKind.BLOCKED, False)]
)
def test_a_model_that_cannot_be_had_is_away_until_it_answers(kind: FailureKind, is_away: bool) -> None:
    state = ModelState()
    state.failed(kind)
    assert state.is_away is is_away
    state.failed(FailureKind.BLOCKED)
    assert state.is_away is is_away
    state.answered()
    assert not state.is_away


async def test_an_agent_tells_what_it_lacks(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    platform, model = FakePlatform(), ScriptedModel(default="Well.")
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=model) as agent:
        assert await agent.ailment() is None
        model.say(*[ConnectionError("away")] * 10)
        await platform.ask("ana", "hello")
        failed = await agent.ailment()
        model.steps.clear()
        await platform.ask("ana", "hello again")
        assert (failed, await agent.ailment()) == (Ailment.MODEL, None)

        def away() -> None:
            raise DatabaseUnavailable("the database does not answer")

        monkeypatch.setattr(agent.core.store, "connection", away)
        assert await agent.ailment() is Ailment.DATABASE
        monkeypatch.undo()
