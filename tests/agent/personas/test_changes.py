import asyncio
from collections.abc import Awaitable, Callable

import pytest

from agent.personas.changes import PersonaChanges
from agent.personas.rules import Draft, PersonaRefused
from agent.places import ServerRef
from agent.privacy.repository import UnknownServer
from agent.store.pool import Store
from tests.agent.identity.builders import GENERAL, NOW, author
from tests.agent.personas.builders import Defaults, Desk


@pytest.fixture
def desk(store: Store) -> Desk:
    return Desk(store)


async def test_a_created_persona_gets_a_lineage_of_its_own(desk: Desk) -> None:
    server_id = await desk.server()
    otto = await desk.changes.create(server_id, Draft(" Otto ", "You are {bot}, a captain.", None, ("captain",)))
    mira = await desk.changes.create(server_id, Draft("Mira", avatar="https://example.org/m.png"))
    assert (otto.nickname, otto.prompt, otto.triggers, otto.is_default) == (
        "Otto",
        "You are {bot}, a captain.",
        ("captain",),
        False,
    )
    assert (mira.prompt, mira.avatar, mira.triggers) == ("You are {bot}.", "https://example.org/m.png", ())
    assert len({0, 1, otto.lineage_id, mira.lineage_id}) == 4
    assert [each.nickname for each in await desk.personas.for_server(server_id)] == ["Isthmus", "Otto", "Mira"]


async def test_a_name_is_taken_once_in_a_server_and_free_in_another(desk: Desk) -> None:
    server_id = await desk.server()
    await desk.changes.create(server_id, Draft("Straße"))
    for taken in ("STRASSE", "isthmus", "Robot"):
        with pytest.raises(PersonaRefused, match="already"):
            await desk.changes.create(server_id, Draft(taken))
    elsewhere = await desk.people.enter(ServerRef("console", "work", "Work"), GENERAL, author("ana"), NOW)
    assert (await desk.changes.create(elsewhere.place.server.server_id, Draft("Strasse"))).nickname == "Strasse"


async def test_of_several_at_once_one_gets_the_name(desk: Desk) -> None:
    server_id = await desk.server()
    results = await asyncio.gather(
        *(desk.changes.create(server_id, Draft(name)) for name in ("Otto", "OTTO", "otto", "Ｏtto")),
        return_exceptions=True,
    )
    assert sum(isinstance(result, PersonaRefused) for result in results) == 3
    assert len(await desk.personas.for_server(server_id)) == 2


async def test_nothing_is_changed_or_announced_by_a_refusal(desk: Desk) -> None:
    server_id = await desk.server()
    before = (await desk.personas.for_server(server_id), await desk.revision())
    for draft in (Draft(""), Draft("Otto", "\x00"), Draft("Otto", avatar="ftp://x"), Draft("Otto", triggers=("x",))):
        with pytest.raises(PersonaRefused):
            await desk.changes.create(server_id, draft)
    assert (await desk.personas.for_server(server_id), await desk.revision()) == before
    assert desk.announced == []


type Change = Callable[[PersonaChanges, int], Awaitable[object]]

