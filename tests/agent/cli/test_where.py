from datetime import UTC, datetime

import pytest

from agent.cli.errors import CallRefused
from agent.cli.where import Asked, find_place
from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.identity.people import People
from agent.places import ChannelRef, ServerKind, ServerRef, Visibility
from agent.store.pool import Store
from agent.terminal import Whereabouts

NOW = datetime(2026, 3, 1, tzinfo=UTC)
GUILD = ServerRef("discord", "100", "Tea House")
STAFF = ChannelRef("200", "staff", Visibility.RESTRICTED)
BEN = Author(ParticipantKind.DISCORD_USER, "300", "Ben", "ben_300")


@pytest.fixture
async def seen(store: Store) -> Store:
    people = People(store)
    await people.enter(GUILD, STAFF, BEN, NOW)
    await people.enter(GUILD, ChannelRef("201", "tea"), Author(ParticipantKind.DISCORD_USER, "301", "Cleo"), NOW)
    where = Whereabouts("Ana").in_channel("random")
    await people.enter(where.server_ref, where.channel_ref, where.author, NOW)
    thread = where.in_thread("plans")
    await people.enter(thread.server_ref, thread.channel_ref, thread.author, NOW)
    return store


async def test_the_terminal_is_the_default(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "dora")
    spot = await find_place(store, Asked())
    where = Whereabouts("dora")
    assert (spot.server, spot.channel, spot.author) == (where.server_ref, where.channel_ref, where.author)


async def test_names_that_nobody_bears_yet_are_the_terminals(store: Store) -> None:
    spot = await find_place(store, Asked("work", "#ideas/plans", "@Eve"))
    where = Whereabouts("Eve").in_server("work").in_channel("ideas").in_thread("plans")
    assert (spot.server, spot.channel, spot.author) == (where.server_ref, where.channel_ref, where.author)


@pytest.mark.parametrize(
    "asked",
    [
        Asked("discord:100", "discord:200", "discord:300"),
        Asked("tea house", "staff", "ben"),
        Asked("Tea House", "#Staff", "@BEN"),
        Asked("100", "200", "ben_300"),
    ],
)
async def test_what_has_been_seen_is_found_by_id_or_name(seen: Store, asked: Asked) -> None:
    spot = await find_place(seen, asked)
    assert (spot.server, spot.channel, spot.author) == (GUILD, STAFF, BEN)


@pytest.mark.parametrize(
    ("channel", "external_id"),
    [
        ("random", "home/random"),
        ("console:home/random", "home/random"),
        ("plans", "home/random/plans"),
        ("random/plans", "home/random/plans"),
        ("home/random/plans", "home/random/plans"),
        ("general", "home/general"),
    ],
)
async def test_channels_and_threads_of_the_terminal(seen: Store, channel: str, external_id: str) -> None:
    spot = await find_place(seen, Asked(channel=channel))
    assert spot.channel.external_id == external_id
    assert (spot.channel.parent_external_id is None) == (not external_id.endswith("plans"))


async def test_a_direct_conversation_is_named_by_its_person(seen: Store) -> None:
    spot = await find_place(seen, Asked("@Ana", None, "Ana"))
    assert spot.server == ServerRef("console", "@ana", "@Ana", ServerKind.DIRECT)
    assert spot.channel.visibility is Visibility.DIRECT


async def test_a_name_of_several_is_refused_with_the_choice(seen: Store) -> None:
    people = People(seen)
    where = Whereabouts("Ben")
    await people.enter(where.server_ref, where.channel_ref, where.author, NOW)
    with pytest.raises(CallRefused, match=r"console:ben \(Ben\), discord:300 \(Ben\)"):
        await find_place(seen, Asked(person="ben"))
    assert (await find_place(seen, Asked(person="console:ben"))).author.key.kind is ParticipantKind.CONSOLE_USER


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Asked("discord:999"), "no server with that id"),
        (Asked(person="discord:999"), "nobody with that id"),
        (Asked("discord:100", "nowhere"), "no such channel of Tea House"),
        (Asked("discord:100", "console:home/general"), "it is on console, and the server on discord"),
        (Asked("discord:100"), "may mean discord:200"),
        (Asked("discord:"), "lacks the id"),
        (Asked(person=""), "cannot be empty"),
        (Asked(channel="a/b/c/d"), "CHANNEL/THREAD"),
        (Asked("x" * 200), "at most 80 characters"),
    ],
)
async def test_what_cannot_be_meant_is_refused(seen: Store, asked: Asked, said: str) -> None:
    with pytest.raises(CallRefused, match=said):
        await find_place(seen, asked)


async def test_names_are_never_part_of_a_statement(seen: Store) -> None:
    spot = await find_place(seen, Asked("'; drop table servers; --", "%", "_"))
    assert spot.server.name == "'; drop table servers; --"
