from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from agent.embedding_worker import ENDLESS, Embedded, EmbeddingWorker, Unembedded, embed_each
from agent.models.embeddings import EmptyText
from agent.models.errors import Failure, FailureKind, ModelFailed


@dataclass
class Texts:
    """A source in memory."""

    texts: dict[int, tuple[int, str]]
    name: str = "texts"
    kept: dict[str, dict[int, tuple[int, Sequence[float]]]] = field(default_factory=dict)
    before_keep: Callable[[], None] = lambda: None
    broken: Exception | None = None
    asked: list[tuple[int, int]] = field(default_factory=list)

    def without(self, model: str) -> list[int]:
        kept = self.kept.get(model, {})
        return [row for row in sorted(self.texts, reverse=True) if kept.get(row, (None,))[0] != self.texts[row][0]]

    async def pending(self, model: str, after: int, before: int, limit: int) -> Sequence[Unembedded]:
        self.asked.append((after, before))
        if self.broken:
            raise self.broken
        rows = [row for row in self.without(model) if after < row < before]
        return [Unembedded(row, *self.texts[row]) for row in rows[:limit]]

    async def keep(self, model: str, embedded: Sequence[Embedded]) -> int:
        self.before_keep()
        now = [each for each in embedded if self.texts.get(each.row_id, (None,))[0] == each.version]
        self.kept.setdefault(model, {}).update({each.row_id: (each.version, each.vector) for each in now})
        return len(now)

    async def count_pending(self, model: str) -> int:
        return len(self.without(model))


@dataclass
class Model:
    """A model that fails as it is told."""

    name: str = "m"
    dimension: int = 2
    threshold: float = 0.5
    asked: list[list[str]] = field(default_factory=list)
    failure: Callable[[Sequence[str]], FailureKind | None] = lambda _texts: None
    ask: Callable[[], None] = lambda: None

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.append(list(texts))
        await asyncio.sleep(0)
        self.ask()
        if any(not text.strip() for text in texts):
            raise EmptyText("blank")
        if kind := self.failure(texts):
            raise ModelFailed(Failure(kind))
        return [[float(len(text)), 0.0] for text in texts]

    async def close(self) -> None:
        pass


def numbered(count: int) -> dict[int, tuple[int, str]]:
    return {row: (1, f"text {row}") for row in range(1, count + 1)}


async def settled(worker: EmbeddingWorker) -> None:
    async with asyncio.timeout(5):
        await worker.idle()


async def test_everything_that_waits_is_embedded_newest_first() -> None:
    source, model = Texts(numbered(10)), Model()
    worker = EmbeddingWorker(model, batch=4)
    worker.add(source)
    await settled(worker)
    assert [len(batch) for batch in model.asked] == [4, 4, 2]
    assert model.asked[0][0] == "text 10"
    assert source.without("m") == []
    source.texts[11] = (1, "later")
    worker.wake("texts")
    await settled(worker)
    assert model.asked[-1] == ["later"]
    await worker.stop()


async def test_what_changes_meanwhile_is_embedded_again() -> None:
    source, model = Texts(numbered(1)), Model()
    worker = EmbeddingWorker(model)

    def edit() -> None:
        source.before_keep = lambda: None
        source.texts[1] = (2, "edited text")
        worker.wake("texts")

    source.before_keep = edit
    worker.add(source)
    await settled(worker)
    assert source.kept["m"] == {1: (2, [11.0, 0.0])}
    assert model.asked == [["text 1"], ["edited text"]]
    await worker.stop()


async def test_what_comes_during_a_batch_goes_before_what_waits_longer() -> None:
    source, model = Texts(numbered(6)), Model()
    worker = EmbeddingWorker(model, batch=2)

    def add() -> None:
        model.ask = lambda: None
        source.texts[99] = (1, "new")
        worker.wake("texts")

    model.ask = add
    worker.add(source)
    await settled(worker)
    assert model.asked[1] == ["new", "text 4"]
    assert source.without("m") == []
    await worker.stop()


async def test_a_wake_looks_no_further_back_than_what_changed() -> None:
    source, model = Texts(numbered(5)), Model()
    worker = EmbeddingWorker(model, batch=4)
    worker.add(source)
    await settled(worker)
    assert source.asked == [(0, ENDLESS), (0, 2)]
    source.texts[8] = (1, "new")
    source.texts[9] = (1, "newer")
    worker.wake("texts", 9)
    worker.wake("texts", 8)
    await settled(worker)
    assert source.asked[2:] == [(7, ENDLESS)]
    assert source.without("m") == []
    await worker.stop()


