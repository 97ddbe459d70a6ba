"""No item of a prompt has an audience that leaves out somebody who can read the reply: drawn places, drawn items.

Memories, what is called back, documents, lore and history; public and private channels, threads of both, direct
conversations, two servers (memory.md, Audience).
"""

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.app import Agent
from agent.testing.app import running_agent
from agent.testing.fake_bridge import FakeBridge
from agent.testing.fake_platform import FakePlatform
from agent.testing.scripted_model import ScriptedCall, ScriptedModel
from tests.clocks import ManualClock
from tests.plugins.privacy.conftest import NOW

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

PEOPLE = ("ana", "ben", "cleo")
WHOEVER_JOINS = "whoever joins"
EVERYBODY = frozenset({*PEOPLE, WHOEVER_JOINS})
SERVERS = ("home", "away")
KINDS = ("server memory", "personal memory", "document", "lore", "history")
SETTINGS: dict[str, Any] = {
    "agent": {"embeddings": "local"},
    "plugins": {"memory": {}, "documents": {}, "lorebook": {}, "privacy": {}},
}


@dataclass(frozen=True)
class Spot:
    server: str
    channel: str
    readers: frozenset[str]
    """Everybody who can read what is said there, whoever the agent cannot know included."""
    private: bool

    @property
    def is_public(self) -> bool:
        return WHOEVER_JOINS in self.readers


@dataclass(frozen=True)
class Item:
    kind: str
    spot: Spot
    speaker: str


@dataclass(frozen=True)
class Story:
    spots: tuple[Spot, ...]
    items: tuple[Item, ...]
    sleeps: bool
    """Whether so much time passes that only recall brings memories."""


readers = st.frozensets(st.sampled_from(PEOPLE), min_size=1)


@st.composite
def channels(draw: st.DrawFn, server: str, name: str) -> list[Spot]:
    """A channel, perhaps with a thread, which may be private itself."""
    private = draw(st.booleans())
    who = draw(readers) if private else EVERYBODY
    found = [Spot(server, name, who, private)]
    match draw(st.sampled_from(["none", "open", "private"])):
        case "open":
            found.append(Spot(server, f"{name}/open", who, private=False))
        case "private":
            some = draw(readers.filter(lambda some: bool(some & who))) & who
            found.append(Spot(server, f"{name}/closed", some, private=True))
    return found


@st.composite
def stories(draw: st.DrawFn) -> Story:
    spots = [spot for server in SERVERS for name in ("one", "two") for spot in draw(channels(server, name))]
    spots += [Spot("direct", f"@{who}", frozenset({who}), private=True) for who in draw(readers)]
    items = []
    for _ in range(draw(st.integers(5, 9))):
        spot = draw(st.sampled_from(spots))
        speaker = draw(st.sampled_from(sorted(spot.readers - {WHOEVER_JOINS})))
        items.append(Item(draw(st.sampled_from(KINDS)), spot, speaker))
    return Story(tuple(spots), tuple(items), draw(st.booleans()))


def may_be_read(item: Item, spot: Spot) -> bool:
    """Tell whether everybody who reads a place may know an item, from where and how it was given."""
    same_server = (item.spot.server, item.spot.channel if item.spot.server == "direct" else "") == (
        spot.server,
        spot.channel if spot.server == "direct" else "",
    )
    match item.kind:
        case "history":
            return item.spot == spot
        case "lore":  # written for all of the server
            return same_server
        case "personal memory" if item.spot.is_public:  # said openly, it goes with its person
            return True
        case _ if item.spot.is_public:
            return same_server
    return spot.readers <= item.spot.readers


@dataclass(frozen=True)
class File:
    content: bytes
    name: str = "guide.md"

    async def read(self, limit: int) -> bytes:
        assert len(self.content) <= limit
        return self.content


