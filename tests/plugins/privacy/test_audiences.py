"""Nothing shown has an audience that leaves out somebody who can read it there (memory.md, Audience)."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from agent.events import Author
from agent.places import ChannelRef, ServerKind, ServerRef, Visibility
from agent.testing.app import running_agent
from tests.clocks import ManualClock
from tests.plugins.privacy.conftest import ANA, BEN, GENERAL, HOME, NOW, SETTINGS, House, person

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

CLEO = person("Cleo")
PEOPLE = (ANA, BEN, CLEO)
EVERYBODY = frozenset({"ana", "ben", "cleo", "whoever joins"})


@dataclass(frozen=True)
class Spot:
    """A place, with everybody who can read what is said there; whom the agent cannot know counts too."""

    server: ServerRef
    channel: ChannelRef
    readers: frozenset[str]

    @property
    def is_public(self) -> bool:
        return self.channel.visibility is Visibility.EVERYONE

    def speakers(self) -> Iterator[Author]:
        return (who for who in PEOPLE if who.external_id in self.readers)


def restricted(server: ServerRef, name: str, *readers: str) -> Spot:
    ref = ChannelRef(f"{server.external_id}/{name}", name, Visibility.RESTRICTED)
    return Spot(server, ref, frozenset(readers))


def direct(who: Author) -> Spot:
    name = f"@{who.external_id}"
    channel = ChannelRef(name, name, Visibility.DIRECT)
    return Spot(ServerRef("console", name, name, ServerKind.DIRECT), channel, frozenset({who.external_id}))


AWAY = ServerRef("console", "away", "away")
BACKROOM = restricted(HOME, "backroom", "ana", "ben")
THREAD = Spot(
    HOME,
    ChannelRef("home/backroom/plans", "plans", Visibility.RESTRICTED, BACKROOM.channel.external_id, "backroom"),
    BACKROOM.readers,
)
UNKNOWN = Spot(HOME, ChannelRef("home/odd", "odd", Visibility.UNKNOWN), frozenset({"ana", "cleo"}))
SPOTS = (
    Spot(HOME, GENERAL, EVERYBODY),
    BACKROOM,
    THREAD,
    restricted(HOME, "attic", "ben", "cleo"),
    UNKNOWN,
    Spot(AWAY, ChannelRef("away/general", "general"), EVERYBODY),
    restricted(AWAY, "backroom", "ana", "ben"),
    *map(direct, PEOPLE),
)


@dataclass(frozen=True)
class Planted:
    marker: str
    spot: Spot
    about: Author | None
    """Whose personal memory it is; None: the server's."""

    def may_be_read_by(self, readers: frozenset[str], server: ServerRef) -> bool:
        """Tell who may know it: whoever could read it where it was said, and what is said openly about a person goes
        with that person, what is said openly in a server stays in it."""
        if self.about is None and server != self.spot.server:
            return False
        return self.spot.is_public or readers <= self.spot.readers


async def plant(house: House, luck: random.Random, count: int) -> list[Planted]:
    planted = []
    for number in range(count):
        spot = luck.choice(SPOTS)
        speaker = luck.choice(list(spot.speakers()))
        about = luck.choice([None, speaker])
        marker = f"marker{number}x{luck.randrange(10**6)}"
        content = f"{marker} {{user}}" if luck.random() < 0.5 else marker
        result, _ = await house.remember(
            content, None if about is None else "me", speaker, channel=spot.channel, server=spot.server
        )
        assert result.status == "memory_saved_successfully"
        planted.append(Planted(marker, spot, about))
    return planted


@pytest.mark.parametrize("seed", range(3))
async def test_nobody_reads_what_was_not_said_to_them(house: House, seed: int) -> None:
    await look_everywhere(house, random.Random(seed))


async def test_nor_when_it_is_called_back(database_url: str) -> None:
    """After 40 days everything is dormant, and only recall can bring it."""
    clock = ManualClock(NOW)
    async with running_agent(database_url, {**SETTINGS, "agent": {"embeddings": "local"}}, clock=clock) as agent:
        house = House(agent, clock)
        await look_everywhere(house, random.Random(7), days=40)


async def look_everywhere(house: House, luck: random.Random, days: int = 0) -> None:
    """Plant memories everywhere, and look for each of them in every place, as everybody there."""
    for spot in SPOTS:
        for who in spot.speakers():
            await house.agent.core.people.enter(spot.server, spot.channel, who, house.clock.now())
    planted = await plant(house, luck, 60)
    await house.agent.core.embedding_worker.idle()
    house.wait(days=days)
    shown = 0
    for spot in SPOTS:
        for who in spot.speakers():
            names = " and ".join(each.display_name for each in spot.speakers())
            asked = " ".join(one.marker for one in luck.sample(planted, 12)) if days else ""
            text = await house.prompt(who, f"what of {names}? {asked}", spot.server, spot.channel)
            text = text.replace(asked, "") if asked else text
            for one in planted:
                if one.marker in text:
                    shown += 1
                    assert one.may_be_read_by(spot.readers, spot.server), (one, spot)
            for path, manages in ((("memories", "list"), True), (("personal", "memories", "list"), False)):
                author = person(who.display_name, manages=manages)
                for page in range(1, 9):
                    reply = await house.agent.run_command(path, {"page": page}, spot.server, spot.channel, author)
                    assert reply.private
                    for one in planted:
                        # The answer of a command is for its asker alone, and so is what stands in it.
                        assert one.marker not in reply.text or one.may_be_read_by(
                            frozenset({who.external_id}), spot.server
                        ), (one, spot, path)
    assert shown > (5 if days else 50)
