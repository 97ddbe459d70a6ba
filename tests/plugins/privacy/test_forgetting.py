"""A planted string is nowhere after /privacy forget-me: no table, no log, no metric, no later prompt."""

import asyncio
import io
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic_ai.messages import ModelResponse, TextPart, ToolReturnPart

from agent import logs, metrics
from agent.app import Agent
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.fake_values import Refused
from agent.testing.scripted_model import ScriptedCall, ScriptedModel
from tests.plugins.privacy.conftest import SETTINGS

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

CANARY = "xylophonecanary"
PLACES = ("general", "backroom", "general/plans", "@ana", "@ben")


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    logs.configure("json", "info", stream)
    logs.get_logger("tests").info("log_begun")
    metrics.enable()
    yield stream
    logs.configure("console", "error", io.StringIO())


async def dump(agent: Agent) -> dict[str, str]:
    """Every row of every table, as text."""
    async with agent.core.store.connection() as conn:
        tables = await conn.fetch("SELECT relname FROM pg_stat_user_tables ORDER BY 1")
        return {
            table["relname"]: await conn.fetchval(
                f"SELECT coalesce(string_agg(t::text, chr(10)), '') FROM \"{table['relname']}\" t"  # noqa: S608
            )
            for table in tables
        }


def save(content: str, target: str | None = None) -> ScriptedCall:
    scope = "server_wide" if target is None else "target_user"
    arguments: dict[str, Any] = {"memory_content": content, "memory_scope": scope, "target_user": target}
    return ScriptedCall("create_long_term_memory", arguments)


class Hesitant(ScriptedModel):
    """A model that calls tools at once, and thinks about its answers until it may speak."""

    def __init__(self) -> None:
        super().__init__()
        self.may_speak = asyncio.Event()

    async def _respond(self, messages: Any, info: Any) -> Any:
        if any(isinstance(part, ToolReturnPart) for part in messages[-1].parts):
            await self.may_speak.wait()
            return ModelResponse([TextPart(f"noted: {CANARY}")])
        return await super()._respond(messages, info)


async def plant(platform: FakePlatform, model: ScriptedModel, agent: Agent) -> None:
    """Let the canary get into whatever keeps something about ana."""
    for channel in PLACES[:-1]:
        model.say(save(f"{{user}} owns a {CANARY}", "me"), "done")
        await platform.ask("ana", f"keep that: {CANARY}", channel=channel)
        model.say(save(f"{{user}} plays the {CANARY} in {channel}"), "done")
        await platform.ask("ana", f"and that: {CANARY}", channel=channel)
    model.say(save(f"ana has a {CANARY} again", "ana"), "done")
    await platform.ask("ben", "remember it")
    async with agent.core.store.connection() as conn:
        memory_id = await conn.fetchval("SELECT max(personal_memory_id) FROM personal_memories")
    gone = {"memory_id": memory_id, "memory_content": "", "target_user": "ana"}
    model.say(ScriptedCall("update_long_term_memory", gone), "done")
    await platform.ask("ben", "forget the last one")
    await agent.idle()


async def test_a_planted_string_is_nowhere_after_forget_me(database_url: str, log: io.StringIO) -> None:
    platform, model = FakePlatform(), ScriptedModel(default="hm")
    platform.restrict("backroom")
    platform.person("ana", display_name=f"Ana {CANARY}")
    async with running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform), model=model) as agent:
        await plant(platform, model, agent)
        holding = {table for table, rows in (await dump(agent)).items() if CANARY in rows}
        assert {"personal_memories", "server_memories", "forgotten_memories", "accounts", "names"} <= holding

        asked = await platform.run_command("ana", "privacy", "forget-me", channel="@ana")
        assert asked.data is not None
        done = await platform.run_command("ana", "privacy", "forget-me", code=asked.data["code"], channel="@ana")
        assert done.ok, done.text
        await agent.idle()

        assert {table for table, rows in (await dump(agent)).items() if CANARY in rows} == set()
        platform.person("ana", display_name="Ana")
        for channel in PLACES:
            for speaker in ("ana", "ben"):
                await platform.ask(speaker, "what do you know about ana?", channel=channel)
                shown = "\n".join(model.requests[-1].texts)
                # What the agent itself has said stands on the platform, and is the platform's to delete.
                assert CANARY not in shown, f"{speaker} in {channel}"
        await agent.idle()
        assert {table for table, rows in (await dump(agent)).items() if CANARY in rows} == set()
    assert CANARY.encode() not in metrics.render()
    assert "log_begun" in log.getvalue()
    assert CANARY not in log.getvalue()


async def until_held_by(agent: Agent, *tables: str) -> None:
    async with asyncio.timeout(10):
        while not set(tables) <= {table for table, rows in (await dump(agent)).items() if CANARY in rows}:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_what_is_under_way_or_waits_to_be_sent_is_gone_too(database_url: str, log: io.StringIO) -> None:
    """A turn of somebody else that has just learned it, cards that tell of it, an answer that the platform refused."""
    platform, model = FakePlatform(), Hesitant()
    refusing = True
    platform.sends.fail_by(lambda _message, _try: Refused("not now", 0.3) if refusing else None)
    platform.person("max", can_manage=True)
    async with running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform), model=model) as agent:
        await platform.say("ana", "hello everybody", to_agent=False)
        model.may_speak.set()
        model.say(f"your {CANARY} is nice")
        await platform.say("ana", "look at that", channel="@ana")
        await until_held_by(agent, "outbox")
        model.may_speak.clear()
        model.say(save(f"{{user}} owns a {CANARY}", "ana"))
        await platform.say("ben", "ana has something new")
        await until_held_by(agent, "turn_checkpoints", "personal_memories")
        model.say(save(f"{{user}} plays the {CANARY}"))
        await platform.say("ana", f"keep that: {CANARY}", channel="backroom")
        await until_held_by(agent, "inbound_events", "server_memories")
        listed = await platform.run_command("max", "memories", "list", channel="backroom")
        assert CANARY in listed.text

        asked = await platform.run_command("ana", "privacy", "forget-me", channel="@ana")
        assert asked.data is not None
        done = await platform.run_command("ana", "privacy", "forget-me", code=asked.data["code"], channel="@ana")
        assert done.ok, done.text
        assert {table for table, rows in (await dump(agent)).items() if CANARY in rows} == set()
        model.may_speak.set()
        refusing = False
        await agent.idle()
        assert {table for table, rows in (await dump(agent)).items() if CANARY in rows} == set()
        async with agent.core.store.connection() as conn:
            assert await conn.fetchval("SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending')") == 0
    for message in platform.from_agent:
        assert CANARY not in repr(message)
    assert CANARY not in log.getvalue()
