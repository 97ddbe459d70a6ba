from datetime import timedelta

import pytest

from agent.contracts.people import PrivacyLevel
from agent.privacy.audit import Act, Audit
from tests.plugins.memory.commands.people import ANA, BEN, Counter, learned
from tests.plugins.memory.stage import BACKROOM, Stage

CODE = "ABCD2345"


async def left(stage: Stage) -> list[int]:
    rows = await stage.rows(
        "SELECT server_memory_id AS id FROM server_memories UNION ALL SELECT personal_memory_id FROM personal_memories "
        "ORDER BY id"
    )
    return [row["id"] for row in rows]


@pytest.mark.parametrize("target", [None, "me"])
async def test_one_memory_goes_at_once_and_leaves_an_undo_copy(
    stage: Stage, counter: Counter, target: str | None
) -> None:
    memory_id = await learned(stage, "a fact", target)
    group = "memories" if target is None else "personal memories"
    reply = await counter.run(f"{group} remove", ids=str(memory_id))
    assert reply.ok, reply.text
    assert f"/memories undo {memory_id}" in reply.text
    assert await left(stage) == []
    (copy,) = await stage.rows("SELECT memory_id, reason FROM forgotten_memories")
    assert (copy["memory_id"], copy["reason"]) == (memory_id, "deleted")
    assert not (await counter.run(f"{group} remove", ids=str(memory_id))).ok


async def test_several_go_only_after_asking_back(stage: Stage, counter: Counter) -> None:
    ids = [await learned(stage, f"fact {number}") for number in range(3)]
    named = ",".join(map(str, ids[:2]))
    asked = await counter.run("memories remove", ids=named)
    assert f"/memories remove {named} {CODE}" in asked.text
    assert await left(stage) == ids
    wrong = await counter.run("memories remove", ids=named, code="ZZZZ2345")
    assert (wrong.ok, await left(stage)) == (False, ids)
    other = await counter.run("memories remove", ids=f"{ids[0]},{ids[2]}", code=CODE)
    assert (other.ok, await left(stage)) == (False, ids)
    assert not (await counter.run("memories remove", who=BEN, ids=named, code=CODE)).ok
    done = await counter.run("memories remove", ids=named, code=CODE.lower())
    assert done.ok, done.text
    again = "Within 24 hours each of them can be brought back: /memories undo ID"
    assert done.text == f"2 memories removed: {ids[0]}, {ids[1]}. {again}"
    assert await left(stage) == ids[2:]


async def test_a_code_is_worth_nothing_after_its_time(stage: Stage, counter: Counter) -> None:
    ids = ",".join([str(await learned(stage, f"fact {number}")) for number in range(2)])
    await counter.run("memories remove", ids=ids)
    stage.clock.advance(timedelta(minutes=11))
    assert not (await counter.run("memories remove", ids=ids, code=CODE)).ok


async def test_ids_may_stand_apart(stage: Stage, counter: Counter) -> None:
    """A terminal gives what stands behind the first space to the last option."""
    first, second = await learned(stage, "a"), await learned(stage, "b")
    asked = await counter.run("memories remove", ids=f"{first},", code=str(second))
    assert asked.data is not None
    assert asked.data["memory_ids"] == [first, second]


@pytest.mark.parametrize(
    "ids", ["", ",", "x", "1x", "-1", "0", "9" * 30, "1," * 1 + "x", ",".join(map(str, range(1, 1100)))]
)
async def test_what_names_no_memory_is_refused(stage: Stage, counter: Counter, ids: str) -> None:
    memory_id = await learned(stage, "a fact")
    for path in ("memories remove", "personal memories remove"):
        assert not (await counter.run(path, ids=ids)).ok
    assert await left(stage) == [memory_id]


async def test_deleting_is_never_refused_for_privacy_but_only_for_place_and_rights(
    stage: Stage, counter: Counter
) -> None:
    about, secret = await learned(stage, "{user} hosts"), await learned(stage, "a secret", channel=BACKROOM)
    await stage.set_privacy(ANA, PrivacyLevel.PARTIAL)
    assert not (await counter.run("memories remove", ids=str(secret))).ok
    assert not (await counter.run("memories remove", who=BEN, manages=False, ids=str(about))).ok
    assert (await counter.run("memories remove", who=BEN, ids=str(about))).ok
    (seen,) = await Audit(stage.store).about((await stage.context(ANA)).account.account_id)
    assert (seen.act, seen.via) == (Act.DELETED, "/memories remove")


async def test_nobody_removes_what_is_about_somebody_else(stage: Stage, counter: Counter) -> None:
    memory_id = await learned(stage, "likes tea", "me")
    assert not (await counter.run("personal memories remove", who=BEN, ids=str(memory_id))).ok
    assert not (await counter.run("memories remove", ids=str(memory_id))).ok
