import asyncio
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.chat import preload
from agent.models.embeddings import (
    EmptyText,
    Encode,
    OpenAIEmbedder,
    ThreadEmbedder,
    load_wordllama,
    make_embedder,
    normalise,
    prepare,
    probe,
)
from agent.models.errors import FailureKind, ModelFailed, ModelSetupError
from agent.models.retry import Retries
from agent.settings.model import AgentSettings
from agent.settings.secrets import Secret
from tests.servers.openai import Answer, OpenAIServer, failed, rate_limited
from tests.servers.openai.server import DIMENSION

preload()
load_wordllama()  # before any loop runs


def cosine(one: Sequence[float], two: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, two, strict=True))


async def test_off_is_nothing() -> None:
    assert make_embedder(AgentSettings(embeddings="off")) is None


async def test_the_local_model_brings_questions_and_facts_together() -> None:
    embedder = make_embedder(AgentSettings(embeddings="local"))
    assert embedder is not None
    facts = ["Ben plays the cello in an orchestra", "game night is every Friday at 20:00", "the mascot is a heron"]
    questions = ["what instrument does Ben play?", "when do we play games?", "which animal is our mascot?"]
    vectors = await embedder.embed([*facts, *questions])
    assert {len(vector) for vector in vectors} == {embedder.dimension} == {256}
    assert all(cosine(vector, vector) == pytest.approx(1.0) for vector in vectors)
    for index, question in enumerate(vectors[3:]):
        for other, fact in enumerate(vectors[:3]):
            assert (cosine(question, fact) > embedder.threshold) == (index == other)
    assert (await probe(embedder)).startswith("local: 256 dimensions, ")
    await embedder.close()


async def test_nothing_in_nothing_out() -> None:
    embedder = make_embedder(AgentSettings(embeddings="local"))
    assert embedder is not None
    assert await embedder.embed([]) == []


@pytest.mark.parametrize("blank", ["", " \n\t", "\x00\x07"])
def test_a_blank_text_is_refused(blank: str) -> None:
    with pytest.raises(EmptyText, match="text 1 is blank"):
        prepare(["something", blank])


@given(st.lists(st.text(), max_size=5))
def test_whatever_is_prepared_can_be_encoded(texts: list[str]) -> None:
    try:
        prepared = prepare(texts)
    except EmptyText:
        return
    assert len(prepared) == len(texts)
    assert all(text.strip() and len(text) <= 2_000 and text.encode() for text in prepared)


@pytest.mark.parametrize("text", ["x" * 1_000_000, "\ud800 lone", "🙂", "。。", "a\u0301" * 10_000])
async def test_strange_texts_can_be_embedded(text: str) -> None:
    embedder = make_embedder(AgentSettings(embeddings="local"))
    assert embedder is not None
    (vector,) = await embedder.embed([text])
    assert cosine(vector, vector) == pytest.approx(1.0)


@pytest.mark.parametrize("vector", [[0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0]])
def test_a_vector_without_a_direction_is_refused(vector: list[float]) -> None:
    with pytest.raises(ModelFailed):
        normalise([[1.0, 0.0], vector])


async def test_a_model_that_cannot_be_loaded_says_so_each_time() -> None:
    def load() -> None:
        raise OSError("no weights")

    embedder = ThreadEmbedder("local", load, 2, 0.5)  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(ModelFailed) as failure:
            await embedder.embed(["text"])
        assert failure.value.failure.detail == "no weights"


def test_a_warm_model_is_loaded_once() -> None:
    loads: list[int] = []

    def load() -> Encode:
        loads.append(1)
        return lambda texts: [[1.0, 0.0] for _ in texts]

    embedder = ThreadEmbedder("local", load, 2, 0.5)
    embedder.warm()
    embedder.warm()
    assert asyncio.run(embedder.embed(["text"])) == [[1.0, 0.0]]
    assert loads == [1]


