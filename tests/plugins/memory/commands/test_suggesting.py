from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.commands import Choice, Invocation, StepKind
from agent.contracts.people import PrivacyLevel
from agent.privacy.audit import Audit
from plugins.memory.commands.suggesting import continued
from tests.plugins.memory.commands.people import ANA, BEN, Counter, learned
from tests.plugins.memory.stage import Stage, author


async def offered(counter: Counter, path: str, option: str, typed: str, who: Any = ANA, **more: Any) -> list[Choice]:
    words = tuple(path.split())
    commands = more.get("commands", counter.commands)
    (found,) = (each for each in commands[words].options if each.name == option)
    assert found.suggest is not None
    context = await counter.stage.context(who)
    call = Invocation(
        words, {}, context.place, context.account, context.persona, more.get("manages", True), now=context.now
    )
    return list(await found.suggest(call, typed))


async def test_memories_are_offered_by_id_and_by_text_the_newest_first(counter: Counter) -> None:
    gate, soup = await learned(counter.stage, "the Gate is green"), await learned(counter.stage, "soup at 1")
    for path in ("memories why", "memories edit", "memories tags", "memories open", "memories move", "memories notice"):
        assert [each.value for each in await offered(counter, path, "id", "")] == [soup, gate]
    assert await offered(counter, "memories why", "id", "gate") == [Choice(gate, f"#{gate} the Gate is green")]
    assert [each.value for each in await offered(counter, "memories why", "id", str(gate))] == [gate, soup][
        : 1 + (gate == 1)
    ]
    assert await offered(counter, "memories why", "id", "x") == []
    assert [each.value for each in await offered(counter, "memories scope", "id", "p")] == ["pending", str(soup)]


async def test_lists_of_ids_are_continued(counter: Counter) -> None:
    gate, soup = await learned(counter.stage, "gate"), await learned(counter.stage, "soup")
    assert [each.value for each in await offered(counter, "memories remove", "ids", f"{gate},so")] == [f"{gate},{soup}"]
    assert [each.value for each in await offered(counter, "memories remove", "ids", f"{gate},")] == [f"{gate},{soup}"]


@given(st.text("12, ", max_size=12))
def test_a_list_is_taken_apart_without_loss(typed: str) -> None:
    before, last = continued(typed)
    assert before + last == typed
    assert "," not in last


async def test_nobody_is_offered_what_they_may_not_see(counter: Counter) -> None:
    await learned(counter.stage, "{user} hosts")
    assert await offered(counter, "memories why", "id", "", who=BEN, manages=False) == []
    own = await counter.memory("sings", "personal memories add", who=BEN)
    assert [each.value for each in await offered(counter, "personal memories why", "id", "", who=BEN)] == [own]
    assert await offered(counter, "personal memories why", "id", "") == []
    await counter.stage.set_privacy(ANA, PrivacyLevel.FULL)
    assert await offered(counter, "memories why", "id", "", who=BEN) == []


async def test_letters_typed_one_by_one_count_as_one_look(counter: Counter) -> None:
    await learned(counter.stage, "{user} hosts")
    commands = counter.commands
    for typed in ("", "h", "ho"):
        await offered(counter, "memories why", "id", typed, who=BEN, commands=commands)
    ana = (await counter.stage.context(ANA)).account
    (seen,) = await Audit(counter.stage.store).about(ana.account_id)
    assert (seen.actor, seen.items) == ("Ben", 1)
    counter.stage.clock.advance(timedelta(minutes=11))
    await offered(counter, "memories why", "id", "", who=BEN, commands=commands)
    assert len(await Audit(counter.stage.store).about(ana.account_id)) == 2


async def test_what_was_removed_is_offered_for_an_undo(counter: Counter) -> None:
    gate = await learned(counter.stage, "gate")
    removed = await counter.run("memories remove", ids=str(gate))
    (undo,) = removed.steps
    assert (undo.path, undo.options) == (("memories", "undo"), {"id": gate})
    assert [each.value for each in await offered(counter, "memories undo", "id", "ga")] == [gate]
    assert await offered(counter, "memories undo", "id", "ga", manages=False) == []
    own = await counter.memory("sings", "personal memories add")
    await counter.run("personal memories remove", ids=str(own))
    assert [each.value for each in await offered(counter, "personal memories undo", "id", "")] == [own]
    assert await offered(counter, "personal memories undo", "id", "", who=BEN) == []


async def test_several_are_removed_with_one_button(counter: Counter) -> None:
    ids = [await learned(counter.stage, text) for text in ("gate", "soup")]
    asked = await counter.run("memories remove", ids=",".join(map(str, ids)))
    (step,) = asked.steps
    assert (step.kind, step.label) == (StepKind.CONFIRM, "Remove 2 memories")
    options: dict[str, Any] = dict(step.options)
    assert (await counter.run(" ".join(step.path), **options)).ok
    assert await counter.stage.rows("SELECT FROM server_memories") == []


async def test_pages_have_buttons_to_their_neighbours(counter: Counter) -> None:
    context = await counter.stage.context(ANA)
    for number in range(21):
        await counter.stage.create(context, f"fact {number}")
    (on,) = (await counter.run("memories list")).steps
    assert (on.kind, on.path, on.options) == (StepKind.NEXT, ("memories", "list"), {"page": 2})
    second = (await counter.run("memories search", text="fact", page=2)).steps
    assert [dict(step.options) for step in second] == [{"text": "fact", "page": 1}, {"text": "fact", "page": 3}]
    (back,) = (await counter.run("memories list", page=3)).steps
    assert back.kind is StepKind.PREVIOUS


async def test_personas_are_offered_by_name(stage: Stage) -> None:
    counter = Counter(stage)
    context = await stage.context(author("Ana"))
    name = (await counter.desk.personas.for_server(context.place.server.server_id))[0].nickname
    assert await offered(counter, "memories list", "persona", name[:2].upper()) == [Choice(name, name)]
    assert await offered(counter, "memories list", "persona", "zzz") == []
