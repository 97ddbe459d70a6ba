"""What bridges tell of members, channels and servers."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from agent.directory_changes import (
    ChannelChanged,
    ChannelRemoved,
    DirectoryChange,
    Member,
    MemberLeft,
    MembersSeen,
    ServerJoined,
    ServerLeft,
)
from agent.identity.arrivals import KEPT, Arrivals
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.people import People
from agent.invalidation import Invalidation
from agent.places import ChannelRef, ServerRef, Visibility
from agent.store.pool import ExternalServer, Store
from tests.agent.identity.builders import GENERAL, HOME, NOW, author
from tests.clocks import ManualClock

type Names = dict[str, dict[str, str]]


class Town:
    """A server that a bridge tells of."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.clock = ManualClock(NOW)
        self.people = People(store)
        self.arrivals = Arrivals(store, Invalidation(store), self.clock)

    async def observe(self, change: DirectoryChange) -> None:
        await self.arrivals.observe(change)

    async def see(self, *members: Member, complete: bool = False, server: ServerRef = HOME) -> None:
        await self.observe(MembersSeen(server, members, is_complete=complete))

    async def server_id(self, server: ServerRef = HOME) -> int:
        return int(await self.value("SELECT server_id FROM servers WHERE external_id = $1", server.external_id))

    async def names(self, server: ServerRef = HOME) -> Names:
        entries = (await self.people.members(await self.server_id(server))).entries
        return {each.account.key.id: {name.source.value: name.value for name in each.names} for each in entries}

    async def found(self, name: str) -> list[str]:
        return [each.account.key.id for each in (await self.people.bearers(await self.server_id(), name)).entries]

    async def near(self, name: str) -> list[str]:
        return [each.account.key.id for each in (await self.people.near(await self.server_id(), name)).entries]

    async def value(self, statement: str, *arguments: object) -> Any:
        async with self.store.connection() as conn:
            return await conn.fetchval(statement, *arguments)

    async def execute(self, statement: str, *arguments: object) -> None:
        async with self.store.connection() as conn:
            await conn.execute(statement, *arguments)


def member(name: str, shown: str = "", other: str | None = None, username: str | None = None) -> Member:
    return Member(ParticipantKind.DISCORD_USER, name, shown or name, other, username)


def left(name: str, server: ServerRef = HOME) -> MemberLeft:
    return MemberLeft(server, ParticipantKey(ParticipantKind.DISCORD_USER, name))


@pytest_asyncio.fixture
async def town(store: Store) -> AsyncIterator[Town]:
    yield Town(store)


ANA = member("1", "Ana", "Ana Global", "ana.m")


async def test_members_are_known_by_every_name(town: Town) -> None:
    await town.see(ANA, member("2", "Ben"))
    assert await town.names() == {
        "1": {"guild": "Ana", "global": "Ana Global", "username": "ana.m"},
        "2": {"guild": "Ben"},
    }
    for name in ("ana", "ANA GLOBAL", "@ana.m"):
        assert await town.found(name) == ["1"], name
    (entry,) = (await town.people.bearers(await town.server_id(), "ana")).entries
    assert entry.account.user_id is not None, "memories about a member who has said nothing yet must have an owner"
    assert entry.account.username == "ana.m"
    assert (await town.people.enter(HOME, GENERAL, author("x"), NOW)).place.server.server_id == await town.server_id()


async def test_telling_it_again_writes_nothing(town: Town) -> None:
    members = [member(str(number), f"Person {number}", f"Global {number}", f"user{number}") for number in range(30)]
    await town.see(*members)
    rows = "SELECT array_agg((n.xmin::text, a.xmin::text) ORDER BY n.ctid) FROM names n NATURAL JOIN accounts a"
    revisions = "SELECT array_agg((owner, revision) ORDER BY owner) FROM owner_revisions"
    before = [await town.value(rows), await town.value(revisions)]
    await town.see(*members, complete=True)
    await town.see(members[0], members[0])
    assert [await town.value(rows), await town.value(revisions)] == before


async def test_a_rename_is_one_change(town: Town) -> None:
    await town.see(ANA, member("2", "Ben"))
    await town.see(member("1", "Anna", None, "ana.m"))
    assert (await town.names())["1"] == {"guild": "Anna", "username": "ana.m"}
    assert (await town.found("ana"), await town.found("anna")) == ([], ["1"])
    await town.see(member("1", "Anna"))
    assert (await town.names())["1"] == {"guild": "Anna", "username": "ana.m"}, "a username that is not told stays"
    user = await town.value("SELECT user_id FROM accounts WHERE external_id = '1'")
    owners = [f"server:{await town.server_id()}", f"user:{user}"]
    assert await town.value("SELECT count(*) FROM owner_revisions WHERE owner = ANY ($1)", owners) == 2


