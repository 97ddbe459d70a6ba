from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio

from agent.app import Agent
from agent.commands import Choice, CommandCall
from agent.dispatch import MOST_CHOICES
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform

PLATFORM = FakePlatform()


@pytest_asyncio.fixture
async def agent(database_url: str) -> AsyncIterator[Agent]:
    settings = {"plugins": {"offering": {"module": "tests.agent.offering"}}}
    async with running_agent(database_url, settings, bridge=FakeBridge(platform=PLATFORM)) as agent:
        yield agent


def call(*path: str, manages: bool = False, **options: Any) -> CommandCall:
    return CommandCall(path, options, *PLATFORM.place(), PLATFORM.person("ana", can_manage=manages))


async def test_choices_come_from_the_option_that_is_typed(agent: Agent) -> None:
    choices = await agent.suggest(call("notes", "edit"), "id", "x")
    assert choices[0] == Choice(0, "ana x0")
    assert len(choices) == MOST_CHOICES


async def test_what_offers_nothing_or_fails_offers_nothing(agent: Agent) -> None:
    assert not await agent.suggest(call("notes", "edit"), "text", "x")
    assert not await agent.suggest(call("notes", "edit"), "size", "x")
    assert not await agent.suggest(call("notes", "gone"), "id", "x")
    assert not await agent.suggest(call("notes", "edit"), "id", "boom")


async def test_a_form_holds_the_present_text(agent: Agent) -> None:
    assert await agent.prefill(call("notes", "edit", id=5), "text") == "the text of 5"
    assert await agent.prefill(call("notes", "edit", id=0), "text") == ""
    assert await agent.prefill(call("notes", "edit", id=5), "id") == ""
    assert await agent.prefill(call("notes", "gone"), "text") == ""


async def test_who_may_not_run_a_command_is_told_nothing_of_it(agent: Agent) -> None:
    assert not await agent.suggest(call("notes", "rule"), "id", "x")
    assert await agent.prefill(call("notes", "rule", id=5), "text") == ""
    assert await agent.suggest(call("notes", "rule", manages=True), "id", "x")
    assert await agent.prefill(call("notes", "rule", manages=True, id=5), "text") == "the text of 5"
