"""What the options of document commands may be, while they are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agent.commands import Choice
from agent.identity.names import normalise
from plugins.documents.viewing import viewer_of_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.commands import Invocation
    from agent.personas.repository import Personas
    from plugins.documents.library import Library

MOST: Final = 25


class Suggesting:
    """Offers documents and personas."""

    def __init__(self, library: Library, personas: Personas) -> None:
        self._library = library
        self._personas = personas

    async def documents(self, call: Invocation, typed: str) -> Sequence[Choice]:
        """Offer the documents that may be seen here, by number or title, the newest first."""
        wanted = typed.strip().removeprefix("#").casefold()
        found = [
            Choice(each.document_id, f"#{each.document_id} {each.title}")
            for each in reversed(await self._library.repository.documents(viewer_of_command(call)))
            if str(each.document_id).startswith(wanted) or wanted in each.title.casefold()
        ]
        return found[:MOST]

    async def personas(self, call: Invocation, typed: str) -> Sequence[Choice]:
        """Offer the personas of this server by name."""
        words = normalise(typed)
        personas = await self._personas.for_server(call.place.server.server_id)
        names = [persona.nickname for persona in personas if words in normalise(persona.nickname)]
        return [Choice(name, name) for name in names[:MOST]]
