import asyncio
import time
from datetime import timedelta
from statistics import median

import pytest

from agent.contracts.people import PrivacyLevel, Speaker
from agent.events import Author
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.people import Entrance, People
from agent.places import ChannelRef, ServerKind, ServerRef, Visibility
from agent.store.pool import ExternalServer, Store
from tests.agent.identity.builders import GENERAL, HOME, NOW, author

SECOND = ServerRef("console", "second", "Second")
ELSEWHERE = ChannelRef("second/general", "general")


@pytest.fixture
def people(store: Store) -> People:
    return People(store)


async def enter(people: People, name: str, display: str | None = None, username: str | None = None) -> Entrance:
    return await people.enter(HOME, GENERAL, author(name, display, username), NOW)


async def execute(store: Store, statement: str, *arguments: object) -> None:
    async with store.connection() as connection:
        await connection.execute(statement, *arguments)


async def value(store: Store, statement: str, *arguments: object) -> object:
    async with store.connection() as connection:
        result: object = await connection.fetchval(statement, *arguments)
        return result


async def test_who_enters_for_the_first_time_is_registered(people: People) -> None:
    first = await enter(people, "ana", "Ana", "ana.m")
    assert first.is_new
    assert not first.blacklisted
    assert first.place.server.ref == HOME
    assert first.place.channel.ref == GENERAL
    assert first.account.user_id is not None
    assert first.account.key == ParticipantKey(ParticipantKind.CONSOLE_USER, "ana")
    assert (first.account.display_name, first.account.username) == ("Ana", "ana.m")
    assert first.account.privacy is PrivacyLevel.NONE
    again = await enter(people, "ana", "Ana", "ana.m")
    assert not again.is_new
    assert (again.account, again.place, again.revision) == (first.account, first.place, first.revision)


async def test_people_of_two_kinds_with_one_id_are_two(people: People) -> None:
    ids = set()
    for kind in (ParticipantKind.DISCORD_USER, ParticipantKind.WEBHOOK, ParticipantKind.BOT):
        entrance = await people.enter(HOME, GENERAL, Author(kind, "42", "Same"), NOW)
        ids.add(entrance.account.account_id)
        assert (entrance.account.user_id is not None) == (kind is ParticipantKind.DISCORD_USER)
    assert len(ids) == 3
    assert len(await people.find("console", "42")) == 3


async def test_one_account_in_two_servers(people: People) -> None:
    here = await enter(people, "ana", "Ana")
    there = await people.enter(SECOND, ELSEWHERE, author("ana", "Dr. Ana"), NOW)
    assert there.account.account_id == here.account.account_id
    assert there.account.display_name == "Dr. Ana"
    assert not there.is_new
    assert (await enter(people, "ana", "Ana")).account.display_name == "Ana"


async def test_a_quiet_entrance_writes_nothing(people: People, store: Store) -> None:
    await enter(people, "ana", "Ana")
    await people.enter(SECOND, ELSEWHERE, author("ana", "Dr. Ana"), NOW)
    rows = "SELECT array_agg(xmin::text ORDER BY 1) FROM (SELECT xmin FROM {}) x"
    tables = ("servers", "channels", "accounts", "names", "personas", "users")
    before = [await value(store, rows.format(table)) for table in tables]
    for minutes in (0, 1, 59):
        await people.enter(HOME, GENERAL, author("ana", "Ana"), NOW + timedelta(minutes=minutes))
        await people.enter(SECOND, ELSEWHERE, author("ana", "Dr. Ana"), NOW + timedelta(minutes=minutes))
    assert [await value(store, rows.format(table)) for table in tables] == before
    await people.enter(HOME, GENERAL, author("ana", "Ana"), NOW + timedelta(hours=2))
    assert await value(store, "SELECT last_seen_at FROM accounts") == NOW + timedelta(hours=2)


async def test_renames_are_kept_and_make_caches_stale(people: People, store: Store) -> None:
    first = await enter(people, "ana", "Ana", "ana.m")
    renamed = await enter(people, "ana", "Anna", "ana.m")
    assert renamed.account.display_name == "Anna"
    assert renamed.revision > first.revision
    assert await value(store, "SELECT display_name FROM accounts") == "Anna"
    owner = f"user:{first.account.user_id}"
    assert await value(store, "SELECT revision FROM owner_revisions WHERE owner = $1", owner) == 1
    server_id = first.place.server.server_id
    (entry,) = (await people.members(server_id)).entries
    assert [(name.source, name.value, name.normalised) for name in entry.names] == [
        ("guild", "Anna", "anna"),
        ("username", "ana.m", "ana.m"),
    ]
    channel = ChannelRef(GENERAL.external_id, "lobby", Visibility.RESTRICTED)
    moved = await people.enter(ServerRef("console", "home", "Casa"), channel, author("ana", "Anna"), NOW)
    assert moved.place.server.server_id == server_id
    assert moved.place.channel.channel_id == first.place.channel.channel_id
    assert moved.revision > renamed.revision
    assert moved.account.username == "ana.m"
    stored = "SELECT s.name || '/' || c.name || '/' || c.visibility FROM servers s JOIN channels c USING (server_id)"
    assert await value(store, stored) == "Casa/lobby/restricted"


