"""Embedding models: texts into vectors of length one, off the event loop, loaded when they are first used."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Protocol

from agent.models.errors import Failure, FailureKind, ModelFailed, ModelSetupError
from agent.models.retry import Retries
from agent.text import clean

if TYPE_CHECKING:
    from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel

    from agent.settings.model import AgentSettings

MAX_CHARS: Final = 2_000
"""What is embedded of a text; a local model takes seconds for a megabyte."""
MAX_TEXTS: Final = 256
"""Texts of one request or one stay in the thread."""
LOCAL_DIMENSION: Final = 256
DEFAULT_THRESHOLD: Final = 0.4
_KNOWN: Final[Mapping[str, tuple[int, float]]] = {
    "text-embedding-3-small": (1_536, 0.3),
    "text-embedding-3-large": (3_072, 0.3),
    "text-embedding-ada-002": (1_536, 0.78),
    "BAAI/bge-small-en-v1.5": (384, 0.6),
    "intfloat/multilingual-e5-small": (384, 0.82),
    "intfloat/multilingual-e5-large": (1_024, 0.82),
}
"""Dimension and threshold of models whose similarities are known; a threshold belongs to its model."""


class EmptyText(ValueError):
    """A text without content has no place among others: its similarities would be no numbers."""


class Embedder(Protocol):
    """A model that gives each text a place among all others."""

    @property
    def name(self) -> str:
        """As the settings name it; vectors of two names are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers of a vector; 0 where that shows only with the first text."""
        ...

    @property
    def threshold(self) -> float:
        """The cosine similarity above which two texts are about the same, for this model."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector of length one for each text; only the first 2,000 characters count.

        Raises:
            EmptyText: a text is blank.
            ModelFailed: the model cannot be reached or loaded, or answered nonsense.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


def make_embedder(settings: AgentSettings, environ: Mapping[str, str] = os.environ) -> Embedder | None:
    """Return the model of `[agent] embeddings`; None for "off". Nothing heavy is loaded yet.

    Raises:
        ModelSetupError: it cannot be made; the message says what to set or install.
        agent.settings.errors.SecretError: its key cannot be read.
    """
    provider, _, name = settings.embeddings.partition(":")
    match provider:
        case "off":
            return None
        case "local":
            _require("wordllama", settings.embeddings)
            return ThreadEmbedder("local", load_wordllama, LOCAL_DIMENSION, 0.25)
        case "fastembed":
            _require("fastembed", settings.embeddings)
            dimension, threshold = _KNOWN.get(name, (0, DEFAULT_THRESHOLD))
            return ThreadEmbedder(settings.embeddings, lambda: _load_fastembed(name), dimension, threshold)
        case "openai":
            return _openai(settings, name, environ)
    raise ModelSetupError(
        f"embeddings {settings.embeddings!r} are not known: set [agent] embeddings to "
        '"local", "off", "openai:MODEL" or "fastembed:MODEL"'
    )


def _require(package: str, setting: str) -> None:
    if find_spec(package) is None:
        raise ModelSetupError(
            f"embeddings {setting!r} need a package that is not installed: pip install {package}, "
            'or set [agent] embeddings = "off"'
        )


type Encode = Callable[[Sequence[str]], Sequence[Any]]
"""Texts into vectors, each a sequence of numbers; blocks."""


@cache
def load_wordllama() -> Encode:
    """Load the local model, once a process (0.5 s and 92 MB; it holds up other threads for a third of that)."""
    from pathlib import Path

    import wordllama

    # Its weights come with the wheel; without this it would look for them on a hub.
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    return lambda texts: list(model.embed(list(texts)).tolist())


def _load_fastembed(name: str) -> Encode:
    from fastembed import TextEmbedding

    model = TextEmbedding(model_name=name)  # downloads the model at its first use
    return lambda texts: [vector.tolist() for vector in model.embed(list(texts))]


def prepare(texts: Sequence[str]) -> list[str]:
    """Return the texts as they are embedded: clean, cut.

    Raises:
        EmptyText: one is blank.
    """
    prepared = [clean(text[: 2 * MAX_CHARS]).strip()[:MAX_CHARS] for text in texts]
    if blank := [position for position, text in enumerate(prepared) if not text]:
        raise EmptyText(f"text {blank[0]} is blank: leave it out")
    return prepared


