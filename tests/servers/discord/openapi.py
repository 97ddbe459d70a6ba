"""Checking requests against Discord's own description of its API, and the rules that it leaves out."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.servers.discord.journal import Request
from tests.servers.discord.records import JSON
from tests.servers.discord.rules import broken_rules

VARIABLE = "DISCORD_OPENAPI"
PROJECT = Path(__file__).parents[3]
CONVENTIONAL = Path("shared", "discord", "openapi.json")
"""Beside the project's folder, or beside one of the folders around it."""
METHODS = ("get", "post", "put", "patch", "delete")
WEBHOOK = "/webhooks/{webhook_id}/{webhook_token}"
BOOLEANS = {"1": True, "0": False, "true": True, "false": False}
"""How a query says yes and no."""
BESIDE = {
    "nsfw": re.compile(r"/commands(/\{command_id\})?$"),  # documented, and missing in the description
    "id": re.compile(r"/permissions/\{overwrite_id\}$"),  # nextcord repeats the id of the path
    "use_nested_fields": re.compile(r"/threads$"),  # nextcord asks for the form of today
    "tts": re.compile(r"/webhooks/.*/messages/"),  # nextcord sends it with every edit; it changes nothing
}
"""Keys that pass although the description lacks them, and on which routes."""
NARROWED = {("POST", WEBHOOK): "#/components/schemas/IncomingWebhookRequestPartial"}
"""Where the description offers several forms, of which a bot has one."""


def where() -> Path | None:
    """The description's file: named by DISCORD_OPENAPI, or beside the project's folder; None when there is none.

    Raises:
        FileNotFoundError: DISCORD_OPENAPI names a file that is not there.
    """
    if named := os.environ.get(VARIABLE):
        if not Path(named).is_file():
            raise FileNotFoundError(f"{VARIABLE} is {named!r}, and there is no such file")
        return Path(named)
    return next((file for folder in PROJECT.parents if (file := folder / CONVENTIONAL).is_file()), None)


class Description:
    """Discord's OpenAPI description, ready to judge requests."""

    def __init__(self, document: JSON) -> None:
        from jsonschema import Draft202012Validator
        from referencing import Registry
        from referencing.jsonschema import DRAFT202012

        self._document = document
        resource = DRAFT202012.create_resource(document)
        self._registry = Registry().with_resource("urn:discord", resource)
        self._validator = Draft202012Validator
        self._validators: dict[str, Any] = {}

    def routes(self) -> set[tuple[str, str]]:
        """Methods and paths."""
        return {
            (method.upper(), path)
            for path, item in self._document["paths"].items()
            for method in item
            if method in METHODS
        }

    def problems(self, request: Request) -> list[str]:
        """What is wrong with a request; each sentence begins with its method and path."""
        found = [f"{_named(request)}: {one}" for one in self._problems(request)]
        return [*found, *_by_rules(request)]

    def _problems(self, request: Request) -> Iterator[str]:
        item = self._document["paths"].get(request.template)
        operation = (item or {}).get(request.method.lower())
        if operation is None:
            yield "the description has no such route"
            return
        parameters = [*item.get("parameters", ()), *operation.get("parameters", ())]
        yield from self._query(request, parameters)
        content = (operation.get("requestBody") or {}).get("content")
        if content is None:
            if request.body not in (None, {}):
                yield f"takes no body, and got {request.body!r}"
            return
        if request.body is None:
            if operation["requestBody"].get("required"):
                yield "needs a body"
            return
        schema = content["application/json"]["schema"]
        if (narrow := NARROWED.get((request.method, request.template))) is not None:
            schema = {"$ref": narrow}
        body = self._fitted([schema], request.body)
        yield from self._judged(schema, body)
        yield from self._unknown(request, schema, body)

    def _query(self, request: Request, parameters: Sequence[JSON]) -> Iterator[str]:
        known = {one["name"]: one for one in parameters if one["in"] == "query"}
        for name, text in request.query.items():
            if name not in known:
                if not _passes(name, request):
                    yield f"the query has no {name!r}"
                continue
            value = self._fitted([known[name]["schema"]], text)
            yield from (f"query {name}: {one}" for one in self._judged(known[name]["schema"], value))
        for one in parameters:
            if one["in"] == "path":
                text = request.params[one["name"]]
                yield from (f"path {one['name']}: {each}" for each in self._judged(one["schema"], text))

    def _judged(self, schema: JSON, value: Any) -> Iterator[str]:
        for error in self._for(schema).iter_errors(value):
            place = ".".join(str(part) for part in error.absolute_path) or "body"
            best = min(error.context or [error], key=lambda one: (-len(one.absolute_path), one.message))
            detail = "" if best is error else f" ({'.'.join(map(str, best.absolute_path))}: {best.message[:200]})"
            yield f"{place}: {error.message[:200]}{detail}"

    def _for(self, schema: JSON) -> Any:
        key = json.dumps(schema, sort_keys=True)
        if key not in self._validators:
            self._validators[key] = self._validator(_anchored(schema), registry=self._registry)
        return self._validators[key]

    def _unknown(self, request: Request, schema: JSON, body: Any) -> Iterator[str]:
        """Keys that no form of the body has: the description lets them pass, Discord ignores them."""
        if not isinstance(body, dict):
            return
        known = self._keys(schema)
        for key in body:
            if known and key not in known and not _passes(key, request):
                yield f"there is no {key!r} in the body"
        if isinstance(body.get("data"), dict) and "data" in known:
            inner = {each for one in self._properties(schema, "data") for each in self._keys(one)}
            for key in body["data"]:
                if inner and key not in inner:
                    yield f"there is no {key!r} in data"

    def _fitted(self, schemas: Sequence[JSON], value: Any) -> Any:
        """The value with numbers and texts as the schema declares them, where Discord takes either."""
        forms = [form for schema in schemas for form in self._forms(schema)]
        if isinstance(value, dict):
            return {
                key: self._fitted([form["properties"][key] for form in forms if key in form.get("properties", ())], one)
                for key, one in value.items()
            }
        if isinstance(value, list):
            return [self._fitted([form["items"] for form in forms if "items" in form], one) for one in value]
        types = {kind for form in forms for kind in _listed(form.get("type"))}
        if isinstance(value, int) and not isinstance(value, bool) and "integer" not in types:
            return str(value) if any(form.get("format") == "snowflake" for form in forms) else value
        if isinstance(value, str) and "string" not in types:
            if "integer" in types and value.isdecimal():
                return int(value)
            return BOOLEANS.get(value.lower(), value) if "boolean" in types else value
        return value

    def _forms(self, schema: JSON) -> Iterator[JSON]:
        schema = self._resolved(schema)
        yield schema
        for union in ("anyOf", "oneOf", "allOf"):
            for one in schema.get(union, ()):
                yield from self._forms(one)

    def _keys(self, schema: JSON) -> set[str]:
        return {key for form in self._forms(schema) for key in form.get("properties", ())}

    def _properties(self, schema: JSON, name: str) -> list[JSON]:
        return [form["properties"][name] for form in self._forms(schema) if name in form.get("properties", ())]

    def _resolved(self, schema: JSON) -> JSON:
        while "$ref" in schema:
            found: Any = self._document
            for part in schema["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            schema = found
        return schema


def _passes(key: str, request: Request) -> bool:
    beside = BESIDE.get(key)
    return beside is not None and beside.search(request.template) is not None


def _listed(kinds: str | list[str] | None) -> list[str]:
    return [kinds] if isinstance(kinds, str) else kinds or []


def _anchored(schema: Any) -> Any:
    """The schema with its references into the description."""
    if isinstance(schema, dict):
        return {key: f"urn:discord{value}" if key == "$ref" else _anchored(value) for key, value in schema.items()}
    return [_anchored(one) for one in schema] if isinstance(schema, list) else schema


@cache
def load(path: Path) -> Description:
    """The description of a file, with what Discord documents and the description lacks."""
    document = json.loads(path.read_text())
    forward = {"title": "FORWARD", "const": 1}
    document["components"]["schemas"]["MessageReferenceType"]["oneOf"].append(forward)
    return Description(document)


def _named(request: Request) -> str:
    return f"{request.method} {request.template or request.path}"


def _by_rules(request: Request) -> list[str]:
    return [f"{_named(request)}: {one}" for one in broken_rules(request)]


def violations(requests: Sequence[Request]) -> list[str]:
    """Everything that is wrong with the requests, each thing once.

    Where the description is not there, only the rules that it leaves out are asked for.
    """
    path = where()
    judge = _by_rules if path is None else load(path).problems
    return list(dict.fromkeys(one for request in requests for one in judge(request)))


if (_there := where()) is not None:
    load(_there)  # Now, since reading a megabyte of JSON later would hold a running loop up.
