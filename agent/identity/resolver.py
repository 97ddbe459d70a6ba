"""Finds who is meant by a name in a place. A write rests on an exact match or on nothing (identity.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from agent.identity.affixes import peelings
from agent.identity.directory import Directory, Entry, Name, Scope
from agent.identity.handles import explicit_handle
from agent.identity.names import NameSource
from agent.identity.owners import looks_of
from agent.identity.results import NotFound, Resolution, rests_on_a_name
from agent.identity.rules import mentioned_id, resolve
from agent.text import clean

if TYPE_CHECKING:
    from agent.hookspecs import Attribution
    from agent.identity.people import People
    from agent.plugin_host import PluginHost

INPUT_LIMIT: Final = 512
"""Characters of a name that are looked at; nobody's name is longer."""


class Resolver:
    """Resolves names against the people of one server, read afresh each time."""

    def __init__(self, people: People, hooks: PluginHost | None = None) -> None:
        self._people = people
        self._hooks = hooks

    async def resolve(self, name: str, scope: Scope) -> Resolution:
        """Return who is meant; with near names where nobody is."""
        name = clean(name[:INPUT_LIMIT]).strip()
        if not name:
            return NotFound(name)
        forms = (name, *peelings(name, scope.persona.affixes))
        result = await self._decided(name, forms, scope)
        if not isinstance(result, NotFound) or mentioned_id(name) is not None:
            return result
        from agent.identity.suggestions import suggest  # rapidfuzz is needed for failures only

        plain = explicit_handle(forms[-1]) or forms[-1]
        near = await self._people.near(scope.place.server.server_id, plain)
        return NotFound(result.name, suggest(plain, near.entries))

    async def _identities(self, scope: Scope) -> Directory:
        """Return the proxied identities of the server: plugins know them, and no account bears their names."""
        if self._hooks is None or not self._hooks.implements("identities_here"):
            return Directory()
        server_id = scope.place.server.server_id
        given: list[Sequence[Attribution]] = await self._hooks.collect("identities_here", server_id=server_id)
        found = [each for some in given for each in some]
        if not found:
            return Directory()
        accounts = await self._people.accounts(scope.place, [each.account for each in found])
        return Directory(
            tuple(
                Entry(accounts[each.account], (Name.of(NameSource.GUILD, each.speaker.display_name),), each.speaker)
                for each in found
                if each.account in accounts
            )
        )

    async def _decided(self, name: str, forms: Sequence[str], scope: Scope) -> Resolution:
        server, known = scope.place.server.server_id, await self._identities(scope)
        for form in forms:
            known = known.joined(await self._people.bearers(server, explicit_handle(form) or form, mentioned_id(form)))
        result = resolve(name, scope, known)
        if not rests_on_a_name(result):
            return result
        looks = frozenset[str]().union(*(looks_of(form, scope, known) for form in forms))
        return resolve(name, scope, known.joined(await self._people.lookalikes(server, looks)))
