"""Finds who is meant by a name in a place. A write rests on an exact match or on nothing (identity.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agent.identity.directory import Directory, Scope
from agent.identity.handles import explicit_handle
from agent.identity.results import NotFound, Resolution
from agent.identity.rules import mentioned_id, resolve
from agent.text import clean

if TYPE_CHECKING:
    from agent.identity.people import People

INPUT_LIMIT: Final = 512
"""Characters of a name that are looked at; nobody's name is longer."""


class Resolver:
    """Resolves names against the people of one server, read afresh each time."""

    def __init__(self, people: People) -> None:
        self._people = people

    async def resolve(self, name: str, scope: Scope) -> Resolution:
        """Return who is meant; with near names where nobody is. Two queries at most."""
        name = clean(name[:INPUT_LIMIT]).strip()
        server = scope.place.server.server_id
        identifier = mentioned_id(name)
        plain = explicit_handle(name) or name
        result = resolve(name, scope, await self._people.bearers(server, plain, identifier) if name else Directory())
        if not isinstance(result, NotFound) or identifier is not None:
            return result
        from agent.identity.suggestions import length_bounds, suggest  # rapidfuzz is needed for failures only

        near = await self._people.similar_in_length(server, *length_bounds(plain))
        return NotFound(result.name, suggest(plain, near.entries))