def normalise(vectors: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the vectors with length one.

    Raises:
        ModelFailed: one has no direction, or holds what is no number.
    """
    normal: list[list[float]] = []
    for vector in vectors:
        length = math.sqrt(math.fsum(number * number for number in vector))
        if not length or not math.isfinite(length):
            raise ModelFailed(Failure(FailureKind.BAD_RESPONSE, detail="a vector without a direction"))
        normal.append([number / length for number in vector])
    return normal


async def _in_batches(
    texts: Sequence[str], encode: Callable[[list[str]], Awaitable[list[list[float]]]]
) -> list[list[float]]:
    prepared = prepare(texts)
    vectors: list[list[float]] = []
    for begin in range(0, len(prepared), MAX_TEXTS):
        batch = prepared[begin : begin + MAX_TEXTS]
        got = await encode(batch)
        if len(got) != len(batch):
            raise ModelFailed(Failure(FailureKind.BAD_RESPONSE, detail="another number of vectors than of texts"))
        vectors += got
    return vectors


@dataclass(slots=True)
class ThreadEmbedder:
    """A model in this process. It is loaded at its first use, and works in a thread."""

    name: str
    load: Callable[[], Encode]
    dimension: int
    threshold: float
    _encode: Encode | None = None
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder`."""
        vectors = await _in_batches(texts, self._encode_batch)
        self.dimension = len(vectors[0]) if vectors else self.dimension
        return vectors

    async def _encode_batch(self, batch: list[str]) -> list[list[float]]:
        async with self._one_at_a_time:
            return await asyncio.to_thread(self._in_thread, batch)

    def _in_thread(self, batch: list[str]) -> list[list[float]]:
        try:
            vectors = self._loaded()(batch)
        except Exception as error:
            failure = Failure(FailureKind.UNAVAILABLE, error=type(error).__name__, detail=str(error)[:1_000])
            raise ModelFailed(failure) from error
        return normalise(vectors)

    def _loaded(self) -> Encode:
        if self._encode is None:
            self._encode = self.load()
        return self._encode

    def warm(self) -> None:
        """Load now what would be loaded at the first use; blocks. What fails is told at the first use."""
        with contextlib.suppress(ModelFailed):
            self._in_thread([" "])

    async def close(self) -> None:
        """Nothing is held."""


def _openai(settings: AgentSettings, name: str, environ: Mapping[str, str]) -> Embedder:
    # The key and address of [agent] belong to the chat model; another provider's are of no use here.
    shared = settings.model.partition(":")[0] in {"offline", "openai"}
    key = settings.api_key.resolve().get_secret_value() if shared and settings.api_key else None
    base_url = settings.base_url if shared else None
    key = key or environ.get("OPENAI_API_KEY") or ("none" if base_url else None)
    if key is None:
        raise ModelSetupError(
            f'embeddings {settings.embeddings!r} need a key: export OPENAI_API_KEY, or set [agent] embeddings = "local"'
        )
    dimension, threshold = _KNOWN.get(name, (0, DEFAULT_THRESHOLD))
    return OpenAIEmbedder(settings.embeddings, name, key, base_url, settings.request_timeout, dimension, threshold)


@dataclass(repr=False)
class OpenAIEmbedder:
    """A model behind OpenAI's interface, wherever it runs."""

    name: str
    model_name: str
    key: str
    base_url: str | None
    seconds: float
    dimension: int
    threshold: float
    retries: Retries = field(default_factory=Retries)

    @cached_property
    def _client(self) -> Any:
        from openai import AsyncOpenAI

        return AsyncOpenAI(api_key=self.key, base_url=self.base_url, max_retries=0, timeout=self.seconds)

    @cached_property
    def _model(self) -> OpenAIEmbeddingModel:
        from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIEmbeddingModel(self.model_name, provider=OpenAIProvider(openai_client=self._client))

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder`."""
        await asyncio.to_thread(lambda: self._model)  # imports the client at the first use
        vectors = await _in_batches(texts, self._ask)
        self.dimension = len(vectors[0]) if vectors else self.dimension
        return vectors

    async def _ask(self, batch: list[str]) -> list[list[float]]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.seconds

        async def request(seconds: float) -> list[list[float]]:
            async with asyncio.timeout(seconds):
                result = await self._model.embed(batch, input_type="document")
            return normalise(result.embeddings)

        return await self.retries.run(request, lambda: deadline - loop.time(), self.name)

    async def close(self) -> None:
        """Close the connections."""
        if "_client" in self.__dict__:
            await self._client.close()


async def probe(embedder: Embedder) -> str:
    """Embed one word and say in one line what came of it.

    Raises:
        ModelFailed: it did not work.
    """
    began = asyncio.get_running_loop().time()
    (vector,) = await embedder.embed(["ready"])
    return f"{embedder.name}: {len(vector)} dimensions, {asyncio.get_running_loop().time() - began:.2f} s"