@dataclass
class Stage:
    """One agent for all stories; each has servers and direct conversations of its own."""

    platform: FakePlatform
    model: ScriptedModel
    agent: Agent
    clock: ManualClock
    shown: Counter[str] = field(default_factory=Counter)
    number: "itertools.count[int]" = field(default_factory=itertools.count)

    async def tell(self, story: Story) -> None:
        number = next(self.number)
        for who in PEOPLE:
            self.platform.person(f"{who}{number}", display_name=who.capitalize(), can_manage=True)
        for spot in story.spots:
            if spot.private and spot.server != "direct":
                self.platform.restrict(spot.channel, server=f"{spot.server}{number}")
        for spot in story.spots:  # everybody is known wherever they can be
            for who in sorted(spot.readers - {WHOEVER_JOINS}):
                await self.platform.say(f"{who}{number}", "hello", to_agent=False, **where(spot, number))
        marks = {f"marker{number}x{position}": item for position, item in enumerate(story.items)}
        for mark, item in marks.items():
            await self.put(mark, item, number)
        await self.agent.core.embedding_worker.idle()
        if story.sleeps:
            self.clock.advance(timedelta(days=40))
        for spot in story.spots:
            await self.look(spot, marks, number)

    async def put(self, mark: str, item: Item, number: int) -> None:
        await self.agent.idle()  # whatever is said in a direct conversation is answered
        at, who = where(item.spot, number), f"{item.speaker}{number}"
        match item.kind:
            case "history":
                await self.platform.say(who, f"I say {mark}", to_agent=False, **at)
            case "document":
                given = File(f"# {mark}\n\nWhat there is to know of {mark}.\n".encode())
                assert (await self.platform.run_command(who, "documents", "add", file=given, **at)).ok
            case "lore":
                lore = {"book": mark, "keys": "-", "content": f"the lore of {mark}"}
                assert (await self.platform.run_command(who, "lorebook", "add", **lore, **at)).ok
            case kind:
                personal = kind == "personal memory"
                arguments = {
                    "memory_content": f"{{user}} has a {mark}" if personal else f"there is a {mark}",
                    "memory_scope": "target_user" if personal else "server_wide",
                    "target_user": "me" if personal else None,
                }
                self.model.say(ScriptedCall("create_long_term_memory", arguments))
                await self.platform.ask(who, "keep that", **at)
                await self.agent.idle()
                result = json.loads(self.model.requests[-1].texts[-1])
                assert result["status"] == "memory_saved_successfully", result

    async def look(self, spot: Spot, marks: dict[str, Item], number: int) -> None:
        """Ask for everything in a place, and look at what the model was shown beside the question."""
        for who in sorted(spot.readers - {WHOEVER_JOINS}):
            for some in itertools.batched(marks, 3):
                question = f"Ana, Ben, Cleo: what of {' and '.join(some)}?"
                said = await self.platform.say(f"{who}{number}", question, **where(spot, number))
                await self.platform.answer(said)
                text = "\n".join(self.model.requests[-1].texts).replace(question, "")
                await self.platform.delete(said)
                for mark, item in marks.items():
                    if mark in text:
                        self.shown[item.kind] += 1
                        assert may_be_read(item, spot), (item, spot)


def where(spot: Spot, number: int) -> dict[str, Any]:
    if spot.server == "direct":
        return {"channel": f"{spot.channel}{number}", "server": "home"}
    return {"channel": spot.channel, "server": f"{spot.server}{number}"}


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as found:
        yield found


def test_nobody_reads_in_a_prompt_what_they_may_not_know(database_url: str, runner: asyncio.Runner) -> None:
    platform, model, clock = FakePlatform(), ScriptedModel(default="hm"), ManualClock(NOW)
    agents = running_agent(database_url, SETTINGS, bridge=FakeBridge(platform=platform), model=model, clock=clock)
    stage = Stage(platform, model, runner.run(agents.__aenter__()), clock)

    @settings(max_examples=8, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(stories())
    def check(story: Story) -> None:
        runner.run(stage.tell(story))

    try:
        check()
    finally:
        runner.run(agents.__aexit__(None, None, None))
    assert set(stage.shown) == set(KINDS), stage.shown  # each kind was to be seen somewhere
