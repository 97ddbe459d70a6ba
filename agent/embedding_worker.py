"""Embeds what is kept, after it is committed and in the background: nobody waits for it, and no lock is held.

A plugin adds a source at its start, and calls `wake` after a commit that added or changed texts. What has no vector of
the present model is found by asking the source, so that nothing depends on a wake: a start, an outage of the model and
a change of model are all made up for in the same way.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from agent import logs, metrics
from agent.hookspecs import Health
from agent.models.embeddings import EmptyText
from agent.models.errors import FailureKind, ModelFailed

if TYPE_CHECKING:
    from agent.models.embeddings import Embedder

metrics.declare("embeddings_made", "counter", ("source",), "Texts that were embedded and kept.", level="debug")
metrics.declare(
    "embedding_failures", "counter", ("source", "reason"), "Texts and batches of texts that were not embedded."
)
metrics.declare("embedding_batch_seconds", "histogram", ("source",), "Seconds to embed one batch of texts.")

_log = logs.get_logger(__name__)

BATCH: Final = 32
"""Texts of one request."""
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 300.0
ENDLESS: Final = 2**63 - 1
"""Above every id."""
"""Seconds after a failure; each further one doubles the pause."""
_MOST_REFUSED: Final = 10_000
_HARMLESS: Final = "ready"
"""A model that does not take this takes nothing."""
#: These may be the fault of one text among many.
_OF_THE_TEXT: Final = frozenset({FailureKind.REJECTED, FailureKind.TOO_LONG, FailureKind.BAD_RESPONSE})


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A text that has no vector of the present model."""

    row_id: int
    version: int
    """Changes with the text."""
    text: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vector of a text."""

    row_id: int
    version: int
    vector: Sequence[float]
    """Of length one."""


class EmbeddingSource(Protocol):
    """Where texts come from and vectors go: a plugin's repository."""

    @property
    def name(self) -> str:
        """As logs, metrics and the doctor call it, in the plural: `documents`."""
        ...

    async def pending(self, model: str, after: int, before: int, limit: int) -> Sequence[Unembedded]:
        """Return texts without a vector of this model whose ids lie between (neither included), the highest first.

        Fewer than `limit` are all that there are. None are returned when vectors cannot be kept, as without pgvector.
        """
        ...

    async def keep(self, model: str, embedded: Sequence[Embedded]) -> int:
        """Keep vectors and return how many; those of rows that went or have another version now are dropped."""
        ...

    async def count_pending(self, model: str) -> int:
        """Return how many texts have no vector of this model; 0 when vectors cannot be kept here."""
        ...


class _Progress:
    """How far a source is."""

    def __init__(self, source: EmbeddingSource) -> None:
        self.source = source
        self.is_due = True
        self.after = 0
        self.before = ENDLESS
        """What is still to be looked through lies between."""
        self.is_busy = False
        self.pause = 0.0
        self.not_before = 0.0
        self.problem: str | None = None
        self.refused: dict[int, int] = {}
        """Row → version of the text that the model does not take."""

    def look_from(self, row_id: int) -> None:
        """Look through everything from this row on, the newest first."""
        self.after = min(self.after, row_id - 1) if self.is_due or self.is_busy else row_id - 1
        self.before = ENDLESS
        self.is_due = True

    def refuse(self, rows: Sequence[Unembedded]) -> None:
        """Leave these out until they change."""
        if len(self.refused) + len(rows) > _MOST_REFUSED:
            self.refused.clear()
        self.refused.update((row.row_id, row.version) for row in rows)