async def test_who_left_is_not_found_until_the_return(town: Town) -> None:
    await town.see(ANA, member("2", "Anna"))
    await town.execute(
        "INSERT INTO names SELECT account_id, $1, 'nickname', 'Annie', 'annie', $2 FROM accounts "
        "WHERE external_id = '1'",
        await town.server_id(),
        NOW,
    )
    assert await town.near("annae") == ["1", "2"]
    await town.observe(left("1"))
    await town.observe(left("1"))
    await town.observe(left("nobody"))
    assert set(await town.names()) == {"2"}
    assert [await town.found(name) for name in ("ana", "ana global", "ana.m", "annie")] == [[], [], [], []]
    assert await town.near("ana m") == []
    assert await town.near("annae") == ["2"]
    assert await town.value("SELECT display_name FROM accounts WHERE external_id = '1'") == "Ana"
    await town.see(ANA)
    assert await town.found("annie") == ["1"], "the saved nickname came back with the person"
    assert await town.near("annae") == ["1", "2"]


async def test_who_speaks_has_returned(town: Town) -> None:
    entrance = await town.people.enter(HOME, GENERAL, author("ana", "Ana", "ana.m"), NOW)
    await town.observe(MemberLeft(HOME, entrance.account.key))
    assert await town.found("ana.m") == []
    again = await town.people.enter(HOME, GENERAL, author("ana", "Ana", "ana.m"), NOW)
    assert again.account == entrance.account
    assert (await town.found("ana"), await town.found("ana.m")) == (["ana"], ["ana"])


async def test_a_complete_list_says_who_left(town: Town) -> None:
    await town.people.enter(HOME, GENERAL, author("terminal", "Terminal"), NOW)
    await town.see(ANA, member("2", "Ben"), member("3", "Cleo"))
    await town.see(ANA, member("4", "Dora"), complete=True)
    assert set(await town.names()) == {"1", "4", "terminal"}, "of other kinds nothing was told"


async def test_people_of_two_servers(town: Town) -> None:
    other = ServerRef("console", "other", "Other")
    await town.see(ANA)
    await town.see(member("1", "Annie", "Ana Global", "ana.m"), server=other)
    await town.see(ANA)
    assert (await town.names())["1"]["guild"] == "Ana"
    assert (await town.names(other))["1"]["guild"] == "Annie"
    await town.observe(left("1", other))
    assert (set(await town.names()), set(await town.names(other))) == ({"1"}, set())
    assert await town.value("SELECT count(*) FROM accounts") == 1


async def test_bots_are_not_kept(town: Town) -> None:
    bot = Member(ParticipantKind.DISCORD_USER, "9", "Ana", username="robot", is_bot=True)
    await town.see(ANA, bot)
    assert await town.found("ana") == ["1"]
    await town.see(member("9", "Ana"))
    assert await town.found("ana") == ["1", "9"]
    await town.see(bot)
    assert await town.found("ana") == ["1"], "it turned out to be a bot"


async def test_who_was_forgotten_is_not_written_down_by_a_list(town: Town) -> None:
    await town.see(ANA)
    await town.execute("UPDATE accounts SET display_name = '', username = NULL, forgotten_before = $1", NOW)
    await town.execute("DELETE FROM names")
    await town.see(ANA, member("2", "Ben"), complete=True)
    assert set(await town.names()) == {"2"}
    assert await town.value("SELECT display_name FROM accounts WHERE external_id = '1'") == ""


@pytest.mark.parametrize("name", ["", "\u200b", "a\nb", "\x00", "\u202eevil", "x" * 1000, "😀", "everyone"])
async def test_names_of_every_kind(town: Town, name: str) -> None:
    await town.see(member("1", name, name, name or None))
    assert (await town.names())["1"]["guild"]


async def test_an_id_that_is_none_does_not_keep_others_out(town: Town) -> None:
    await town.see(member(""), member("x" * 256), member("a\nb"), member("2", "Ben"))
    assert set(await town.names()) == {"2"}
    with pytest.raises(ValueError, match="server id ''"):
        await town.see(ANA, server=ServerRef("console", "", "None"))


async def test_channels_are_renamed_and_removed(town: Town) -> None:
    thread = ChannelRef("home/plans", "plans", Visibility.EVERYONE, "home/general", "general")
    await town.people.enter(HOME, GENERAL, author("ana"), NOW)
    await town.people.enter(HOME, thread, author("ana"), NOW)
    await town.observe(ChannelChanged(HOME, ChannelRef("home/general", "lounge", Visibility.RESTRICTED)))
    await town.observe(ChannelChanged(HOME, ChannelRef("home/unknown", "unknown")))
    names = "SELECT array_agg(ARRAY[name, visibility, parent_name] ORDER BY external_id) FROM channels"
    assert await town.value(names) == [["lounge", "restricted", None], ["plans", "everyone", "lounge"]]
    await town.observe(ChannelRemoved(HOME, "home/general"))
    await town.observe(ChannelRemoved(HOME, "home/general"))
    assert await town.value("SELECT count(*) FROM channels") == 0


