from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.places import Audience
from agent.store.pool import Store
from plugins.documents.document import Document, Scope, Viewer
from plugins.documents.refusals import Refused, Why
from plugins.documents.repository import DocumentRepository
from plugins.documents.settings import DocumentsSettings
from plugins.documents.viewing import operator
from tests.plugins.documents.shelf import NOW, Shelf, as_read, scope


async def test_a_document_comes_back_with_its_parts_in_their_order(shelf: Shelf) -> None:
    server = await shelf.server()
    document = await shelf.add(server, *(f"part {number}" for number in range(450)), heading="Rules")
    assert await shelf.repository.documents(operator(server, "console")) == [document]
    chunks = await shelf.chunks(document)
    assert [chunk.content for chunk in chunks] == [f"part {number}" for number in range(450)]
    assert [chunk.ordinal for chunk in chunks] == list(range(1, 451))
    ids = [document.document_id, *(chunk.chunk_id for chunk in chunks)]
    assert ids == sorted(set(ids)), "one id means one document or part, in rising order"
    assert [chunk.content for chunk in await shelf.repository.chunks(document.document_id, 2, 10)] == [
        "part 10",
        "part 11",
    ]


async def test_an_id_of_a_part_leads_to_its_document(shelf: Shelf) -> None:
    server, other = await shelf.server(), await shelf.server()
    document = await shelf.add(server, "one", "two")
    chunk = (await shelf.chunks(document))[1]
    assert await shelf.repository.document(operator(server, "console"), chunk.chunk_id) == document
    assert await shelf.repository.chunk(chunk.chunk_id) == chunk
    assert await shelf.repository.document(operator(other, "console"), chunk.chunk_id) is None
    assert await shelf.repository.document(operator(server, "console"), 10**9) is None
    assert await shelf.repository.chunk(10**9) is None


CHANNELS = ["general", "raids", "staff"]
scopes = st.builds(
    Scope,
    server_id=st.sampled_from([1, 2]),
    lineage_id=st.sampled_from([None, 1, 5]),
    channel_ids=st.lists(st.sampled_from(CHANNELS), unique=True, max_size=2).map(tuple),
    audience=st.sampled_from([Audience.SERVER, Audience.CHANNEL]),
    source_platform=st.sampled_from(["console", "matrix"]),
    source_channel_id=st.sampled_from(CHANNELS),
)
viewers = st.builds(
    Viewer,
    server_id=st.sampled_from([1, 2]),
    platform=st.sampled_from(["console", "matrix"]),
    lineage_id=st.sampled_from([None, 1, 5]),
    channels=st.one_of(
        st.none(), st.tuples(st.sampled_from(CHANNELS)), st.tuples(st.just("thread"), st.sampled_from(CHANNELS))
    ),
    in_scope_only=st.booleans(),
)


def admits(document: Scope, viewer: Viewer) -> bool:
    """The rule, in other words."""
    if document.server_id != viewer.server_id:
        return False
    if viewer.lineage_id is not None and document.lineage_id not in {None, viewer.lineage_id}:
        return False
    if viewer.channels is None:
        return True
    if document.audience is Audience.CHANNEL and (
        document.source_platform != viewer.platform or document.source_channel_id not in viewer.channels
    ):
        return False
    return (
        not viewer.in_scope_only or not document.channel_ids or bool(set(document.channel_ids) & set(viewer.channels))
    )


def test_the_database_admits_what_the_rule_admits(database_url: str) -> None:
    from agent.store.pool import ExternalServer

    async def run(runner_store: Store, document: Scope, viewer: Viewer) -> None:
        async with runner_store.connection() as conn:
            admitted = await conn.fetchval(
                "SELECT document_is_admitted(d, $1, $2, $3, $4, $5) FROM (SELECT (jsonb_populate_record("
                "NULL::documents, $6)).*) AS d",
                viewer.server_id,
                viewer.platform,
                None if viewer.channels is None else list(viewer.channels),
                viewer.lineage_id,
                viewer.in_scope_only,
                {
                    "server_id": document.server_id,
                    "persona_lineage_id": document.lineage_id,
                    "channel_disc_ids": list(document.channel_ids),
                    "audience": document.audience,
                    "source_platform": document.source_platform,
                    "source_channel_id": document.source_channel_id,
                },
            )
        assert admitted is admits(document, viewer)

    with asyncio.Runner() as runner:
        store = Store(ExternalServer(database_url), size=1)
        runner.run(store.open())

        @settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
        @given(scopes, viewers)
        def check(document: Scope, viewer: Viewer) -> None:
            runner.run(run(store, document, viewer))

        check()
        runner.run(store.close())


async def test_the_same_file_is_kept_once_for_those_who_may_read_it(shelf: Shelf) -> None:
    server, other = await shelf.server(), await shelf.server()
    first = await shelf.add(server, "text", file="same")
    with pytest.raises(Refused, match=f"as document {first.document_id}"):
        await shelf.add(server, "text", file="same")
    await shelf.add(other, "text", file="same")
    mira = await shelf.add(scope(server, lineage_id=5), "text", file="same")
    await shelf.add(scope(server, audience=Audience.CHANNEL, source_channel_id="staff"), "text", file="same")
    await shelf.add(scope(server, audience=Audience.CHANNEL, source_channel_id="raids"), "text", file="same")
    with pytest.raises(Refused) as refused:
        await shelf.repository.set_scope(mira, replace(mira.scope, lineage_id=None), NOW)
    assert refused.value.why is Why.SAME_THERE


