import random
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from agent.contracts.memory import MemoryScope
from agent.places import Audience, Channel, ChannelRef, Place, Server, ServerKind, ServerRef, Visibility
from agent.store.pool import Store
from plugins.memory.memory import Memory
from plugins.memory.rules import admits, applies, is_dormant
from tests.plugins.memory.world import NOW

SERVER_MEMORY = Memory(
    memory_id=1,
    scope=MemoryScope.SERVER,
    owner_id=7,
    lineage_id=1,
    content="a",
    audience=Audience.SERVER,
    channel_ids=(),
    scope_pending=False,
    subject_account_id=None,
    subject_user_id=None,
    source_platform="console",
    source_server_id=7,
    source_channel_id="c1",
    manually_written=False,
    last_reinforced_at=None,
    created_at=NOW,
    version=1,
    has_names=False,
)
PERSONAL_MEMORY = replace(SERVER_MEMORY, scope=MemoryScope.PERSONAL, owner_id=3, audience=Audience.OPEN)


def place(
    server: int = 7, channel: str = "c1", parent: str | None = None, *, direct: bool = False, platform: str = "console"
) -> Place:
    kind = ServerKind.DIRECT if direct else ServerKind.GUILD
    ref = ChannelRef(channel, channel, Visibility.DIRECT if direct else Visibility.EVERYONE, parent)
    return Place(Server(server, ServerRef(platform, "s", "S", kind)), Channel(1, ref))


@pytest.mark.parametrize(
    ("audience", "where", "admitted"),
    [
        (Audience.OPEN, place(), True),
        (Audience.OPEN, place(8), False),
        (Audience.SERVER, place(channel="c2"), True),
        (Audience.SERVER, place(8), False),
        (Audience.CHANNEL, place(), True),
        (Audience.CHANNEL, place(channel="thread", parent="c1"), True),
        (Audience.CHANNEL, place(channel="c2"), False),
        (Audience.CHANNEL, place(channel="c2", parent="c3"), False),
        (Audience.CHANNEL, place(platform="matrix"), False),
        (Audience.PERSON, place(), False),
        (Audience.PERSON, place(direct=True), True),
        (Audience.PERSON, place(8, direct=True), False),
    ],
)
def test_who_may_know_a_server_memory(audience: Audience, where: Place, admitted: bool) -> None:
    assert admits(replace(SERVER_MEMORY, audience=audience), where, (3, 4)) is admitted


@pytest.mark.parametrize(
    ("audience", "where", "readers", "admitted"),
    [
        (Audience.OPEN, place(8), (3, 4, None), True),
        (Audience.SERVER, place(), (3, 4), True),
        (Audience.SERVER, place(8), (3,), False),
        (Audience.CHANNEL, place(), (3, 4), True),
        (Audience.CHANNEL, place(channel="c2"), (3,), False),
        (Audience.PERSON, place(8, direct=True), (3,), True),
        (Audience.PERSON, place(8, direct=True), (3, 4), False),
        (Audience.PERSON, place(8, direct=True), (3, None), False),
        (Audience.PERSON, place(), (3,), False),
    ],
)
def test_who_may_know_a_personal_memory(
    audience: Audience, where: Place, readers: tuple[int | None, ...], admitted: bool
) -> None:
    assert admits(replace(PERSONAL_MEMORY, audience=audience), where, readers) is admitted


def test_what_lost_its_source_is_known_to_nobody() -> None:
    orphan = replace(PERSONAL_MEMORY, source_server_id=None, source_channel_id=None)
    assert not admits(replace(orphan, audience=Audience.SERVER), place(), (3,))
    assert not admits(replace(orphan, audience=Audience.CHANNEL), place(), (3,))


@pytest.mark.parametrize(
    ("channels", "pending", "where", "applies_here"),
    [
        ((), False, place(), True),
        (("c1",), False, place(), True),
        (("c2", "c1"), False, place(), True),
        (("c2",), False, place(), False),
        (("c2",), False, place(channel="thread", parent="c2"), True),
        (("thread",), False, place(channel="c2"), False),
        (("c2",), True, place(), True),
    ],
)
def test_where_a_memory_applies(channels: tuple[str, ...], pending: bool, where: Place, applies_here: bool) -> None:
    memory = replace(SERVER_MEMORY, channel_ids=channels, scope_pending=pending)
    assert applies(memory, where, channel_memory=True) is applies_here
    assert applies(memory, where, channel_memory=False)


def test_a_memory_sleeps_once_more_than_its_days_have_passed() -> None:
    days = timedelta(days=30)
    assert not is_dormant(None, NOW, NOW + days, 30)
    assert is_dormant(None, NOW, NOW + days + timedelta(microseconds=1), 30)
    assert not is_dormant(NOW + timedelta(days=1), NOW, NOW + days + timedelta(hours=1), 30)


async def test_sql_and_python_agree_on_what_sleeps(store: Store) -> None:
    dice = random.Random(20260301)

    def moment() -> datetime:
        return NOW + timedelta(microseconds=dice.randrange(100 * 86_400 * 10**6))

    edge = NOW + timedelta(days=30)
    asked: list[tuple[datetime | None, datetime, datetime, int]] = [
        (None, NOW, edge + timedelta(microseconds=step), 30) for step in (-1, 0, 1)
    ]
    asked += [(dice.choice((None, moment())), moment(), moment(), dice.randint(1, 100)) for _ in range(5000)]
    async with store.connection() as conn:
        answers = await conn.fetch(
            "SELECT memory_is_dormant(a.reinforced, a.created, a.now, a.days) AS dormant "
            "FROM unnest($1::timestamptz[], $2::timestamptz[], $3::timestamptz[], $4::int[]) "
            "WITH ORDINALITY AS a(reinforced, created, now, days, n) "
            "ORDER BY n",
            *map(list, zip(*asked, strict=True)),
        )
    expected = [is_dormant(*case) for case in asked]
    assert [answer["dormant"] for answer in answers] == expected
    assert 500 < sum(expected) < 4500