async def test_a_server_that_is_left_goes_after_thirty_days(town: Town) -> None:
    other = ServerRef("console", "other", "Other")
    await town.see(ANA)
    await town.see(ANA, server=other)
    gone = await town.server_id()
    await town.observe(ServerLeft(HOME))
    town.clock.advance(timedelta(days=10))
    await town.observe(ServerLeft(HOME))
    await town.observe(ServerLeft(ServerRef("console", "never", "Never")))
    town.clock.advance(KEPT - timedelta(days=10, seconds=1))
    assert await town.arrivals.purge() == 0
    town.clock.advance(timedelta(seconds=1))
    assert await town.arrivals.purge() == 1
    assert await town.value("SELECT array_agg(external_id) FROM servers") == ["other"]
    assert await town.value("SELECT count(*) FROM names WHERE server_id = $1", gone) == 0
    assert await town.value("SELECT count(*) FROM directory_changes WHERE server_id = $1", gone) == 0
    assert await town.value("SELECT count(*) FROM owner_revisions WHERE owner LIKE '%:' || $1::bigint", gone) == 0
    assert set(await town.names(other)) == {"1"}


@pytest.mark.parametrize("by", ["join", "members", "message"])
async def test_a_server_that_returns_is_kept(town: Town, by: str) -> None:
    await town.see(ANA)
    await town.observe(ServerLeft(HOME))
    match by:
        case "join":
            await town.observe(ServerJoined(HOME))
        case "members":
            await town.see(ANA)
        case _:
            await town.people.enter(HOME, GENERAL, author("x"), NOW)
    town.clock.advance(KEPT * 2)
    assert await town.arrivals.purge() == 0
    assert "1" in await town.names()


async def test_a_restart_knows_its_people(town: Town) -> None:
    await town.see(ANA)
    again = Town(town.store)
    assert (await again.names(), await again.near("ana globel")) == (await town.names(), ["1"])


THOUSANDS = [member(str(n), f"Person {n}", f"Global {n}", f"user.{n}") for n in range(3000)]


async def test_thousands_of_members_take_a_few_statements(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    statements = 0
    run = town.arrivals._run

    async def counted(query: str, *arguments: object) -> Sequence[Any]:
        nonlocal statements
        statements += 1
        return await run(query, *arguments)

    monkeypatch.setattr(town.arrivals, "_run", counted)
    await town.see(*THOUSANDS, complete=True)
    assert statements <= 2 + 2 * 6
    statements = 0
    await town.see(*THOUSANDS, complete=True)
    assert statements <= 2 + 6
    assert len(await town.names()) == 3000


async def test_changes_of_a_server_are_taken_in_order(town: Town) -> None:
    changes: list[DirectoryChange] = []
    for number in range(10):
        changes += [MembersSeen(HOME, (member("1", f"Ana {number}"),)), left("1")]
    await asyncio.gather(*map(town.observe, changes))
    assert await town.names() == {}
    await asyncio.gather(*map(town.observe, changes[:-1]))
    assert await town.names() == {"1": {"guild": "Ana 9"}}


async def test_bridges_and_speakers_of_three_processes_at_once(town: Town, database_url: str) -> None:
    stores = [Store(ExternalServer(database_url)) for _ in range(3)]
    for each in stores:
        await each.open()
    try:
        towns = [Town(each) for each in stores]
        everybody = [member(str(n), f"Person {n}", f"Global {n}", f"user{n}") for n in range(40)]
        names = [ServerRef("console", "home", f"Home {n}") for n in range(3)]

        async def stir(one: Town, number: int) -> None:
            for turn in range(4):
                order = everybody[number * 7 + turn :] + everybody[: number * 7 + turn]
                await one.see(*order, server=names[(number + turn) % 3], complete=turn % 2 == 0)
                await one.observe(left(str(turn)))
                speaker = author(f"s{turn}", f"Speaker {number}", f"user{turn}")
                await one.store.retrying(lambda s=speaker, n=number: one.people.enter(names[n], GENERAL, s, NOW))  # type: ignore[misc]
                await one.near(f"person {turn}x")

        await asyncio.gather(*(stir(one, number) for number, one in enumerate(towns)))
        await towns[0].see(*everybody)
        assert len(await town.names()) == 40 + 4
        assert await town.value("SELECT count(*) FROM accounts WHERE user_id IS NULL") == 0
        for one in towns:
            assert set(await one.near("person 17x")) >= {"17"}
    finally:
        for each in stores:
            await each.close()
