"""When a text calls a persona; pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.contracts.people import Persona
from agent.identity.names import normalise


@dataclass(frozen=True, slots=True)
class Called:
    """A persona whose trigger stands in a text, and the trigger."""

    persona: Persona
    trigger: str


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


def default_of(personas: Iterable[Persona]) -> Persona:
    """Return the default persona of a server's personas.

    Raises:
        LookupError: there is none, because nobody has entered that server.
    """
    for persona in personas:
        if persona.is_default:
            return persona
    raise LookupError("a server that nobody has entered has no default persona")


def named(personas: Iterable[Persona], name: str) -> Persona | None:
    """Return the persona of that name, in any case and form; names are unique in a server."""
    wanted = normalise(name)
    return next((persona for persona in personas if wanted and normalise(persona.nickname) == wanted), None)