async def test_twenty_uploads_of_one_file_at_once_make_one_document(shelf: Shelf) -> None:
    server = await shelf.server()
    results = await asyncio.gather(*(shelf.add(server, "text", file="same") for _ in range(20)), return_exceptions=True)
    assert len([result for result in results if isinstance(result, Document)]) == 1
    assert all(
        isinstance(result, Document) or result.why is Why.KNOWN
        for result in results
        if isinstance(result, Refused | Document)
    )
    assert not [result for result in results if not isinstance(result, Refused | Document)]


async def test_a_full_server_takes_no_more_whoever_is_quick(store: Store) -> None:
    shelf = Shelf(store, DocumentRepository(store, DocumentsSettings(max_documents=5, max_parts=8)))
    server, other = await shelf.server(), await shelf.server()
    results = await asyncio.gather(*(shelf.add(server, "text") for _ in range(20)), return_exceptions=True)
    assert len([result for result in results if isinstance(result, Document)]) == 5
    assert {result.why for result in results if isinstance(result, Refused)} == {Why.TOO_MANY_DOCUMENTS}
    await shelf.add(other, *map(str, range(8)))
    with pytest.raises(Refused) as refused:
        await shelf.add(other, "one more")
    assert refused.value.why is Why.TOO_MANY_PARTS
    assert await shelf.value("SELECT count(*) FROM documents") == 6


async def test_an_upload_that_fails_leaves_nothing(shelf: Shelf) -> None:
    server = await shelf.server()
    broken = as_read("good", "bad \x00 text")
    with pytest.raises(Exception, match="0x00"):
        await shelf.repository.add(broken, "t", scope(server), digest=b"d", size=1, uploader=None, now=NOW)
    assert await shelf.value("SELECT count(*) FROM documents") == 0


async def test_an_edit_is_of_the_text_that_was_read(shelf: Shelf) -> None:
    server = await shelf.server()
    document = await shelf.add(server, "Raids begin at eight.", "Loot is shared.")
    chunk = (await shelf.chunks(document))[0]
    await shelf.embed(document, [1.0, 0.0], [0.0, 1.0])
    assert await shelf.repository.edit_chunk(document, chunk, "Dungeons open at nine.", NOW) == 2
    assert await shelf.repository.edit_chunk(document, chunk, "Somebody else's words.", NOW) is None
    assert set(await shelf.find(server, "dungeons")) == {"Dungeons open at nine."}
    assert await shelf.find(server, "raids") == {}
    assert [each.row_id for each in await shelf.vectors.pending("m", 0, 2**62, 9)] == [chunk.chunk_id]


async def test_removing_takes_words_vectors_and_count_along(shelf: Shelf) -> None:
    server = await shelf.server()
    document = await shelf.add(server, "Raids begin at eight.", "Loot is shared.")
    await shelf.embed(document, [1.0, 0.0], [0.0, 1.0])
    chunk = (await shelf.chunks(document))[0]
    assert await shelf.repository.remove_chunk(chunk.chunk_id, NOW) == "Raids begin at eight."
    assert await shelf.repository.remove_chunk(chunk.chunk_id, NOW) is None
    (left,) = await shelf.repository.documents(operator(server, "console"))
    assert left.parts == 1
    assert await shelf.find(server, "raids", [1.0, 0.0]) == {"Loot is shared.": (0.0, 0.0)}
    assert await shelf.repository.remove_document(document.document_id)
    assert not await shelf.repository.remove_document(document.document_id)
    assert (
        await shelf.value("SELECT (SELECT count(*) FROM document_chunks) + (SELECT count(*) FROM document_vectors)")
        == 0
    )


async def test_a_document_is_found_by_its_new_title(shelf: Shelf) -> None:
    server = await shelf.server()
    document = await shelf.add(server, *(f"part {number}" for number in range(120)), title="Handbook")
    assert len(await shelf.find(server, "handbook")) == 24
    await shelf.repository.rename(document, "Guild charter", NOW)
    assert await shelf.find(server, "handbook") == {}
    assert len(await shelf.find(server, "charter")) == 24
    (renamed,) = await shelf.repository.documents(operator(server, "console"))
    assert renamed.title == "Guild charter"


async def test_an_uploader_who_is_forgotten_is_not_written_down(shelf: Shelf) -> None:
    server, ana, ben = await shelf.server(), await shelf.account(), await shelf.account("Ben")
    await shelf.value(
        "UPDATE accounts SET forgotten_before = $2 WHERE account_id = $1", ben, NOW + timedelta(seconds=1)
    )
    of_ana = await shelf.add(server, "one", uploader=ana)
    await shelf.add(server, "two", uploader=ben)
    assert [each["document_id"] for each in await shelf.repository.uploaded_by(ana)] == [of_ana.document_id]  # type: ignore[index,call-overload]
    assert await shelf.repository.uploaded_by(ben) == []
    async with shelf.store.transaction() as conn:
        assert await shelf.repository.forget_uploader(conn, ana) == 1
        assert await shelf.repository.forget_uploader(conn, ana) == 0
    assert await shelf.value("SELECT count(*) FROM documents WHERE uploader_account_id IS NULL") == 2
