import pytest

from agent.contracts.cards import CardKind
from agent.contracts.people import PrivacyLevel
from plugins.memory.settings import DecaySettings
from plugins.memory.status import Status
from tests.plugins.memory.stage import BACKROOM, GENERAL, Stage, author
from tests.plugins.memory.world import DAY

ANA, BEN = author("Ana"), author("Ben")


async def test_with_retrieval_the_oldest_dormant_memory_gives_way(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    emitted: list[tuple[str, dict[str, object]]] = []
    monkeypatch.setattr("agent.metrics.emit", lambda name, value=1, **labels: emitted.append((name, labels)))
    stage.configure(max_server_memories=1)
    stage.allow_eviction()
    context = await stage.context(ANA)
    first = await stage.create(context, "a")
    stage.clock.advance(31 * DAY)
    result = await stage.create(context, "b")
    assert (result.status, result.data["content_forgotten"]) == (Status.SAVED_WITH_EVICTION, "a")
    card = stage.effects.cards[-1]
    hint = f"Within 24 hours this brings it back: /memories undo {first.data['memory_id']}"
    assert (card.kind, card.forgotten, card.lines) == (CardKind.EVICTED, "a", ("b", hint))
    assert [labels for name, labels in emitted if name == "memory_eviction"] == [{"scope": "server", "decay_days": 30}]
    [copy] = await stage.rows("SELECT memory_id FROM forgotten_memories")
    assert copy["memory_id"] == first.data["memory_id"]
    stage.configure(max_server_memories=1, decay=DecaySettings(enabled=False))
    stage.allow_eviction()
    stage.clock.advance(31 * DAY)
    assert (await stage.create(context, "c")).status == Status.SAVE_LIMIT_EXCEEDED


async def test_what_is_forgotten_is_told_with_the_name_of_whom_it_was_about(stage: Stage) -> None:
    stage.configure(max_server_memories=1)
    stage.allow_eviction()
    await stage.tell(ANA, BEN)
    told = []
    for who, content in ((ANA, "{user} hosts for {bot}"), (BEN, "{user} cooks"), (ANA, "see <@console:ben>")):
        result = await stage.create(await stage.context(who, ANA, BEN), content)
        stage.clock.advance(31 * DAY)
        told.append((result.data.get("content_forgotten"), stage.effects.cards[-1].forgotten))
        assert told[-1][0] == told[-1][1]
    assert [forgotten for forgotten, _ in told] == [None, "Ana hosts for Isthmus", "Ben cooks"]
    assert stage.effects.cards[-1].lines[0] == "see @Ben"


async def test_who_hides_is_not_named_in_what_is_forgotten(stage: Stage) -> None:
    stage.configure(max_server_memories=1)
    stage.allow_eviction()
    await stage.tell(ANA, BEN)
    await stage.create(await stage.context(ANA), "{user} hosts")
    await stage.set_privacy(ANA, PrivacyLevel.FULL)
    stage.clock.advance(31 * DAY)
    result = await stage.create(await stage.context(BEN), "{user} cooks")
    assert (result.data["content_forgotten"], stage.effects.cards[-1].forgotten) == ("", None)


async def test_what_gives_way_is_not_told_where_it_may_not_be_known(stage: Stage) -> None:
    """Said in the backroom, about somebody who restricts it, or naming somebody who hides: it goes unseen."""
    await stage.tell(ANA, BEN)
    stage.configure(max_server_memories=1)
    stage.allow_eviction()
    context = await stage.context(ANA, BEN)
    for number, (where, content) in enumerate(
        ((BACKROOM, "a secret"), (GENERAL, "{user} hosts"), (GENERAL, "ask Ben"), (GENERAL, "tea"))
    ):
        speaker = await stage.context(BEN if "{user}" in content else ANA, channel=where)
        await stage.create(speaker, content)
        await stage.set_privacy(BEN, PrivacyLevel.FULL)
        stage.clock.advance(31 * DAY)
        result = await stage.create(context, f"number {number}")
        card, forgotten = stage.effects.cards[-1], "tea" if content == "tea" else ""
        assert (result.status, result.data["content_forgotten"]) == (Status.SAVED_WITH_EVICTION, forgotten)
        assert (card.kind, card.forgotten) == (CardKind.EVICTED, forgotten or None)
        await stage.set_privacy(BEN, PrivacyLevel.NONE)
        stage.clock.advance(31 * DAY)
