"""What came from a message goes when the message goes."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from agent import withdrawals
from agent.app import Agent
from agent.contracts.cards import CardKind
from agent.events import MessageDeleted
from agent.models.chat import ChatModel
from agent.places import ChannelRef
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from plugins.memory import source
from plugins.memory.source import forget_source
from tests.plugins.memory.stage import BACKROOM, DIRECT, DIRECT_CHANNEL, GENERAL, HOME, Stage, author

ANA, BEN = author("Ana"), author("Ben")


class SlowSave:
    """A model that saves when it is told to, and then says so, or fails."""

    def __init__(self, *, pauses_after_save: bool, fails: bool) -> None:
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self._pauses_after_save = pauses_after_save
        self._fails = fails

    @property
    def chat(self) -> ChatModel:
        return ChatModel("slow", FunctionModel(self._respond), streams=False)

    async def _respond(self, messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        has_saved = any(part.part_kind == "tool-return" for message in messages for part in message.parts)
        if has_saved == self._pauses_after_save:
            self.asked.set()
            await self.may_answer.wait()
        if has_saved and self._fails:
            raise ValueError("broken")
        if has_saved:
            return ModelResponse(parts=[TextPart("Noted.")])
        arguments = {"memory_content": "game night is on Friday", "memory_scope": "server_wide"}
        return ModelResponse(parts=[ToolCallPart("create_long_term_memory", arguments)])


def deleted(stage: Stage, message_id: str = "m1", channel: ChannelRef = GENERAL) -> MessageDeleted:
    return MessageDeleted("console", f"gone:{message_id}", message_id, HOME, channel, stage.clock.now())


async def test_unprotected_memories_of_both_kinds_go_for_good_and_are_not_repeated(stage: Stage) -> None:
    context = await stage.context(ANA)
    for target in (None, "me"):
        await stage.create(context, "a slip of the tongue", target)
    cards = await forget_source(stage.toolbox.writing, deleted(stage), "en")
    assert [(card.kind, card.lines, card.forgotten) for card in cards] == [
        (CardKind.DELETED, ("The message that it came from was deleted.",), None)
    ] * 2
    left = await stage.rows(
        "SELECT 1 FROM server_memories UNION ALL SELECT 1 FROM personal_memories "
        "UNION ALL SELECT 1 FROM forgotten_memories"
    )
    assert left == []
    events = await stage.rows("SELECT kind, source_tool FROM memory_events ORDER BY memory_event_id")
    assert [tuple(row.values()) for row in events[2:]] == [("deleted", "message_deleted")] * 2
    assert stage.announced.owners[2:] == ["server:1", "notices", "user:1", "notices"]
    assert await forget_source(stage.toolbox.writing, deleted(stage), "en") == ()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE server_memories SET manually_written = true",
        "UPDATE server_memories SET origin = 'import'",
        "UPDATE server_memories SET source_message_id = 'm2'",
        "UPDATE server_memories SET source_channel_id = 'console:backroom'",
        "UPDATE server_memories SET source_platform = 'discord'",
    ],
)
async def test_what_is_protected_or_from_elsewhere_stays(stage: Stage, change: str) -> None:
    await stage.create(await stage.context(ANA), "a fact")
    async with stage.store.connection() as conn:
        await conn.execute(change)
    assert await forget_source(stage.toolbox.writing, deleted(stage), "en") == ()
    assert len(await stage.rows("SELECT 1 FROM server_memories")) == 1


async def test_after_a_day_a_memory_stays(stage: Stage) -> None:
    await stage.create(await stage.context(ANA), "a fact")
    stage.clock.advance(timedelta(hours=24))
    assert await forget_source(stage.toolbox.writing, deleted(stage), "en") == ()


async def test_the_audience_of_a_card_is_that_of_the_memory(stage: Stage) -> None:
    await stage.create(await stage.context(ANA, channel=BACKROOM), "a secret")
    (card,) = await forget_source(stage.toolbox.writing, deleted(stage, channel=BACKROOM), "en")
    assert card.audience == "channel"
    await stage.create(await stage.context(ANA, server=DIRECT, channel=DIRECT_CHANNEL), "shy", "me")
    event = MessageDeleted("console", "gone", "m1", DIRECT, DIRECT_CHANNEL, stage.clock.now())
    (card,) = await forget_source(stage.toolbox.writing, event, "de")
    assert (card.audience, card.title) == ("person", "Erinnerung gelöscht")


async def test_two_deletions_at_once_tell_it_once(stage: Stage) -> None:
    await stage.create(await stage.context(ANA), "a fact")
    found = await asyncio.gather(*(forget_source(stage.toolbox.writing, deleted(stage), "en") for _ in range(5)))
    assert sorted(len(cards) for cards in found) == [0, 0, 0, 0, 1]


@pytest.mark.unwatched_loop
async def test_a_running_agent_forgets_and_says_so_where_the_message_was(database_url: str) -> None:
    platform = FakePlatform()
    settings = {"plugins": {"memory": {"enabled": True}}}
    async with running_agent(database_url, settings, bridge=FakeBridge(platform=platform)) as agent:
        said = await platform.say("ana", "remember that game night is on Friday")
        await platform.answer(said)
        await agent.idle()
        await platform.notices()
        await platform.delete(said)
        (notice,) = await platform.notices()
        await agent.idle()
        assert notice.card is not None
        assert (notice.card.kind, notice.card.forgotten) == (CardKind.DELETED, None)
        prompt = await agent.build_prompt(*platform.place(), platform.person("ben"), "hello")
        assert "game night" not in json.dumps([item.render() for item in prompt.items])


async def everything(agent: Agent) -> str:
    """Return all that the database has of memories."""
    async with agent.core.store.connection() as conn:
        rows = await conn.fetch(
            "SELECT content FROM server_memories UNION ALL SELECT content FROM personal_memories "
            "UNION ALL SELECT memory::text FROM forgotten_memories"
        )
    return json.dumps([row["content"] for row in rows])


@pytest.mark.unwatched_loop
@pytest.mark.parametrize("saved_before", [False, True])
@pytest.mark.parametrize("then", ["ends", "fails", "is stopped"])
async def test_what_a_turn_learns_from_a_message_that_was_deleted_meanwhile_goes_too(
    database_url: str, saved_before: bool, then: str
) -> None:
    platform = FakePlatform()
    settings = {"plugins": {"memory": {"enabled": True}}}
    model = SlowSave(pauses_after_save=saved_before, fails=then == "fails")
    async with running_agent(database_url, settings, bridge=FakeBridge(platform=platform), model=model.chat) as agent:
        said = await platform.say("ana", "remember that game night is on Friday")
        await model.asked.wait()
        assert ("game night" in await everything(agent)) == saved_before
        await platform.delete(said)
        await platform.events.settled()
        if then == "is stopped":
            await platform.stop_turn()
        model.may_answer.set()
        await agent.idle()
        assert "game night" not in await everything(agent)
        assert not platform.answers_to(said)


@pytest.mark.unwatched_loop
async def test_a_deletion_is_tried_again_until_it_is_done(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    platform, fails = FakePlatform(), [True, True]

    async def forget(*values: Any) -> Any:
        if fails and fails.pop():
            raise OSError("away")
        return await forget_source(*values)

    monkeypatch.setattr(source, "forget_source", forget)
    monkeypatch.setattr(withdrawals, "PAUSES", (0.01, 0.01))
    settings = {"plugins": {"memory": {"enabled": True}}}
    async with running_agent(database_url, settings, bridge=FakeBridge(platform=platform)) as agent:
        said = await platform.say("ana", "remember that game night is on Friday")
        await platform.answer(said)
        await agent.idle()
        await platform.delete(said)
        await platform.events.settled()
        await agent.idle()
        assert "game night" not in await everything(agent)
        assert fails == []


@pytest.mark.unwatched_loop
async def test_a_deletion_that_was_not_finished_is_finished_by_the_next_start(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: Any) -> Any:
        raise OSError("away")

    settings = {"plugins": {"memory": {"enabled": True}}}
    with monkeypatch.context() as broken:
        broken.setattr(source, "forget_source", never)
        broken.setattr(withdrawals, "PAUSES", ())
        platform = FakePlatform()
        async with running_agent(database_url, settings, bridge=FakeBridge(platform=platform)) as agent:
            said = await platform.say("ana", "remember that game night is on Friday")
            await platform.answer(said)
            await platform.delete(said)
            await platform.events.settled()
            await agent.idle()
            assert "game night" in await everything(agent)
    async with running_agent(database_url, settings, bridge=FakeBridge(platform=FakePlatform())) as agent:
        await agent.idle()
        assert "game night" not in await everything(agent)


async def test_a_deletion_that_is_told_late_still_counts_from_when_it_was(stage: Stage) -> None:
    await stage.create(await stage.context(ANA), "a fact")
    event = deleted(stage)
    stage.clock.advance(timedelta(hours=30))
    assert len(await forget_source(stage.toolbox.writing, event, "en")) == 1
