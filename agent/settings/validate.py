"""Turns a table of settings into its model, or into a list of everything that is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ValidationError

from agent.redaction import HIDDEN, names_a_secret
from agent.settings.errors import KeyPath, Problem, SettingsError, dotted, in_order
from agent.settings.fields import deep_names, field_names, is_secret, unknown_keys
from agent.settings.origins import Origins

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MAX_SHOWN = 60
_NEAR = 60.0
_EXPECTED = {
    "bool_type": "expected true or false",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "finite_number": "expected a finite number",
    "string_type": "expected a text in quotes",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "dict_type": "expected a table",
    "mapping_type": "expected a table",
    "model_type": "expected a table",
    "model_attributes_type": "expected a table",
    "missing": "is required but missing",
    "greater_than": "expected more than {gt}",
    "greater_than_equal": "expected at least {ge}",
    "less_than": "expected less than {lt}",
    "less_than_equal": "expected at most {le}",
    "literal_error": "expected one of {expected}",
    "enum": "expected one of {expected}",
    "string_too_long": "expected at most {max_length} characters",
    "string_too_short": "expected at least {min_length} characters",
    "value_error": "{error}",
}


def validate_section[M: BaseModel](
    section: Mapping[str, object],
    model: type[M],
    where: str | KeyPath,
    origins: Origins | None = None,
    context: Mapping[str, object] | None = None,
) -> M:
    """The model of one table, such as a plugin's own settings.

    Args:
        section: The table's keys as they were read.
        model: What the table must follow. Keys it does not declare are mistakes, unless it says `extra="allow"`.
        where: The table's name, `plugins.memory` or `("plugins", "memory")`; empty for the whole document.
        origins: Where the values came from; without it mistakes are reported without lines.
        context: Handed to the model's validators (`environ` and `base` for secrets).

    Raises:
        SettingsError: With every mistake of the table.

    """
    known = origins or Origins()
    root = where if isinstance(where, tuple) else tuple(part for part in where.split(".") if part)
    error = _attempt(section, model, context)
    if isinstance(error, ValidationError):
        texts = _with_texts(section, error, known, root)
        if texts is not None:
            section, error = texts, _attempt(texts, model, context)
    failure = error if isinstance(error, ValidationError) else None
    problems = _problems(section, model, root, known, failure)
    if problems:
        raise SettingsError(problems)
    return cast("M", error)


def _attempt(section: Mapping[str, object], model: type[BaseModel], context: Any) -> BaseModel | ValidationError:
    try:
        return model.model_validate(section, context=context)
    except ValidationError as error:
        return error


def _with_texts(
    section: Mapping[str, object], error: ValidationError, origins: Origins, root: KeyPath
) -> dict[str, Any] | None:
    """The table with a variable's own text where a text is wanted, but JSON gave something else (`NAME=42`)."""
    changed: dict[str, Any] | None = None
    for detail in error.errors(include_url=False, include_context=False, include_input=False):
        path = _within(detail["loc"], section)
        variable = origins.variables.get(tuple(str(part) for part in (*root, *path)))
        if variable is None or detail["type"] not in {"string_type", "literal_error"}:
            continue
        changed = changed or cast("dict[str, Any]", _copied(section))
        table: Any = changed
        for part in path[:-1]:
            table = table[part]
        table[path[-1]] = variable.text
    return changed


def _copied(value: object) -> object:
    return {key: _copied(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def _problems(
    section: Mapping[str, object],
    model: type[BaseModel],
    root: KeyPath,
    origins: Origins,
    error: ValidationError | None,
) -> list[Problem]:
    seen: set[KeyPath] = set()
    found: list[Problem] = []
    for path, owner in unknown_keys(model, section):
        seen.add(path)
        found.append(_unknown((*root, *path), owner, origins))
    if error is not None:
        for detail in error.errors(include_url=False):
            path = _within(detail["loc"], section)
            if path not in seen:  # a union reports each of its members: one line is enough
                seen.add(path)
                found.append(_wrong(detail, path, root, model, origins))
    return in_order(found)


def _within(loc: tuple[int | str, ...], data: object) -> KeyPath:
    """The part of pydantic's location that exists in the data (it also names union members), or a missing key."""
    path: list[str | int] = []
    for index, part in enumerate(loc):
        if isinstance(data, Mapping) and (part in data or index == len(loc) - 1):
            path.append(part)
            data = data.get(part)
        elif isinstance(data, (list, tuple)) and isinstance(part, int) and part < len(data):
            path.append(part)
            data = data[part]
    return tuple(path)


def _unknown(path: KeyPath, owner: type[BaseModel], origins: Origins) -> Problem:
    name = str(path[-1])
    near = nearest(name, field_names(owner))
    if near is None:
        # The right name in the wrong table: agent.tool_calls for agent.limits.tool_calls.
        near = next((full for last, full in deep_names(owner) if last == name.lower()), None)
    what = "no such section" if len(path) == 1 else "no such key"
    suggestion = None if near is None else origins.suggestion(path, near)
    return Problem(origins.of(path), dotted(path), what, None, suggestion)


def _wrong(detail: ErrorDetails, path: KeyPath, root: KeyPath, model: type[BaseModel], origins: Origins) -> Problem:
    full = (*root, *path)
    context = detail.get("ctx", {})
    template = _EXPECTED.get(detail["type"])
    expected = template.format_map(context) if template else _plain(detail["msg"])
    given = detail.get("input")
    value = None if detail["type"] == "missing" else shown(full, given, secret=is_secret(model, path))
    near = None
    if detail["type"] in {"literal_error", "enum"} and isinstance(given, str) and value != HIDDEN:
        near = nearest(given, re.findall(r"'([^']*)'", str(context.get("expected", ""))))
    return Problem(origins.of(full), dotted(full), expected, value, near)


def _plain(message: str) -> str:
    return message.replace("Input should be", "expected").replace("Value error, ", "")


def shown(path: KeyPath, value: object, *, secret: bool = False) -> str:
    """A value as it may stand in an error: one short line, secrets hidden, passwords in addresses too."""
    if secret or any(isinstance(part, str) and names_a_secret(part) for part in path):
        return HIDDEN
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, (list, tuple)):
        return "a list"
    if not isinstance(value, str):
        return json.dumps(value, default=str)
    text = re.sub(r"://[^/@\s]*@", f"://{HIDDEN}@", value)
    return json.dumps(text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…", ensure_ascii=True)


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The valid name that a mistyped one most probably means, or None."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found = process.extractOne(name.lower(), sorted(names), scorer=OSA.normalized_similarity, score_cutoff=_NEAR / 100)
    return found[0] if found else None