async def test_a_wake_cuts_no_backfill_short() -> None:
    source, model = Texts(numbered(6)), Model()
    worker = EmbeddingWorker(model, batch=2)

    def add() -> None:
        model.ask = lambda: None
        source.texts[99] = (1, "new")
        worker.wake("texts", 99)

    model.ask = add
    worker.add(source)
    await settled(worker)
    assert source.without("m") == []
    await worker.stop()


async def test_another_model_embeds_everything_again() -> None:
    source = Texts(numbered(3))
    for name in ("one", "two"):
        worker = EmbeddingWorker(Model(name=name))
        worker.add(source)
        await settled(worker)
        await worker.stop()
    assert source.kept["one"].keys() == source.kept["two"].keys() == {1, 2, 3}


async def test_a_model_that_fails_is_asked_again_with_pauses() -> None:
    source, model = Texts(numbered(3)), Model(failure=lambda _: FailureKind.CONNECTION)
    worker = EmbeddingWorker(model, first_pause=0.05)
    worker.add(source)
    await settled(worker)
    assert (await worker.health("texts")).state == "warn"
    assert "connection" in (await worker.health("texts")).text
    async with asyncio.timeout(5):
        while len(model.asked) < 4:  # noqa: ASYNC110 - the model tells nobody that it was asked
            await asyncio.sleep(0.01)
    # Now it pauses for 0.4 s.
    worker.wake("texts")
    asked = len(model.asked)
    await settled(worker)
    assert len(model.asked) == asked, "a wake does not cut the pause short"
    model.failure = lambda _: None
    kept = asyncio.Event()
    source.before_keep = kept.set
    async with asyncio.timeout(5):
        await kept.wait()
    await settled(worker)
    assert (await worker.health("texts")).state == "ok"
    await worker.stop()


async def test_a_source_that_fails_does_not_hold_up_another() -> None:
    broken, well = Texts(numbered(1), name="broken", broken=ValueError("a bug")), Texts(numbered(3), name="well")
    worker = EmbeddingWorker(Model(), batch=1)
    worker.add(broken)
    worker.add(well)
    await settled(worker)
    assert well.without("m") == []
    assert "ValueError" in (await worker.health("broken")).text
    await worker.stop()


async def test_one_text_that_the_model_refuses_is_left_out_until_it_changes() -> None:
    source = Texts({**numbered(8), 5: (1, "bad"), 9: (1, " ")})
    model = Model(failure=lambda texts: FailureKind.REJECTED if "bad" in texts else None)
    worker = EmbeddingWorker(model, batch=4)
    worker.add(source)
    await settled(worker)
    assert source.without("m") == [9, 5]
    health = await worker.health("texts")
    assert health.state == "warn"
    assert health.text.startswith("2 are not taken by m")
    asked = len(model.asked)
    worker.wake("texts")
    await settled(worker)
    assert len(model.asked) == asked, "it is not asked for again"
    source.texts[5] = (2, "good")
    worker.wake("texts")
    await settled(worker)
    assert source.without("m") == [9]
    await worker.stop()


async def test_a_model_that_takes_nothing_is_not_the_fault_of_the_texts() -> None:
    rows = [Unembedded(row, 1, f"text {row}") for row in range(4)]
    with pytest.raises(ModelFailed):
        await embed_each(Model(failure=lambda _: FailureKind.REJECTED), rows)
    with pytest.raises(ModelFailed):
        await embed_each(Model(failure=lambda _: FailureKind.REJECTED), rows[:1])
    only = Model(failure=lambda texts: FailureKind.TOO_LONG if texts != ["ready"] else None)
    assert await embed_each(only, rows) == ([], rows)


async def test_without_a_model_nothing_happens_and_the_doctor_says_so() -> None:
    worker = EmbeddingWorker(None)
    worker.add(Texts(numbered(1)))
    worker.wake("texts")
    await settled(worker)
    health = await worker.health("texts")
    assert (health.state, bool(health.remedy)) == ("warn", True)
    assert not worker.is_on
    await worker.stop()


async def test_it_stops_while_the_model_is_asked() -> None:
    asked, forever = asyncio.Event(), asyncio.Event()

    class Slow(Model):
        async def embed(self, texts: Sequence[str]) -> list[list[float]]:
            asked.set()
            await forever.wait()
            return []

    worker = EmbeddingWorker(Slow())
    worker.add(Texts(numbered(1)))
    await asked.wait()
    async with asyncio.timeout(1):
        await worker.stop()
