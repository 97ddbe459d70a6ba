"""Edited messages are answered as they stand when their turn is taken."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from agent.app import Agent
from agent.bridge import Capabilities
from agent.corrections import LATELY, MOST
from agent.models.chat import ChatModel
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from tests.clocks import ManualClock


@dataclass
class Gated:
    """A model that repeats what it was asked, when it is let through."""

    asked: list[str] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    came: asyncio.Condition = field(default_factory=asyncio.Condition)
    saves: bool = False
    """Whether it saves a memory before it waits."""

    @property
    def chat(self) -> ChatModel:
        return ChatModel("gated", FunctionModel(self._respond), streams=False)

    async def _respond(self, messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        if self.saves and len(messages[-1].parts) == 1 and isinstance(messages[-1].parts[0], UserPromptPart):
            content = {"memory_content": "ana likes tea", "memory_scope": "server_wide"}
            return ModelResponse(parts=[ToolCallPart("create_long_term_memory", content, "call_1")])
        prompt = [part for message in messages for part in message.parts if isinstance(part, UserPromptPart)][-1]
        text = str(json.loads(str(prompt.content).splitlines()[-1])["text"])
        async with self.came:
            self.asked.append(text)
            self.came.notify_all()
        await self.gate.wait()
        return ModelResponse(parts=[TextPart(f"You said: {text}")])

    async def was_asked(self, text: str) -> None:
        async with asyncio.timeout(5), self.came:
            await self.came.wait_for(lambda: self.asked[-1:] == [text])


@dataclass
class World:
    agent: Agent
    platform: FakePlatform
    model: Gated

    @property
    def answers(self) -> list[str]:
        return [message.text for message in self.platform.from_agent if message.card is None]

    async def states(self) -> list[str]:
        async with self.agent.core.store.connection() as conn:
            rows = await conn.fetch(
                "SELECT state FROM inbound_events WHERE event_id LIKE 'created:%' ORDER BY event_id"
            )
        return [row["state"] for row in rows]


@pytest_asyncio.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    platform, model = FakePlatform(), Gated()
    settings = {"plugins": {"memory": {"enabled": True}}}
    async with running_agent(database_url, settings, bridge=FakeBridge(platform=platform), model=model.chat) as agent:
        yield World(agent, platform, model)


async def test_what_is_being_answered_is_answered_anew(world: World) -> None:
    said = await world.platform.say("ana", "helo")
    after = await world.platform.say("ana", "next")
    await world.model.was_asked("helo")
    await world.platform.edit(said, "hello")
    await world.model.was_asked("hello")
    world.model.gate.set()
    await world.agent.idle()
    assert world.answers == ["You said: hello", "You said: next"]
    assert await world.states() == ["answered", "answered"]
    assert world.platform.answers_to(after)


async def test_what_waits_is_answered_as_it_stands(world: World) -> None:
    await world.platform.say("ana", "first")
    second = await world.platform.say("ana", "secnd")
    await world.model.was_asked("first")
    await world.platform.edit(second, "second")
    world.model.gate.set()
    await world.agent.idle()
    assert world.answers == ["You said: first", "You said: second"]


@pytest.mark.parametrize("waits", [True, False])
async def test_what_is_edited_away_is_not_answered(world: World, waits: bool) -> None:
    said = await world.platform.say("ana", "first")
    edited = await world.platform.say("ana", "second") if waits else said
    await world.model.was_asked("first")
    await world.platform.edit(edited, "  ")
    world.model.gate.set()
    await world.agent.idle()
    assert world.answers == (["You said: first"] if waits else [])
    assert await world.states() == (["answered", "ignored"] if waits else ["ignored"])


async def test_the_same_text_and_an_edit_of_something_else_change_nothing(world: World) -> None:
    other = await world.platform.say("ben", "not for you", to_agent=False)
    said = await world.platform.say("ana", "hello")
    await world.model.was_asked("hello")
    await world.platform.edit(said, "hello")
    await world.platform.edit(other, "still not")
    world.model.gate.set()
    await world.agent.idle()
    assert (world.model.asked, world.answers) == (["hello"], ["You said: hello"])


async def test_somebody_who_goes_on_editing_is_answered_all_the_same(world: World) -> None:
    said = await world.platform.say("ana", "text 0")
    for number in range(MOST + 3):
        await world.model.was_asked(f"text {min(number, MOST)}")
        await world.platform.edit(said, f"text {number + 1}")
    world.model.gate.set()
    await world.agent.idle()
    assert world.answers == [f"You said: text {MOST}"]


async def test_a_turn_that_has_taken_effect_goes_on(world: World) -> None:
    world.model.saves = True
    said = await world.platform.say("ana", "I like tea")
    await world.model.was_asked("I like tea")
    await world.platform.edit(said, "I like coffee")
    world.model.gate.set()
    await world.agent.idle()
    assert world.answers == ["You said: I like tea"]


async def test_an_answer_is_given_another_text_when_its_question_is_edited(world: World) -> None:
    world.model.gate.set()
    said = await world.platform.say("ana", "helo")
    await world.platform.answer(said)
    await world.agent.idle()
    await world.platform.edit(said, "hello")
    await world.agent.idle()
    await world.platform.edit(said, "hello you")
    await world.agent.idle()
    assert world.model.asked == ["helo", "hello", "hello you"]
    assert world.answers == ["You said: hello you"]


async def test_a_longer_answer_goes_on_and_a_shorter_one_leaves_nothing_behind(database_url: str) -> None:
    platform, model = FakePlatform(capabilities=Capabilities(40, has_idempotency_key=True)), Gated()
    model.gate.set()
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=model.chat) as agent:
        said = await platform.say("ana", "short")
        await agent.idle()
        await platform.edit(said, "one two three four five six seven eight nine ten")
        await agent.idle()
        assert len(platform.from_agent) > 1
        assert "".join(message.text for message in platform.from_agent).replace(" ", "").endswith("nineten")
        await platform.edit(said, "short again")
        await agent.idle()
        async with asyncio.timeout(5):
            while len(platform.from_agent) > 1:  # noqa: ASYNC110 - the platform tells nobody of deletions
                await asyncio.sleep(0.01)
    assert [message.text for message in platform.from_agent] == ["You said: short again"]


async def test_an_answer_stands_that_told_of_a_memory_or_is_old_or_cannot_be_edited(database_url: str) -> None:
    clock = ManualClock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    platform, model = FakePlatform(clock=clock), Gated()
    model.gate.set()
    settings = {"plugins": {"memory": {"enabled": True}}}
    bridge = FakeBridge(platform=platform)
    async with running_agent(database_url, settings, bridge=bridge, model=model.chat, clock=clock) as agent:
        model.saves = True
        kept = await platform.say("ana", "I like tea")
        await agent.idle()
        model.saves = False
        old = await platform.say("ana", "helo")
        await agent.idle()
        clock.advance(LATELY + timedelta(seconds=1))
        for said in (kept, old):
            await platform.edit(said, "something else")
        await agent.idle()
        assert model.asked == ["I like tea", "helo"]
        blind = await platform.say("ana", "hm")
        await agent.idle()
        bridge.capabilities = replace(bridge.capabilities, edits=False)
        await platform.edit(blind, "hmm")
        await agent.idle()
    assert model.asked == ["I like tea", "helo", "hm"]


async def test_somebody_who_was_never_answered_is_not_answered_for_an_edit(world: World) -> None:
    world.model.gate.set()
    said = await world.platform.say("ana", "not for you", to_agent=False)
    await world.platform.edit(said, "still not")
    await world.agent.idle()
    assert world.answers == []


async def test_a_mention_that_is_added_a_moment_later_is_answered_once(world: World) -> None:
    world.model.gate.set()
    said = await world.platform.say("ana", "what is tea?", to_agent=False)
    await world.platform.edit(said, "what is tea, Isthmus?", mentions_agent=True)
    await world.agent.idle()
    assert world.answers == ["You said: what is tea, Isthmus?"]
    await world.platform.edit(said, "what is coffee, Isthmus?", mentions_agent=True)
    await world.agent.idle()
    assert world.answers == ["You said: what is coffee, Isthmus?"]  # its answer, given another text


async def test_a_mention_that_is_added_much_later_or_by_a_bot_is_not_answered(database_url: str) -> None:
    clock = ManualClock(datetime(2026, 3, 1, 12, tzinfo=UTC))
    platform, model = FakePlatform(clock=clock), Gated()
    model.gate.set()
    bridge = FakeBridge(platform=platform)
    async with running_agent(database_url, bridge=bridge, model=model.chat, clock=clock) as agent:
        said = await platform.say("ana", "what is tea?", to_agent=False)
        answered = await platform.say("ana", "hello")
        await agent.idle()
        by_bot = replace(said, author=replace(said.author, is_bot=True))
        await platform.edit(by_bot, "what is tea, Isthmus?", mentions_agent=True)
        clock.advance(LATELY + timedelta(seconds=1))
        for each in (said, answered):
            await platform.edit(each, "what is tea, Isthmus?", mentions_agent=True)
        await agent.idle()
    assert model.asked == ["hello"]


async def test_after_a_restart_the_new_text_is_answered(database_url: str) -> None:
    platform, model = FakePlatform(), Gated()
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=model.chat) as agent:
        said = await platform.say("ana", "helo")
        await model.was_asked("helo")
        await platform.edit(said, "hello")
        await model.was_asked("hello")
        await agent.stop(grace=0.0)
    again = Gated()
    again.gate.set()
    async with running_agent(database_url, bridge=FakeBridge(platform=platform), model=again.chat) as agent:
        await agent.idle()
    assert (again.asked, [message.text for message in platform.from_agent]) == (["hello"], ["You said: hello"])