async def test_many_texts_go_in_batches_and_keep_their_order() -> None:
    sizes: list[int] = []

    def encode(texts: Sequence[str]) -> list[list[float]]:
        sizes.append(len(texts))
        return [[float(text), 1.0] for text in texts]

    embedder = ThreadEmbedder("numbers", lambda: encode, 2, 0.5)
    vectors = await embedder.embed([str(number) for number in range(600)])
    assert [round(vector[0] / vector[1]) for vector in vectors] == list(range(600))
    assert sizes == [256, 256, 88]


async def test_a_fastembed_model_is_loaded_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    class TextEmbedding:
        def __init__(self, model_name: str) -> None:
            made.append(model_name)

        def embed(self, texts: list[str]) -> Iterator[np.ndarray[Any, Any]]:
            yield from (np.array([3.0, 4.0]) for _ in texts)

    module = ModuleType("fastembed")
    module.__spec__ = ModuleSpec("fastembed", None)
    module.TextEmbedding = TextEmbedding  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", module)
    embedder = make_embedder(AgentSettings(embeddings="fastembed:BAAI/bge-small-en-v1.5"))
    assert embedder is not None
    assert (made, embedder.dimension) == ([], 384)
    assert await embedder.embed(["one", "two"]) == [[0.6, 0.8], [0.6, 0.8]]
    assert made == ["BAAI/bge-small-en-v1.5"]


def openai_embedder(server: OpenAIServer, key: str | None = None) -> OpenAIEmbedder:
    secret = Secret.parse(key) if key else None
    made = make_embedder(AgentSettings(embeddings="openai:loopback", base_url=server.url, api_key=secret), {})
    assert isinstance(made, OpenAIEmbedder)

    async def sleep(_: float) -> None:
        await asyncio.sleep(0)

    return replace(made, retries=Retries(sleep=sleep))


async def test_an_openai_compatible_server() -> None:
    async with OpenAIServer(key="right") as server:
        embedder = openai_embedder(server, "right")
        one, two, again = await embedder.embed(["one", "two", "one"])
        assert (len(one), embedder.dimension) == (DIMENSION, DIMENSION)
        assert cosine(one, again) == pytest.approx(1.0)
        assert cosine(one, two) < 0.99
        assert server.embedded == [["one", "two", "one"]]
        await embedder.close()


async def test_what_fails_is_tried_again_and_then_told() -> None:
    async with OpenAIServer(rate_limited(0.01), failed(500)) as server:
        embedder = openai_embedder(server)
        assert len(await embedder.embed(["one"])) == 1
        server.answers.extend([failed(500)] * 10)
        with pytest.raises(ModelFailed) as failure:
            await embedder.embed(["one"])
        assert failure.value.failure.kind is FailureKind.UNAVAILABLE
        await embedder.close()


async def test_nonsense_is_no_answer() -> None:
    body = b'{"object": "list", "model": "m", "data": [], "usage": {"prompt_tokens": 1, "total_tokens": 1}}'
    async with OpenAIServer(*[Answer(body=body)] * 4) as server:
        embedder = openai_embedder(server)
        with pytest.raises(ModelFailed):
            await embedder.embed(["one"])
        await embedder.close()


def test_the_chat_models_key_goes_nowhere_else() -> None:
    settings = AgentSettings(
        model="anthropic:claude", embeddings="openai:text-embedding-3-small", api_key=Secret.parse("of-the-chat-model")
    )
    with pytest.raises(ModelSetupError, match="export OPENAI_API_KEY"):
        make_embedder(settings, {})
    made = make_embedder(settings, {"OPENAI_API_KEY": "of-openai"})
    assert isinstance(made, OpenAIEmbedder)
    assert (made.key, made.dimension) == ("of-openai", 1_536)
    assert "of-openai" not in repr(made)


def test_what_is_missing_or_unknown_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(ModelSetupError, match="pip install fastembed"):
        make_embedder(AgentSettings(embeddings="fastembed:BAAI/bge-small-en-v1.5"))
    with pytest.raises(ModelSetupError, match='"openai:MODEL"'):
        make_embedder(AgentSettings(embeddings="nobody:model"))
