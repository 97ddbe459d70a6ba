"""Nothing that the agent posts pings anybody but those whom an answer addresses by handle; `{user}` is the subject."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from agent.app import Agent
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.fake_values import FakeMessage
from agent.testing.scripted_model import ScriptedCall, ScriptedModel
from tests.plugins.privacy.conftest import SETTINGS

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

SHOUT = "@everyone @here @room <@ben> <@!ben> <@&1> @ben"


@dataclass
class Room:
    platform: FakePlatform
    model: ScriptedModel
    agent: Agent

    async def save(self, content: str, target: str | None = None, who: str = "ana") -> None:
        scope = "server_wide" if target is None else "target_user"
        arguments = {"memory_content": content, "memory_scope": scope, "target_user": target}
        self.model.say(ScriptedCall("create_long_term_memory", arguments), "done")
        await self.platform.ask(who, "keep that")
        await self.agent.idle()

    def pings(self, message: FakeMessage) -> set[str]:
        assert message.allowed_mentions is not None, message
        return set(self.platform.pinged(message))


@pytest_asyncio.fixture
async def room(database_url: str) -> AsyncIterator[Room]:
    platform, model = FakePlatform(), ScriptedModel(default="hm")
    settings = {**SETTINGS, "agent": {"limits": {"cooldown_seconds": 3600}}}
    async with running_agent(database_url, settings, bridge=FakeBridge(platform=platform), model=model) as agent:
        for who in ("ana", "ben", "max"):
            await platform.say(who, "hello", to_agent=False)
        yield Room(platform, model, agent)


async def test_an_answer_pings_whom_it_addresses_by_handle_and_nobody_else(room: Room) -> None:
    room.model.say(f"{SHOUT} and you, @{{ana}}, not @{{nobody}}")
    answer = await room.platform.ask("ana", "shout")
    assert room.pings(answer) == {"ana"}
    assert "<@ana>" in answer.text
    assert "@everyone" not in answer.text


async def test_cards_ping_nobody_whatever_they_tell(room: Room) -> None:
    room.platform.person("ben", display_name=SHOUT)
    await room.platform.say("ben", "hello", to_agent=False)
    await room.save(f"{SHOUT} @{{ana}} {{user}}", "me", who="ben")
    cards = await room.platform.notices(2)
    assert [card.card.kind for card in cards if card.card is not None] == ["saved", "disclosure"]
    assert [room.pings(card) for card in cards] == [set(), set()]


async def test_refusals_and_apologies_ping_nobody(room: Room) -> None:
    room.model.say(RuntimeError(SHOUT))
    apology = await room.platform.ask("ana", SHOUT)
    assert "Sorry" in apology.text
    assert room.pings(apology) == set()
    await room.platform.say("ana", SHOUT)
    (refusal,) = await room.platform.notices()
    assert "One at a time" in refusal.text
    assert room.pings(refusal) == set()


async def test_mentions_come_in_as_names(room: Room) -> None:
    await room.platform.ask("ana", "what does <@ben> do, and <@4711>?")
    assert "what does @{ben} do, and @someone?" in "\n".join(room.model.requests[-1].texts)


async def test_user_is_whom_a_memory_is_about_and_never_who_reads_it(room: Room) -> None:
    await room.save("{user} likes tea", "me")
    await room.save("{user} keeps the keys", who="max")
    await room.platform.ask("ben", "what do you know of ana and max?")
    shown = "\n".join(room.model.requests[-1].texts)
    assert "ana likes tea" in shown
    assert "max keeps the keys" in shown
    assert "ben likes tea" not in shown
    assert "ben keeps the keys" not in shown
