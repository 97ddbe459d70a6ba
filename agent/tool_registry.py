"""Every tool that the model may call, by name; two tools of one name are refused at start."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Final

from pydantic import BaseModel

from agent.tools import Tool

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z")
"""What every provider accepts as the name of a tool."""


class ToolError(ValueError):
    """A tool cannot be registered; the message names it, its plugin and the way out."""


class ToolRegistry:
    """The tools of the core and of every plugin, in the order in which they were registered."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self._add(tool)

    def _add(self, tool: Tool) -> None:
        if not NAME.match(tool.name):
            raise ToolError(
                f"plugin {tool.owner!r}: tool name {tool.name!r} is not usable: "
                "begin with a letter, then letters, digits, _ or -, at most 64"
            )
        if not tool.description.strip():
            raise ToolError(f"plugin {tool.owner!r}: tool {tool.name!r} has no description: say when to call it")
        parameters: object = tool.parameters  # plugins are not all checked by a type checker
        if not (isinstance(parameters, type) and issubclass(parameters, BaseModel)):
            raise ToolError(f"plugin {tool.owner!r}: the parameters of tool {tool.name!r} are not a pydantic model")
        if (other := self._tools.get(tool.name)) is not None:
            raise ToolError(
                f"tool {tool.name!r} is registered twice, by plugins {other.owner!r} and {tool.owner!r}: "
                "rename one or switch one plugin off"
            )
        self._tools[tool.name] = tool

    def get(self, name: str) -> Tool | None:
        """Return the tool of that name, or None."""
        return self._tools.get(name)

    def nearest(self, name: str) -> str | None:
        """Return the registered name that a misspelled one most likely meant, or None."""
        found = difflib.get_close_matches(name, self._tools, n=1)
        return found[0] if found else None

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools
