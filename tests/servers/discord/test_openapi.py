from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.servers.discord import openapi
from tests.servers.discord.journal import Request
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.routing import ENDPOINTS
from tests.servers.discord.rules import broken_rules

SEND = "/channels/{channel_id}/messages"


def request(method: str, template: str, body: Any, **query: str) -> Request:
    params = {part[1:-1]: "123" for part in template.split("/") if part.startswith("{")}
    return Request(method, template, template, params, query, {}, body)


async def test_a_request_that_does_not_fit_fails_the_block() -> None:
    async def wrong() -> None:
        async with LoopbackDiscord() as discord, aiohttp.ClientSession() as session:
            answer = await session.get(f"{discord.api_base}/no/such/route")
            assert answer.status == 404

    with pytest.raises(AssertionError, match="does not know the route"):
        await wrong()


async def test_without_the_description_the_other_rules_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openapi, "PROJECT", Path("/nowhere/project"))
    assert openapi.where() is None
    assert openapi.violations([request("POST", SEND, {"content": 5})]) == []
    (wrong,) = openapi.violations([request("POST", SEND, {"content": "x" * 2001})])
    assert "2001 characters" in wrong


def test_a_named_description_has_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(openapi.VARIABLE, "/nowhere.json")
    with pytest.raises(FileNotFoundError, match="DISCORD_OPENAPI"):
        openapi.where()


DOCUMENT: dict[str, Any] = {
    "paths": {
        SEND: {
            "parameters": [{"name": "channel_id", "in": "path", "schema": {"$ref": "#/components/schemas/Id"}}],
            "post": {
                "parameters": [{"name": "wait", "in": "query", "schema": {"type": "boolean"}}],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Body"}}},
                },
            },
            "get": {},
        }
    },
    "components": {
        "schemas": {
            "Id": {"type": "string", "pattern": "^[0-9]+$", "format": "snowflake"},
            "Body": {
                "type": "object",
                "properties": {
                    "content": {"type": ["string", "null"], "maxLength": 4000},
                    "count": {"type": "integer"},
                    "target": {"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Id"}]},
                    "attachments": {
                        "type": "array",
                        "items": {"type": "object", "properties": {"id": {"$ref": "#/components/schemas/Id"}}},
                    },
                },
            },
        }
    },
}


@pytest.mark.parametrize(
    "body",
    [
        {"content": "x"},
        {"content": None},
        {"target": 5},
        {"attachments": [{"id": 0}]},
        {"count": "5"},
    ],
)
def test_what_fits_passes(body: Any) -> None:
    assert openapi.Description(DOCUMENT).problems(request("POST", SEND, body, wait="1")) == []


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (request("POST", SEND, {"content": 5}), "content: 5 is not of type"),
        (request("POST", SEND, {"other": 5}), "there is no 'other' in the body"),
        (request("POST", SEND, {"target": "x"}), "target: 'x'"),
        (request("POST", SEND, None), "needs a body"),
        (request("GET", SEND, {"a": 1}), "takes no body"),
        (request("POST", SEND, {}, wait="maybe"), "query wait: body: 'maybe'"),
        (request("POST", SEND, {}, what="1"), "the query has no 'what'"),
        (request("PUT", SEND, {}), "no such route"),
        (request("POST", SEND, {"content": "x" * 2001}), "a bot may send 2000"),
    ],
)
def test_what_does_not_fit_is_named(made: Request, sentence: str) -> None:
    found = openapi.Description(DOCUMENT).problems(made)
    assert len(found) == 1
    assert sentence in found[0]
    assert found[0].startswith(f"{made.method} {SEND}: ")


@pytest.mark.parametrize(
    ("template", "body", "sentence"),
    [
        ("/interactions/{interaction_id}/{interaction_token}/callback", {"data": {"content": "x" * 2001}}, "2001"),
        ("/webhooks/{webhook_id}/{webhook_token}", {"username": "Clyde B."}, "'Clyde B.'"),
        ("/webhooks/{webhook_id}/{webhook_token}", {"username": "x" * 81}, "1 to 80"),
        ("/channels/{channel_id}/webhooks", {"name": "here"}, "'here'"),
        (SEND, {"enforce_nonce": True}, "needs a nonce"),
        (SEND, {"nonce": "x" * 26}, "at most 25"),
    ],
)
def test_rules_beside_the_description(template: str, body: Any, sentence: str) -> None:
    (found,) = broken_rules(request("POST", template, body))
    assert sentence in found


def test_every_route_here_is_one_of_discords() -> None:
    path = openapi.where()
    known = openapi.load(path).routes() if path is not None else set(ENDPOINTS)
    assert set(ENDPOINTS) <= known
