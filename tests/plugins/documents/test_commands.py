"""`/documents` in a whole agent."""

from __future__ import annotations

import asyncio

import pytest

from agent.files import FileRefused
from agent.testing.app import running_agent
from tests.plugins.documents.pdfs import encrypted, pdf
from tests.plugins.documents.room import BEN, DIRECT, OTHER, RAIDS, WITH_ANA, Given, Room, documents_in


async def test_members_look_and_managers_change(room: Room) -> None:
    document_id = await room.add()
    part = (await room.parts(document_id))[0]
    for name in ("list", "show", "search"):
        assert (await room.run(name, id=document_id, text="raids", author=BEN)).ok, name
    for name in ("add", "edit", "remove", "rename", "limit", "persona", "audience"):
        reply = await room.run(name, id=part, text="x", title="x", sure=True, audience="server", author=BEN)
        assert (reply.ok, reply.text) == (False, "Only those who manage this server may do that."), name
    assert len(await documents_in(room)) == 1


async def test_a_part_is_read_edited_and_removed(room: Room) -> None:
    document_id = await room.add(title="Guild guide")
    first, second, third = await room.parts(document_id)
    reply = await room.run("show", id=first)
    assert reply.text == f"{first}: Raids\nRaids begin at eight in the evening."
    assert (await room.run("edit", id=first, text="Raids begin at nine.")).ok
    await room.agent.core.embedding_worker.idle()
    item = await room.recalled("when do raids begin?")
    assert item is not None
    assert "at nine" in item.render()
    assert "at eight" not in item.render()
    assert (await room.run("remove", id=second)).ok
    assert await room.parts(document_id) == [first, third]
    for name, options in {
        "edit": {"text": "x"},
        "remove": {},
        "show": {},
        "rename": {"title": "x"},
        "limit": {},
    }.items():
        reply = await room.run(name, id=second, **options)
        assert (reply.ok, reply.text) == (False, "There is nothing of that number here."), name
    assert not (await room.run("edit", id=document_id, text="a document is no part")).ok
    assert not (await room.run("edit", id=first, text="  ")).ok
    assert not (await room.run("edit", id=first, text="x" * 2_000)).ok


async def test_a_document_is_removed_only_by_somebody_who_is_sure(room: Room) -> None:
    document_id = await room.add()
    reply = await room.run("remove", id=document_id)
    assert f"/documents remove {document_id} yes" in reply.text
    assert len(await documents_in(room)) == 1
    assert (await room.run("remove", id=document_id, sure=True)).text == "“guide” is removed."
    assert await documents_in(room) == []
    assert not (await room.run("remove", id=document_id, sure=True)).ok


async def test_title_channels_and_audience_are_changed(room: Room) -> None:
    document_id = await room.add()
    assert "“Raid rules”" in (await room.run("rename", id=document_id, title=" Raid\nrules ")).text
    assert "only in raids" in (await room.run("limit", id=document_id, channel="raids")).text
    assert "only in raids, staff" in (await room.run("limit", id=document_id, channel="staff")).text
    assert "only in" not in (await room.run("limit", id=document_id)).text
    assert "never outside general" in (await room.run("audience", id=document_id, audience="channel")).text
    assert not (await room.run("show", id=document_id, channel_ref=RAIDS)).ok
    assert (await room.run("audience", id=document_id, audience="server")).ok
    (document,) = await documents_in(room)
    assert (document["title"], document["audience"], document["channels"]) == ("Raid rules", "server", [])
    private = await room.add(b"A secret.", server=DIRECT, channel_ref=WITH_ANA)
    reply = await room.run("audience", id=private, audience="server", server=DIRECT, channel_ref=WITH_ANA)
    assert not reply.ok


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"", "a.txt", "The file is empty."),
        (b"\x89PNG\r\n", "a.txt", "This is a file of the kind PNG."),
        (b"PK\x03\x04", "a.docx", "This is a file of the kind ZIP"),
        (b"Gr\xfc\xdfe", "a.txt", "byte 3 is the first that does not fit"),
        (encrypted(pdf(["x"]), "secret"), "a.pdf", "The PDF is encrypted"),
        (b"%PDF-1.4 broken", "a.pdf", "The PDF is damaged"),
        (b"x" * 6_000_000, "a.txt", "a.txt: it is larger than 5 MiB"),
        (b"x " * 1_500_000, "a.txt", "There is more text in the file than 2000000 characters"),
    ],
)
async def test_what_is_not_taken_is_said_with_its_reason(room: Room, content: bytes, name: str, said: str) -> None:
    reply = await room.run("add", file=Given(content, name))
    assert not reply.ok
    assert reply.text.startswith(said) or said in reply.text
    assert await documents_in(room) == []


async def test_the_reason_is_said_in_the_language_of_the_place(database_url: str) -> None:
    settings = {"agent": {"locale": "de"}, "plugins": {"documents": {}}}
    async with running_agent(database_url, settings) as agent:
        reply = await Room(agent).run("add", file=Given(b""))
    assert reply.text == "Die Datei ist leer."


async def test_a_file_that_cannot_be_had_is_no_failure_of_ours(room: Room) -> None:
    class Gone(Given):
        async def read(self, limit: int) -> bytes:
            raise FileRefused("guide.md: the platform has it no more")

    reply = await room.run("add", file=Gone(b""))
    assert (reply.ok, reply.text) == (False, "guide.md: the platform has it no more")


async def test_documents_are_listed_by_pages(room: Room) -> None:
    await asyncio.gather(*(room.run("add", file=Given(f"text {n}".encode(), f"file{n}.txt")) for n in range(12)))
    reply = await room.run("list", page=2)
    assert reply.text.count("\n") == 2
    assert reply.text.endswith("Page 2 of 2.")
    assert reply.data is not None
    assert reply.data["count"] == 12
    assert (await room.run("list", page=99)).text == reply.text
    assert (await room.run("list", server=OTHER)).text == "I have no documents here."


async def test_search_shows_what_a_turn_would_call_back(room: Room) -> None:
    await room.add(title="Guild guide")
    reply = await room.run("search", text="raids", author=BEN)
    assert reply.data is not None
    assert reply.data["found"][0]["content"] == "Raids begin at eight in the evening."
    assert "(Guild guide): Raids: Raids begin" in reply.text
    assert (await room.run("search", text="xyzzy qqqq", server=OTHER)).text == "I have found nothing."


async def test_only_one_persona_may_know_it(room: Room) -> None:
    await room.add(b"The kraken of Mira.")
    async with room.agent.core.store.connection() as conn:
        await conn.execute("INSERT INTO persona_lineages VALUES (7, 'epoch')")
        await conn.execute(
            "INSERT INTO personas (server_id, persona_lineage_id, nickname, prompt, triggers, created_at) "
            "SELECT server_id, 7, 'Mira', 'You are Mira.', '{}', 'epoch' FROM servers WHERE external_id = 'home'"
        )
    (document,) = await documents_in(room)
    reply = await room.run("persona", id=document["document_id"], persona="mira")
    assert "only for Mira" in reply.text
    assert await room.recalled("the kraken") is None
    assert "Mira" in (await room.run("list")).text, "managers see the documents of every persona"
    assert (await room.run("list", author=BEN)).data == {"documents": [], "page": 1, "count": 0}
    assert (await room.run("show", id=document["document_id"], author=BEN)).ok is False
    reply = await room.run("persona", id=document["document_id"], persona="nobody")
    assert not reply.ok
    assert "Mira" in reply.text
    await room.run("persona", id=document["document_id"])
    assert await room.recalled("the kraken") is not None
