import pytest

from agent.contracts.people import DEFAULT_LINEAGE, Persona
from agent.personas.rules import Draft
from agent.store.pool import Store
from tests.agent.identity.builders import NOW
from tests.agent.personas.builders import Defaults, Desk


async def test_a_new_server_has_a_default_persona_as_the_deployment_says(store: Store) -> None:
    desk = Desk(store)
    server_id = await desk.server()
    found = await desk.personas.default(server_id)
    assert found == Persona(
        found.persona_id,
        server_id,
        DEFAULT_LINEAGE,
        "Isthmus",
        "You are {bot}.",
        "https://example.org/a.png",
        ("robot",),
        is_default=True,
    )
    renamed = await desk.with_defaults(Defaults(name="Mirri")).personas.default(server_id)
    assert (renamed.persona_id, renamed.nickname, renamed.is_renamed) == (found.persona_id, "Mirri", False)


async def test_what_a_server_has_set_stays(store: Store) -> None:
    desk = Desk(store)
    server_id = await desk.server()
    async with store.connection() as connection:
        await connection.execute("UPDATE personas SET nickname = 'Otto', triggers = '{}'")
        await connection.execute(
            "INSERT INTO personas (server_id, persona_lineage_id, nickname, prompt, triggers, created_at)"
            " VALUES ($1, 1, 'Second', '', '{}', $2)",
            server_id,
            NOW,
        )
    default, second = await desk.personas.for_server(server_id)
    assert (default.nickname, default.prompt, default.triggers) == ("Otto", "You are {bot}.", ())
    assert default.is_renamed
    assert (second.nickname, second.avatar, second.is_default, second.is_renamed) == ("Second", None, False, False)


async def test_an_unknown_server_has_no_persona(store: Store) -> None:
    desk = Desk(store)
    assert await desk.personas.for_server(1) == ()
    with pytest.raises(LookupError, match="nobody has entered"):
        await desk.personas.default(1)


async def test_what_is_held_for_a_revision_costs_no_query(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(store)
    server_id, revision = await desk.server(), await desk.revision()
    held = await desk.personas.for_server(server_id, revision)
    with monkeypatch.context() as patch:
        patch.delattr(store.__class__, "connection")
        assert await desk.personas.for_server(server_id, revision) is held


async def test_another_process_sees_a_change_from_the_revision_on(store: Store) -> None:
    desk, other = Desk(store), Desk(store)
    server_id = await desk.server()
    before = await desk.revision()
    await other.personas.for_server(server_id, before)
    await desk.changes.create(server_id, Draft("Otto"))
    after = await desk.revision()
    assert after > before
    assert len(await other.personas.for_server(server_id, after)) == 2
    assert len(await desk.personas.for_server(server_id, after)) == 2


async def test_a_persona_that_is_gone_gives_way_to_the_default_one(store: Store) -> None:
    desk = Desk(store)
    server_id = await desk.server()
    otto = await desk.changes.create(server_id, Draft("Otto"))
    await desk.changes.rename(server_id, "Otto", "Ben")
    assert (await desk.personas.current(otto, await desk.revision())).nickname == "Ben"
    await desk.changes.delete(server_id, "Ben")
    assert (await desk.personas.current(otto, await desk.revision())).nickname == "Isthmus"
    assert (await desk.personas.current(otto, None)).is_default
