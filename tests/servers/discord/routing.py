"""Which function answers which route. Paths are written as in Discord's description."""

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import unquote

from tests.servers.discord.core import Core
from tests.servers.discord.journal import Request

type Handler = Callable[[Core, Request], Any]
"""Gives the JSON of the answer; None for 204."""


class Endpoint(NamedTuple):
    handler: Handler
    is_open: bool
    """It asks for no token of the bot."""
    status: int


ENDPOINTS: dict[tuple[str, str], Endpoint] = {}
_TEMPLATES: dict[tuple[str, int], dict[str, tuple[str, ...]]] = {}


def route[H: Handler](method: str, path: str, *, is_open: bool = False, status: int = 200) -> Callable[[H], H]:
    """Let a function answer a route; it may be put before another `route`."""

    def register(handler: H) -> H:
        ENDPOINTS[method, path] = Endpoint(handler, is_open, status)
        parts = tuple(path.split("/"))
        _TEMPLATES.setdefault((method, len(parts)), {})[path] = parts
        return handler

    return register


def match(method: str, raw_path: str) -> tuple[str, dict[str, str]]:
    """The template that a path fits best, and its parameters; "" when it fits none."""
    parts = [unquote(part) for part in raw_path.split("/")]
    best: tuple[int, str, dict[str, str]] = (-1, "", {})
    for template, wanted in _TEMPLATES.get((method, len(parts)), {}).items():
        params: dict[str, str] = {}
        for want, part in zip(wanted, parts, strict=True):
            if want.startswith("{"):
                params[want[1:-1]] = part
            elif want != part:
                break
        else:
            literal = len(wanted) - len(params)
            if literal > best[0]:
                best = (literal, template, params)
    return best[1], best[2]