CHANGES: dict[str, Change] = {
    "create": lambda changes, server_id: changes.create(server_id, Draft("Ben")),
    "rename": lambda changes, server_id: changes.rename(server_id, "Otto", "Ben"),
    "prompt": lambda changes, server_id: changes.set_prompt(server_id, "Otto", "Be kind."),
    "avatar": lambda changes, server_id: changes.set_avatar(server_id, "Otto", "none"),
    "triggers": lambda changes, server_id: changes.set_triggers(server_id, "Otto", ["captain"]),
    "affixes": lambda changes, server_id: changes.set_affixes(server_id, "Otto", ["master"]),
    "default": lambda changes, server_id: changes.make_default(server_id, "Otto"),
    "reset": lambda changes, server_id: changes.reset(server_id),
    "share": lambda changes, server_id: changes.share_with(server_id, "Otto", "Isthmus"),
    "lineage": lambda changes, server_id: changes.share_lineage(server_id, "Otto", 1),
    "part": lambda changes, server_id: changes.part(server_id, "Otto"),
    "delete": lambda changes, server_id: changes.delete(server_id, "Otto"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_every_change_raises_the_revision_and_is_announced_after_the_commit(desk: Desk, change: Change) -> None:
    server_id = await desk.server()
    await desk.changes.create(server_id, Draft("Otto"))
    before = await desk.revision()
    desk.announced.clear()
    await change(desk.changes, server_id)
    assert await desk.revision() == before + 1
    assert desk.announced == [f"server:{server_id}"]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_server_that_nobody_has_entered_has_nothing_to_change(desk: Desk, change: Change) -> None:
    with pytest.raises(UnknownServer):
        await change(desk.changes, 77)


async def test_renaming_keeps_to_names_that_are_free_and_may_change_the_case(desk: Desk) -> None:
    server_id = await desk.server()
    await desk.changes.create(server_id, Draft("Otto", triggers=("captain",)))
    assert (await desk.changes.rename(server_id, "otto", "OTTO")).after.nickname == "OTTO"
    assert (await desk.changes.rename(server_id, "otto", "Captain")).after.nickname == "Captain"
    with pytest.raises(PersonaRefused, match="called Isthmus here already"):
        await desk.changes.rename(server_id, "captain", "isthmus")
    changed = await desk.changes.rename(server_id, "Isthmus", "Mirri")
    assert (changed.before.nickname, changed.after.nickname, changed.after.is_renamed) == ("Isthmus", "Mirri", True)


async def test_edits(desk: Desk) -> None:
    server_id = await desk.server()
    assert (await desk.changes.set_prompt(server_id, "Isthmus", " Be kind. ")).after.prompt == "Be kind."
    assert (await desk.changes.set_avatar(server_id, "Isthmus", "none")).after.avatar is None
    assert (await desk.changes.set_triggers(server_id, "Isthmus", ["Captain"])).after.triggers == ("Captain",)
    assert (await desk.changes.set_triggers(server_id, "Isthmus", [])).after.triggers == ()
    await desk.changes.rename(server_id, "Isthmus", "Mirri")
    again = (await desk.changes.reset(server_id)).after
    assert (again.nickname, again.prompt, again.avatar, again.triggers) == (
        "Isthmus",
        "You are {bot}.",
        "https://example.org/a.png",
        ("robot",),
    )


async def test_resetting_refuses_a_name_that_another_persona_bears(desk: Desk) -> None:
    server_id = await desk.server()
    await desk.changes.rename(server_id, "Isthmus", "Mirri")
    await desk.changes.create(server_id, Draft("Isthmus"))
    with pytest.raises(PersonaRefused, match="called Isthmus here already"):
        await desk.changes.reset(server_id)


async def test_another_default_persona(desk: Desk) -> None:
    server_id = await desk.server()
    otto = await desk.changes.create(server_id, Draft("Otto"))
    changed = await desk.changes.make_default(server_id, "otto")
    assert (changed.before.nickname, changed.after.nickname) == ("Isthmus", "Otto")
    default, former = await desk.personas.for_server(server_id)
    assert (default.nickname, default.lineage_id, default.avatar, default.is_renamed) == (
        "Otto",
        otto.lineage_id,
        None,
        True,
    )
    assert (former.nickname, former.prompt, former.avatar, former.triggers, former.lineage_id, former.is_default) == (
        "Isthmus",
        "You are {bot}.",
        "https://example.org/a.png",
        ("robot",),
        1,
        False,
    )
    assert (await desk.changes.make_default(server_id, "Otto")).after == default
    assert (await desk.changes.make_default(server_id, "Isthmus")).after.avatar == "https://example.org/a.png"


async def test_a_former_default_persona_cannot_take_a_name_that_was_taken_meanwhile(desk: Desk) -> None:
    server_id = await desk.server()
    await desk.changes.create(server_id, Draft("Otto"))
    await desk.changes.create(server_id, Draft("Ben"))
    renamed = desk.with_defaults(Defaults(name="OTTO"))
    with pytest.raises(PersonaRefused, match="Two personas here are called OTTO"):
        await renamed.changes.make_default(server_id, "Ben")


async def test_lineages_are_shared_and_parted(desk: Desk) -> None:
    server_id = await desk.server()
    otto = await desk.changes.create(server_id, Draft("Otto"))
    shared = await desk.changes.share_with(server_id, "Otto", "Isthmus")
    assert (shared.before.lineage_id, shared.after.lineage_id) == (otto.lineage_id, 1)
    parted = (await desk.changes.part(server_id, "Otto")).after
    assert parted.lineage_id not in {0, 1, otto.lineage_id}
    back = (await desk.changes.share_lineage(server_id, "Otto", otto.lineage_id)).after
    assert back.lineage_id == otto.lineage_id


@pytest.mark.parametrize(("lineage", "says"), [(0, "Lineage 0"), (99, "no lineage 99"), (-3, "no lineage -3")])
async def test_lineages_that_no_persona_can_have(desk: Desk, lineage: int, says: str) -> None:
    server_id = await desk.server()
    with pytest.raises(PersonaRefused, match=says):
        await desk.changes.share_lineage(server_id, "Isthmus", lineage)


async def test_managers_reach_no_persona_of_another_server(desk: Desk) -> None:
    server_id = await desk.server()
    elsewhere = await desk.people.enter(ServerRef("console", "work", "Work"), GENERAL, author("ana"), NOW)
    await desk.changes.create(elsewhere.place.server.server_id, Draft("Otto"))
    with pytest.raises(PersonaRefused, match="no persona “Otto” here"):
        await desk.changes.share_with(server_id, "Isthmus", "Otto")
    with pytest.raises(PersonaRefused, match="no persona “Otto” here"):
        await desk.changes.delete(server_id, "Otto")


async def test_the_default_persona_is_not_deleted(desk: Desk) -> None:
    server_id = await desk.server()
    otto = await desk.changes.create(server_id, Draft("Otto"))
    with pytest.raises(PersonaRefused, match="make another one the default first"):
        await desk.changes.delete(server_id, "Isthmus")
    assert await desk.changes.delete(server_id, "OTTO") == otto
    assert [each.nickname for each in await desk.personas.for_server(server_id)] == ["Isthmus"]
    fresh = await desk.changes.create(server_id, Draft("Otto"))
    assert fresh.lineage_id != otto.lineage_id