class EmbeddingWorker:
    """One task for every source, which takes turns: a batch of each. Without a model it does nothing."""

    def __init__(self, embedder: Embedder | None, *, batch: int = BATCH, first_pause: float = FIRST_PAUSE) -> None:
        self._embedder = embedder
        self._batch = batch
        self._first_pause = first_pause
        self._sources: dict[str, _Progress] = {}
        self._woken = asyncio.Event()
        self._resting = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_on(self) -> bool:
        """Tell whether there is a model."""
        return self._embedder is not None

    def add(self, source: EmbeddingSource) -> None:
        """Take care of a source from now on, beginning with what it has waiting."""
        self._sources[source.name] = _Progress(source)
        if self._embedder is not None:
            self._woken.set()
            if self._task is None:
                self._task = asyncio.create_task(self._run(self._embedder), name="embedding worker")

    def wake(self, name: str, row_id: int = 1) -> None:
        """Say, after a commit, that a source has new or changed texts, the lowest of them `row_id`; returns at once."""
        self._sources[name].look_from(row_id)
        self._woken.set()

    async def idle(self) -> None:
        """Return when every source is done or its failure makes it wait."""
        async with self._resting:
            await self._resting.wait_for(lambda: self._task is None or not (self._woken.is_set() or self._ready()))

    async def stop(self) -> None:
        """End; what waits is found at the next start."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def health(self, name: str) -> Health:
        """Return the doctor's line about a source: how many of its texts wait, and why."""
        title = f"{name} embeddings"
        if self._embedder is None:
            remedy = 'set [agent] embeddings = "local", or another model'
            return Health(title, "warn", "embeddings are off: only words are searched", remedy)
        progress = self._sources[name]
        count = await progress.source.count_pending(self._embedder.name)
        refused = min(len(progress.refused), count)
        if progress.problem is not None:
            text = f"{count} wait, since embedding them failed ({progress.problem})"
            return Health(title, "warn", text, "check [agent] embeddings; it is tried again by itself")
        if refused:
            text = f"{refused} are not taken by {self._embedder.name} and found by words only; {count - refused} wait"
            return Health(title, "warn", text, "shorten or remove them, or choose another model in [agent] embeddings")
        return Health(title, "ok", f"{count} wait" if count else f"all by {self._embedder.name}")

    # One task ------------------------------------------------------------------------------------

    def _ready(self) -> list[_Progress]:
        now = asyncio.get_running_loop().time()
        return [each for each in self._sources.values() if each.is_due and each.not_before <= now]

    async def _run(self, embedder: Embedder) -> None:
        while True:
            self._woken.clear()
            while ready := self._ready():
                for progress in ready:
                    await self._step(progress, embedder)
            async with self._resting:
                self._resting.notify_all()
            later = [each.not_before for each in self._sources.values() if each.is_due]
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(min(later, default=None)):
                    await self._woken.wait()

    async def _step(self, progress: _Progress, embedder: Embedder) -> None:
        """Embed one batch of a source; a failure lets it wait, and concerns no other source."""
        try:
            await self._embed_batch(progress, embedder)
        except ModelFailed as error:
            self._failed(progress, error.failure.kind, error.failure.retry_after or 0.0)
        except Exception as error:  # noqa: BLE001 - a plugin's failure must not end the task that serves them all
            self._failed(progress, type(error).__name__)
        else:
            progress.pause, progress.not_before, progress.problem = 0.0, 0.0, None

    def _failed(self, progress: _Progress, reason: str, at_least: float = 0.0) -> None:
        name = progress.source.name
        if progress.problem != reason:
            _log.warning("embedding_failed", source=name, reason=reason)
        progress.problem = reason
        progress.pause = min(max(progress.pause * 2, self._first_pause, at_least), LONGEST_PAUSE)
        progress.not_before = asyncio.get_running_loop().time() + progress.pause
        metrics.emit("embedding_failures", source=name, reason=reason)

    async def _embed_batch(self, progress: _Progress, embedder: Embedder) -> None:
        progress.is_due, progress.is_busy = False, True  # a wake from here on counts
        try:
            rows = await progress.source.pending(embedder.name, progress.after, progress.before, self._batch)
            fresh = [row for row in rows if progress.refused.get(row.row_id) != row.version]
            if fresh:
                await self._embed_rows(progress, embedder, fresh)
        except BaseException:
            progress.is_due = True
            raise
        finally:
            progress.is_busy = False
        if len(rows) == self._batch and not progress.is_due:
            progress.is_due, progress.before = True, rows[-1].row_id

    @staticmethod
    async def _embed_rows(progress: _Progress, embedder: Embedder, rows: Sequence[Unembedded]) -> None:
        name = progress.source.name
        began = asyncio.get_running_loop().time()
        embedded, refused = await embed_each(embedder, rows)
        metrics.emit("embedding_batch_seconds", asyncio.get_running_loop().time() - began, source=name)
        if embedded:
            kept = await progress.source.keep(embedder.name, embedded)
            metrics.emit("embeddings_made", kept, source=name)
        if refused:
            metrics.emit("embedding_failures", len(refused), source=name, reason="text_refused")
            progress.refuse(refused)


async def embed_each(embedder: Embedder, rows: Sequence[Unembedded]) -> tuple[list[Embedded], list[Unembedded]]:
    """Return the vectors, and the rows whose texts the model does not take; one such text does not spoil the others.

    Raises:
        ModelFailed: the model does not work, or takes no text at all.
    """
    embedded, refused, reason = await _embed_or_halve(embedder, rows)
    if not embedded and isinstance(reason, ModelFailed):
        try:
            await embedder.embed([_HARMLESS])
        except ModelFailed:
            raise reason from None
    return embedded, refused


async def _embed_or_halve(
    embedder: Embedder, rows: Sequence[Unembedded]
) -> tuple[list[Embedded], list[Unembedded], Exception | None]:
    try:
        vectors = await embedder.embed([row.text for row in rows])
    except (EmptyText, ModelFailed) as error:
        if isinstance(error, ModelFailed) and error.failure.kind not in _OF_THE_TEXT:
            raise
        if len(rows) == 1:
            return [], list(rows), error
    else:
        return [Embedded(row.row_id, row.version, vector) for row, vector in zip(rows, vectors, strict=True)], [], None
    middle = len(rows) // 2
    left = await _embed_or_halve(embedder, rows[:middle])
    right = await _embed_or_halve(embedder, rows[middle:])
    return left[0] + right[0], left[1] + right[1], left[2] or right[2]
