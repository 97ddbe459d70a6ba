"""Exports on a real database: what may be told, without channel scopes, as it is in one moment."""

import asyncio
import json
from typing import Any

from agent.contracts.people import PrivacyLevel
from agent.places import Audience
from agent.privacy.audit import Act, Audit
from agent.privacy.repository import Privacy
from agent.store.pool import Store
from plugins.memory.repository import MemoryRepository
from tests.plugins.memory.stage import Stage, author
from tests.plugins.memory.transfer.traffic import Traffic
from tests.plugins.memory.world import NOW, ROOM, World, about_person, about_server, save

ANA, BEN = author("Ana"), author("Ben")


async def test_the_form_of_a_file(traffic: Traffic, stage: Stage) -> None:
    place, ana = await stage.enter(ANA)
    server = place.server.server_id
    write = about_server(
        server,
        "{user} likes \u202etea",
        channel_scope=("console:kitchen",),
        tags=("drinks",),
        subject_account_id=ana.account_id,
        subject_user_id=ana.user_id,
    )
    added = await save(stage.repository, stage.store, write)
    exported = await traffic.exported(server_id=server)
    assert b"\\u202e" in exported.content  # a terminal that shows the file turns nothing round
    assert json.loads(exported.content) == {
        "format": "isthmus-memories",
        "version": 1,
        "exported_at": "2026-03-01T12:00:00+00:00",
        "server": {"platform": "console", "id": "console:home", "name": "home"},
        "lineages": {"default": {"personas": ["Isthmus"]}},
        "server_memories": [
            {
                "id": added.memory_id,
                "content": "{user} likes \u202etea",
                "lineage": "default",
                "about": {"platform": "console", "id": "console:ana", "name": "Ana"},
                "audience": "server",
                "tags": ["drinks"],
                "origin": "model",
                "manually_written": False,
                "created_at": "2026-03-01T12:00:00+00:00",
                "updated_at": "2026-03-01T12:00:00+00:00",
            }
        ],
        "personal_memories": [],
    }
    assert "kitchen" not in exported.content.decode()


async def test_what_only_some_may_read_is_left_out_unless_asked(traffic: Traffic, stage: Stage, world: World) -> None:
    server = await world.server()
    for audience in (Audience.OPEN, Audience.SERVER, Audience.CHANNEL, Audience.PERSON):
        await save(stage.repository, stage.store, about_server(server, audience, audience=audience))
    exported = await traffic.exported(server_id=server)
    assert (exported.server_memories, exported.narrower, exported.withheld) == (2, 2, 0)
    asked = await traffic.export(server_id=server, narrow=True)
    assert [entry["audience"] for entry in asked["server_memories"]] == list(Audience)
    assert asked["server_memories"][2]["place"]["channel"] == "console:general"
    assert all("place" not in entry for entry in (await traffic.export(server_id=server))["server_memories"])


async def test_what_its_person_does_not_allow_is_withheld(traffic: Traffic, stage: Stage) -> None:
    place, ana = await stage.enter(ANA)
    server = place.server.server_id
    about = about_server(server, "of Ana", subject_account_id=ana.account_id, subject_user_id=ana.user_id)
    await save(stage.repository, stage.store, about)
    await save(stage.repository, stage.store, about_server(server, "of all"))
    await stage.set_privacy(ANA, PrivacyLevel.PARTIAL)
    exported = await traffic.exported(server_id=server)
    assert (exported.count, exported.withheld) == (1, 1)
    assert b"of Ana" not in exported.content


async def test_whom_an_export_is_about_can_see_it(traffic: Traffic, stage: Stage) -> None:
    place, ana = await stage.enter(ANA)
    _, ben = await stage.enter(BEN)
    server = place.server.server_id
    about = about_server(server, "of Ana", subject_account_id=ana.account_id, subject_user_id=ana.user_id)
    await save(stage.repository, stage.store, about)
    await traffic.exported(server_id=server, reader_account_id=ben.account_id, via="/memories export")
    await traffic.exported(server_id=server)
    seen = await Audit(stage.store).about(ana.account_id)
    assert [(line.act, line.via, line.by_operator, line.items) for line in seen] == [
        (Act.EXPORTED, "isthmus memory export", True, 1),
        (Act.EXPORTED, "/memories export", False, 1),
    ]


async def test_what_names_somebody_who_hides_is_withheld(traffic: Traffic, stage: Stage) -> None:
    place, _ = await stage.enter(ANA)
    await stage.enter(author("Bartholomew"))
    await stage.set_privacy(author("Bartholomew"), PrivacyLevel.FULL)
    server = place.server.server_id
    await save(stage.repository, stage.store, about_server(server, "Bartholomew won the cup"))
    exported = await traffic.exported(server_id=server)
    assert (exported.count, exported.withheld) == (0, 1)


async def test_one_persona_alone(traffic: Traffic, stage: Stage, world: World) -> None:
    server, ana = await world.server(), await world.person()
    for lineage in (0, 1, 2):
        await save(stage.repository, stage.store, about_person(ana.user_id, f"as {lineage}", lineage=lineage))
    await save(stage.repository, stage.store, about_server(server, "as 2", lineage=2))
    everything = await traffic.export(user_id=ana.user_id)
    assert [entry["lineage"] for entry in everything["personal_memories"]] == ["global", "default", "lineage-2"]
    assert everything["server"] is None
    one = await traffic.export(server_id=server, user_id=ana.user_id, lineage_id=2)
    assert [entry["content"] for entry in (*one["server_memories"], *one["personal_memories"])] == ["as 2", "as 2"]


async def test_an_export_during_writes_is_one_moment(
    traffic: Traffic, stage: Stage, world: World, store: Store, repository: MemoryRepository
) -> None:
    """Each transaction writes to the server and to the person: whoever reads at two moments finds more of one."""
    server, ana = await world.server(), await world.person()
    ended = False

    async def write(writer: int) -> None:
        privacy = Privacy(store)
        for number in range(30):
            own, shared = about_person(ana.user_id, f"{writer} {number}"), about_server(server, f"{writer} {number}")
            async with store.transaction() as conn:
                await privacy.lock_facts_of_write(conn, own)
                await privacy.lock_facts_of_write(conn, shared)
                await repository.add(conn, own, ROOM, NOW)
                await repository.add(conn, shared, ROOM, NOW)

    async def read() -> list[dict[str, Any]]:
        files = []
        while not ended:
            files.append(await traffic.export(server_id=server, user_id=ana.user_id))
        return files

    reader = asyncio.create_task(read())
    await asyncio.gather(*(write(writer) for writer in range(3)))
    ended = True
    sizes = []
    for file in await reader:
        pair = [{entry["content"] for entry in file[f"{scope}_memories"]} for scope in ("server", "personal")]
        assert pair[0] == pair[1]
        sizes.append(len(pair[0]))
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 3