async def test_a_thread_keeps_its_parent(people: People, store: Store) -> None:
    thread = ChannelRef("t1", "thread", Visibility.EVERYONE, "home/general", "general")
    entrance = await people.enter(HOME, thread, author("ana"), NOW)
    assert entrance.place.channel.ref == thread
    assert await value(store, "SELECT parent_external_id || ':' || parent_name FROM channels") == "home/general:general"


async def test_a_return_cancels_the_purge_of_a_server(people: People, store: Store) -> None:
    await enter(people, "ana")
    await execute(store, "UPDATE servers SET purge_after = $1", NOW)
    await enter(people, "ana")
    assert await value(store, "SELECT purge_after FROM servers") is None


async def test_privacy_blacklist_and_forgetting_are_read_afresh(people: People, store: Store) -> None:
    await enter(people, "ana")
    await execute(store, "UPDATE accounts SET privacy_level = 'full', forgotten_before = $1", NOW)
    await execute(store, "INSERT INTO server_blacklist SELECT server_id, account_id, $1 FROM servers, accounts", NOW)
    entrance = await enter(people, "ana")
    assert entrance.blacklisted
    assert entrance.account.privacy is PrivacyLevel.FULL
    assert entrance.account.forgotten_before == NOW


async def test_a_linked_account_on_the_blacklist_counts(people: People, store: Store) -> None:
    ana, other = await enter(people, "ana"), await enter(people, "ana-too")
    await execute(store, "UPDATE accounts SET user_id = $1", ana.account.user_id)
    await execute(
        store, "INSERT INTO server_blacklist SELECT server_id, $1, $2 FROM servers", other.account.account_id, NOW
    )
    assert (await enter(people, "ana")).blacklisted


@pytest.mark.parametrize(
    ("display", "shown"),
    [
        ("", "user x"),
        ("\u200b", "user x"),
        ("a\x00b\ud800", "ab\ufffd"),
        ("two\nlines", "two lines"),
        ("x" * 1_000_000, "x" * 63 + "…"),
        ("\u202eReverse", "Reverse"),
        ("e" + "\u0301" * 10_000, "e" + "\u0301" * 62 + "…"),
    ],
)
async def test_awkward_names_are_made_safe(people: People, display: str, shown: str) -> None:
    entrance = await enter(people, "x", display, display)
    assert entrance.account.display_name == shown
    (entry,) = (await people.members(entrance.place.server.server_id)).entries
    assert entry.account.display_name == shown


async def test_awkward_place_names_are_made_safe(people: People) -> None:
    server = ServerRef("console", "dm/ana", "\x00", ServerKind.DIRECT)
    entrance = await people.enter(server, ChannelRef("c", "\u202e\n", Visibility.DIRECT), author("ana"), NOW)
    assert (entrance.place.server.ref.name, entrance.place.channel.ref.name) == ("dm/ana", "c")
    assert entrance.place.server.is_direct


@pytest.mark.parametrize("identifier", ["", "a\x00", "a\nb", " a", "\ud800", "x" * 256])
async def test_what_is_no_id_is_refused(people: People, identifier: str) -> None:
    with pytest.raises(ValueError, match="the account id"):
        await enter(people, identifier, "Ana")
    with pytest.raises(ValueError, match="the server id"):
        await people.enter(ServerRef("console", identifier, "x"), GENERAL, author("ana"), NOW)
    with pytest.raises(ValueError, match="the channel id"):
        await people.enter(HOME, ChannelRef(identifier, "x"), author("ana"), NOW)


async def test_many_enter_at_once_from_several_pools_and_each_gets_one_row(database_url: str) -> None:
    stores = [Store(ExternalServer(database_url), size=8) for _ in range(3)]
    for each in stores:
        await each.open()
    try:
        entrances = await asyncio.gather(
            *(
                People(stores[number % 3]).enter(HOME, GENERAL, author(f"p{number % 5}", f"P{number % 4}"), NOW)
                for number in range(90)
            )
        )
        assert len({entrance.account.account_id for entrance in entrances}) == 5
        assert len({entrance.account.user_id for entrance in entrances}) == 5
        assert sum(entrance.is_new for entrance in entrances) == 5
        for table, count in (("servers", 1), ("channels", 1), ("users", 5), ("personas", 1), ("names", 5)):
            assert await value(stores[0], f"SELECT count(*) FROM {table}") == count  # noqa: S608  # names of ours
    finally:
        for each in stores:
            await each.close()


