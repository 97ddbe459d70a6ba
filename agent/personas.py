"""The characters that the agent plays in a server, and when they are called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from asyncpg import Record

from agent.contracts.people import Persona
from agent.identity.names import normalise
from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.store.pool import Store

QUERIES = load_queries(__name__, "personas.sql")


class PersonaDefaults(Protocol):
    """What a deployment sets for the default persona of every server: `[agent]` of the settings."""

    @property
    def name(self) -> str:
        """Its nickname."""
        ...

    @property
    def prompt(self) -> str:
        """Its prompt."""
        ...

    @property
    def avatar(self) -> str | None:
        """Its picture."""
        ...

    @property
    def triggers(self) -> tuple[str, ...]:
        """The words that call it besides its name."""
        ...


@dataclass(frozen=True, slots=True)
class Called:
    """A persona whose trigger stands in a text, and the trigger."""

    persona: Persona
    trigger: str


class Personas:
    """The personas of each server. What a default persona leaves open is as the deployment has set it now."""

    def __init__(self, store: Store, defaults: PersonaDefaults) -> None:
        self._store = store
        self._defaults = defaults

    async def for_server(self, server_id: int) -> tuple[Persona, ...]:
        """Return the personas of a server that somebody has entered: the default one first, then by age."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(QUERIES["personas_of_server"], server_id)
        return tuple(self._persona(row) for row in rows)

    async def default(self, server_id: int) -> Persona:
        """Return the default persona of a server.

        Raises:
            LookupError: nobody has ever entered that server.
        """
        personas = await self.for_server(server_id)
        if not personas or not personas[0].is_default:
            raise LookupError(f"the server {server_id} has no default persona: nobody has entered it")
        return personas[0]

    def _persona(self, row: Record) -> Persona:
        nickname, prompt, triggers = row["nickname"], row["prompt"], row["triggers"]
        return Persona(
            persona_id=row["persona_id"],
            server_id=row["server_id"],
            lineage_id=row["persona_lineage_id"],
            nickname=self._defaults.name if nickname is None else nickname,
            prompt=self._defaults.prompt if prompt is None else prompt,
            avatar=self._defaults.avatar if row["avatar"] is None and row["is_default"] else row["avatar"],
            triggers=tuple(self._defaults.triggers if triggers is None else triggers),
            is_default=row["is_default"],
        )


def called_in(text: str, personas: Sequence[Persona]) -> Called | None:
    """Return the persona that a text calls by its name or one of its triggers, as whole words in any case.

    Of several the one that is named first; of two at one place the longer trigger.
    """
    searched = normalise_text(text)
    found: list[tuple[int, int, int, str]] = []
    for number, persona in enumerate(personas):
        for trigger in dict.fromkeys((persona.nickname, *persona.triggers)):
            word = normalise(trigger)
            if word and (match := _whole(word).search(searched)) is not None:
                found.append((match.start(), -len(word), number, trigger))
    if not found:
        return None
    _, _, number, trigger = min(found)
    return Called(personas[number], trigger)


def normalise_text(text: str) -> str:
    """Return a whole text in the form in which names are compared; unlike a name it may be of any length."""
    return " ".join(filter(None, (normalise(word) for word in text.split())))


def _whole(word: str) -> re.Pattern[str]:
    """Return the pattern of a word that does not stand inside another one; `re` keeps such patterns."""
    before = r"(?<!\w)" if re.match(r"\w", word[0]) else ""
    after = r"(?!\w)" if re.match(r"\w", word[-1]) else ""
    return re.compile(before + re.escape(word) + after)


def nicknames(personas: Iterable[Persona]) -> tuple[str, ...]:
    """Return the names that no participant's handle may be."""
    return tuple(persona.nickname for persona in personas)
