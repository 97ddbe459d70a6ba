import pytest

from agent.doctor.providers import embedding_health, model_health
from agent.hookspecs import Health
from tests.agent.doctor.conftest import Read
from tests.servers.openai import OpenAIServer

pytestmark = pytest.mark.unwatched_loop  # a provider's client is imported when it is made


def settings(url: str, model: str = "loopback", embeddings: str = "off") -> str:
    return f'[agent]\nmodel = "openai:{model}"\nbase_url = "{url}"\napi_key = "env:KEY"\nembeddings = "{embeddings}"\n'


async def model(read: Read, text: str, key: str = "right") -> Health:
    (line,) = await model_health(read(text, {"KEY": key}))
    assert line.remedy or line.state == "ok"
    assert key not in str(line)
    return line


async def test_the_offline_model_is_always_well(read: Read) -> None:
    (line,) = await model_health(read())
    assert line.state == "ok"
    assert "stand-in" in line.text


async def test_a_provider_is_asked(read: Read) -> None:
    async with OpenAIServer(key="right") as server:
        assert await model(read, settings(server.url)) == Health("model", "ok", "openai:loopback: its provider answers")
        line = await model(read, settings(server.url, "other"))
        assert (line.state, line.text) == ("warn", "openai:other: its provider does not list it")
        line = await model(read, settings(server.url), "wrong-key")
        assert (line.state, line.text) == ("fail", "openai:loopback: the key was refused (401)")


async def test_a_server_without_a_list_of_models_answers_all_the_same(read: Read) -> None:
    async with OpenAIServer() as server:
        line = await model(read, settings(f"{server.url}/elsewhere"))
    assert line.state == "ok"
    assert "lists no models" in line.text


async def test_a_provider_that_is_away(read: Read) -> None:
    line = await model(read, settings("http://127.0.0.1:9/v1"))
    assert line.state == "fail"
    assert "cannot be reached (APIConnectionError)" in line.text


async def test_a_key_that_is_missing(read: Read) -> None:
    (line,) = await model_health(read(settings("http://127.0.0.1:9/v1")))
    assert line.state == "fail"
    assert "KEY" in line.text


@pytest.mark.parametrize(
    ("name", "state", "said"),
    [("off", "ok", "recall by words"), ("local", "ok", "256 dimensions"), ("fastembed:x", "fail", "pip install")],
)
async def test_embeddings(read: Read, name: str, state: str, said: str) -> None:
    (line,) = await embedding_health(read(f'[agent]\nembeddings = "{name}"'))
    assert line.state == state
    assert said in line.text
    assert line.remedy or line.state == "ok"


async def test_embeddings_of_a_provider_are_tried(read: Read) -> None:
    async with OpenAIServer(key="right") as server:
        text = settings(server.url, embeddings="openai:loopback")
        (line,) = await embedding_health(read(text, {"KEY": "right"}))
        assert line.state == "ok"
        (line,) = await embedding_health(read(text, {"KEY": "wrong-key"}))
        assert line.state == "fail"
        assert "wrong-key" not in str(line)