async def test_entering_is_quick(people: People) -> None:
    await enter(people, "ana", "Ana", "ana")
    times = []
    for _ in range(200):
        start = time.perf_counter()
        await enter(people, "ana", "Ana", "ana")
        times.append(time.perf_counter() - start)
    assert median(times) < 0.005, "a quiet entrance is one round trip"


async def test_participants(people: People, store: Store) -> None:
    ben, ana, twin, zoe = [
        await enter(people, name, display)
        for name, display in (("ben", "Ben"), ("ana", "Ana"), ("ana2", "ana"), ("zoe", "Zoe"))
    ]
    await execute(store, "UPDATE accounts SET privacy_level = 'full' WHERE external_id = 'zoe'")
    await execute(
        store, "INSERT INTO server_blacklist SELECT server_id, $1, $2 FROM servers", twin.account.account_id, NOW
    )
    keys = [each.account.key for each in (ben, twin, ana, zoe, ben)]
    unknown = ParticipantKey(ParticipantKind.CONSOLE_USER, "nobody")
    found = await people.participants(ben.place, [*keys, unknown])
    assert [(each.handle, each.label, each.blacklisted, each.may_be_remembered) for each in found] == [
        ("ben", "Ben", False, True),
        ("ana~2", "ana", True, False),
        ("ana", "Ana", False, True),
    ]
    assert found[0].account == ben.account
    assert found[0].speaker == Speaker(ben.account.key, ben.account.user_id, "Ben")
    speaking = await people.participants(ben.place, [zoe.account.key, ben.account.key])
    assert [each.label for each in speaking] == ["Zoe", "Ben"]
    assert await people.participants(ben.place, []) == ()


async def test_a_proxied_speaker_and_reserved_names(people: People) -> None:
    ana = await enter(people, "ana", "Mirri")
    speaker = Speaker(ParticipantKey(ParticipantKind.PROXY_IDENTITY, "u-1"), 77, "Kit")
    (kit,) = await people.participants(ana.place, [ana.account.key], speaker)
    assert (kit.handle, kit.label, kit.speaker, kit.account) == ("kit", "Kit", speaker, ana.account)
    (plain,) = await people.participants(ana.place, [ana.account.key], reserved=["Mirri"])
    assert plain.handle == "mirri~2"


async def test_find(people: People) -> None:
    ana = await enter(people, "ana", "Ana")
    assert await people.find("console", "ana") == (ana.account,)
    assert await people.find("console", "nobody") == ()
    assert await people.find("discord", "ana") == ()
    assert await people.find("console", "a\x00\ud800") == ()


async def test_known_names_in_a_text(people: People, store: Store) -> None:
    ana, _, _, zoe, cat = [
        await enter(people, name, display)
        for name, display in (
            ("ana", "Ana María"),
            ("ben", "Ben"),
            ("ben2", "ben"),
            ("zoe", "Zoe"),
            ("cat", "Cat"),
        )
    ]
    place = ana.place

    async def named(text: str) -> list[str]:
        return [account.key.id for account in await people.known_names_in(text, place)]

    assert await named("what does ana maría's sister like?") == ["ana"]
    assert await named("what does Ana like?") == []
    assert await named("Ben?") == []
    assert await named("Zoe and Cat, Ana María") == ["ana", "zoe", "cat"]
    await execute(store, "UPDATE accounts SET privacy_level = 'partial' WHERE external_id = 'zoe'")
    await execute(
        store, "INSERT INTO server_blacklist SELECT server_id, $1, $2 FROM servers", cat.account.account_id, NOW
    )
    assert await named("Zoe and Cat, Ana María") == ["ana"]
    assert await named("") == []
    assert await named("a\x00b \ud800") == []
    there = await people.enter(SECOND, ELSEWHERE, author("dan", "Dan"), NOW)
    assert await people.known_names_in("Ana María", there.place) == ()
    assert zoe.account.account_id


async def test_people_are_offered_by_how_their_names_begin(people: People, store: Store) -> None:
    ana = await enter(people, "ana", "Ana María")
    await enter(people, "anselm", "Ans", "andi")
    await enter(people, "cat", "Cat")
    server_id = ana.place.server.server_id

    async def offered(letters: str) -> list[str]:
        return [account.display_name for account in await people.beginning(server_id, letters)]

    assert await offered("AN") == ["Ans", "Ana María"]
    assert await offered("and") == ["Ans"]
    assert await offered("%") == []
    assert await offered("a\x00\ud800") == await offered("a")
    await execute(store, "UPDATE accounts SET privacy_level = 'full' WHERE external_id = 'anselm'")
    assert await offered("an") == ["Ana María"]
    assert len(await offered("")) == 2
    there = await people.enter(SECOND, ELSEWHERE, author("dan", "Dan"), NOW)
    assert await people.beginning(there.place.server.server_id, "an") == ()
