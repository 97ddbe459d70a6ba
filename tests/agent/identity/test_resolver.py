from dataclasses import replace

import pytest

from agent.contracts.people import PrivacyLevel
from agent.events import Author
from agent.identity.directory import Scope
from agent.identity.keys import ParticipantKind
from agent.identity.people import People
from agent.identity.resolver import Resolver
from agent.identity.results import Ambiguous, BridgeUser, NotFound, Resolved, Step
from agent.places import ChannelRef, Place, ServerRef
from agent.store.pool import Store
from tests.agent.identity.builders import GENERAL, HOME, NOW, PERSONA, author


class Town:
    """A server with people, and what is said in it."""

    def __init__(self, store: Store) -> None:
        self.people = People(store)
        self.resolver = Resolver(self.people)

    async def arrive(self, *authors: Author) -> Place:
        places = [(await self.people.enter(HOME, GENERAL, each, NOW)).place for each in authors]
        return places[0]

    async def scope(self, place: Place, *present: Author) -> Scope:
        people = await self.people.participants(place, [each.key for each in present])
        return Scope(place, people, PERSONA, PERSONA.nickname, people[0] if people else None)


ANA, BEN, TWIN = author("ana", "Ana", "ana.m"), author("ben", "Ben"), author("ana2", "Ana")
MAT = Author(ParticipantKind.MATRIX_USER, "@mat:example.org", "Mat")


@pytest.fixture
def town(store: Store) -> Town:
    return Town(store)


async def test_results_come_from_the_server(town: Town) -> None:
    place = await town.arrive(ANA, BEN, MAT)
    scope = await town.scope(place, BEN)
    for name in ("Ana", " ANA ", "ana.m", "<@ana>"):
        result = await town.resolver.resolve(name, scope)
        assert isinstance(result, Resolved), name
        assert result.account.key == ANA.key
        assert result.user_id == result.account.user_id
    for name in ("mat", "@mat:example.org"):
        result = await town.resolver.resolve(name, scope)
        assert isinstance(result, BridgeUser), name
        assert (result.account.key, result.display_name, result.bridge) == (MAT.key, "Mat", "relay")


async def test_twins(town: Town) -> None:
    place = await town.arrive(ANA, BEN, TWIN)
    result = await town.resolver.resolve("ana", await town.scope(place, BEN, ANA, TWIN))
    assert isinstance(result, Ambiguous)
    assert [each.handle for each in result.candidates] == ["@{ana}", "@{ana~2}"]
    alone = await town.resolver.resolve("ana", await town.scope(place, BEN, TWIN))
    assert isinstance(alone, Resolved)
    assert alone.account.key == TWIN.key


async def test_people_of_other_servers_are_not_found(town: Town) -> None:
    other = await town.people.enter(ServerRef("console", "other", "Other"), ChannelRef("o", "o"), ANA, NOW)
    place = await town.arrive(BEN)
    scope = await town.scope(place, BEN)
    for name in ("Ana", "<@ana>", "ana.m", "@{ana}"):
        assert isinstance(await town.resolver.resolve(name, scope), NotFound), name
    there = await town.resolver.resolve("Ana", await town.scope(other.place))
    assert isinstance(there, Resolved)


async def test_near_names_are_suggested_and_never_taken(town: Town, store: Store) -> None:
    place = await town.arrive(author("d", "Daniel"), author("k", "Katharina"), BEN)
    scope = await town.scope(place, BEN)
    result = await town.resolver.resolve("Daniela", scope)
    assert isinstance(result, NotFound)
    assert [(each.label, each.name) for each in result.suggestions] == [("Daniel", "Daniel")]
    async with store.connection() as connection:
        await connection.execute("UPDATE accounts SET privacy_level = $1 WHERE external_id = 'k'", PrivacyLevel.FULL)
    hidden = await town.resolver.resolve("Katharine", scope)
    assert hidden == NotFound("Katharine")


@pytest.mark.parametrize(
    "name", ["", " ", "\x00", "\ud800", "x" * 1_000_000, "e" + "\u0301" * 10_000, "<@", "@{", "%_"]
)
async def test_awkward_names_are_not_found(town: Town, name: str) -> None:
    place = await town.arrive(BEN)
    assert isinstance(await town.resolver.resolve(name, await town.scope(place, BEN)), NotFound)


async def test_a_name_that_looks_like_another_means_nobody(town: Town) -> None:
    twin, latin = author("twin", "\u0412en", "other"), author("b", "Ben", "ben.m")
    place = await town.arrive(latin, twin, ANA)
    scope = await town.scope(place, ANA, latin)
    for name in ("Ben", "ben", "\u0412en", "(Ben)", "@Ben"):
        result = await town.resolver.resolve(name, scope)
        assert isinstance(result, Ambiguous), name
        assert result.step is Step.LOOK
        assert {(each.key, each.reference) for each in result.candidates} == {
            (latin.key, "@{ben}"),
            (twin.key, "<@twin>"),
        }
    for name, meant in (("<@twin>", twin), ("console_user:twin", twin), ("@{ben}", latin), ("ben.m", latin)):
        resolved = await town.resolver.resolve(name, scope)
        assert isinstance(resolved, Resolved), name
        assert resolved.account.key == meant.key


async def test_who_looks_like_the_agent_is_not_the_agent(town: Town) -> None:
    place = await town.arrive(author("m", "M\u0456rri"), BEN)
    scope = await town.scope(place, BEN)
    result = await town.resolver.resolve("Mirri", scope)
    assert isinstance(result, Ambiguous)
    assert [each.reference for each in result.candidates] == ["{bot}", "<@m>"]
    assert isinstance(await town.resolver.resolve("M\u0456rri", scope), Ambiguous)


async def test_an_affix_of_the_persona_is_no_part_of_the_name(town: Town) -> None:
    place = await town.arrive(ANA, BEN, author("k", "Katharina"))
    scope = replace(await town.scope(place, BEN), persona=replace(PERSONA, affixes=("master", "-chan")))
    for name in ("master Ana", "Ana-chan", "Master ana-chan", '"Ana"', "[master Ana]"):
        result = await town.resolver.resolve(name, scope)
        assert isinstance(result, Resolved), name
        assert (result.account.key, result.step) == (ANA.key, Step.AFFIX)
    missed = await town.resolver.resolve("master Katarina", scope)
    assert isinstance(missed, NotFound)
    assert (missed.name, [each.label for each in missed.suggestions]) == ("master Katarina", ["Katharina"])
