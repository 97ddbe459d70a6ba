"""Lays `ISTHMUS__SECTION__KEY` variables upon the tables of the file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agent.settings.errors import Origin, Problem
from agent.settings.origins import PREFIX, Variable

if TYPE_CHECKING:
    from collections.abc import Mapping

type Table = dict[str, Any]


def lay_variables(data: Table, environ: Mapping[str, str], problems: list[Problem]) -> dict[tuple[str, ...], Variable]:
    """Lay the `ISTHMUS__…` variables upon `data`; an outer key comes before the keys below it."""
    found: dict[tuple[str, ...], Variable] = {}
    names = sorted((name for name in environ if name.upper().startswith(PREFIX)), key=lambda name: name.count("__"))
    for name in names:
        parts = name[len(PREFIX) :].split("__")
        if not all(parts):
            problems.append(Problem(Origin(name, variable=True), "", "expected ISTHMUS__SECTION__KEY"))
            continue
        path = _place(data, parts, _json_or_text(environ[name]))
        found[path] = Variable(name, environ[name])
    return found


def _place(data: Table, parts: list[str], value: object) -> tuple[str, ...]:
    """Set a value; variable names have no case, so a key that is there keeps its own spelling."""
    path: list[str] = []
    table = data
    for index, part in enumerate(parts):
        key = next((known for known in table if known.casefold() == part.casefold()), part.lower())
        path.append(key)
        if index == len(parts) - 1:
            table[key] = value
        else:
            below = table.get(key)
            table[key] = below = below if isinstance(below, dict) else {}
            table = below
    return tuple(path)


def _json_or_text(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(constant: str) -> object:
    raise ValueError(constant)  # NaN and Infinity are no JSON: they stay texts
