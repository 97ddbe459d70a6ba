"""What a persona may be called, say of itself and be called by; pure functions over what somebody typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from agent.catalog import N_, fill
from agent.contracts.people import GLOBAL_LINEAGE
from agent.identity.affixes import bare_affix
from agent.identity.handles import RESERVED, base_handle
from agent.identity.names import normalise, shown_name
from agent.personas.calling import named
from agent.text import clean, one_line

if TYPE_CHECKING:
    from agent.contracts.people import Persona

NAME_LIMIT: Final = 80
"""Characters of a persona's name."""
PROMPT_LIMIT: Final = 8_000
"""Characters of a persona's prompt."""
AVATAR_LIMIT: Final = 2_000
"""Characters of the address of a picture."""
TRIGGER_LIMIT: Final = 64
"""Characters of one trigger."""
MOST_TRIGGERS: Final = 20
AFFIX_LIMIT: Final = 32
"""Characters of what a persona puts before or behind a name."""
MOST_AFFIXES: Final = 10
MOST_PERSONAS: Final = 50
"""Personas of one server."""
NONE_WORD: Final = "none"
"""Typed where a picture, the triggers or the affixes shall be taken away."""
_SHORTEST_TRIGGER: Final = 2


class PersonaRefused(ValueError):
    """A persona cannot be so. `translate(locale, error.msgid, **error.values)` says it to whoever asked."""

    def __init__(self, msgid: str, **values: object) -> None:
        self.msgid = msgid
        self.values = values
        super().__init__(fill(msgid, values))


@dataclass(frozen=True, slots=True)
class Draft:
    """A persona that is to be made; what is None is as the deployment has set it for default personas."""

    name: str
    prompt: str | None = None
    avatar: str | None = None
    triggers: tuple[str, ...] = ()


def check_name(text: str, others: Iterable[Persona]) -> str:
    """Return a name as it is kept: one line without hidden characters; `others` are the server's other personas.

    Raises:
        PersonaRefused: it is empty, too long, has a meaning of its own, or another persona answers to it.
    """
    name = shown_name(text)
    if not normalise(name):
        raise PersonaRefused(N_("The name of a persona cannot be empty."))
    if len(name) > NAME_LIMIT:
        raise PersonaRefused(
            N_("The name of a persona has at most {limit} characters, this one {length}."),
            limit=NAME_LIMIT,
            length=len(name),
        )
    if base_handle(name) in RESERVED:
        raise PersonaRefused(N_("A persona cannot be called {name}: that word means something else here."), name=name)
    _check_free(name, others)
    return name


def check_prompt(text: str) -> str:
    """Return a prompt as it is kept.

    Raises:
        PersonaRefused: it is empty or too long.
    """
    prompt = clean(text).strip()
    if not prompt:
        raise PersonaRefused(N_("The prompt of a persona cannot be empty."))
    if len(prompt) > PROMPT_LIMIT:
        raise PersonaRefused(
            N_("The prompt of a persona has at most {limit} characters, this one {length}."),
            limit=PROMPT_LIMIT,
            length=len(prompt),
        )
    return prompt


def check_avatar(text: str) -> str | None:
    """Return the address of a picture; None for `none`.

    Raises:
        PersonaRefused: it is no http(s) address.
    """
    address = one_line(clean(text))
    if address.casefold() == NONE_WORD:
        return None
    try:
        parts = urlsplit(address)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and not re.search(r"\s", address)
    except ValueError:
        is_address = False
    if not is_address or len(address) > AVATAR_LIMIT:
        raise PersonaRefused(
            N_("The picture must be an address that begins with https:// or http://, or {none} for no picture."),
            none=NONE_WORD,
        )
    return address


def split_words(text: str) -> tuple[str, ...]:
    """Return the triggers or affixes of a text in which commas stand between them; none for `none`."""
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    return () if [part.casefold() for part in found] == [NONE_WORD] else found


def check_triggers(texts: Sequence[str], others: Iterable[Persona]) -> tuple[str, ...]:
    """Return triggers as they are kept, each once; `others` are the server's other personas.

    Raises:
        PersonaRefused: there are too many, or one is empty, too long, too short, or calls another persona.
    """
    others = tuple(others)
    kept: dict[str, str] = {}
    for text in texts:
        trigger = shown_name(text)
        word = normalise(trigger)
        if not word or len(trigger) > TRIGGER_LIMIT:
            raise PersonaRefused(N_("A trigger has between 1 and {limit} characters."), limit=TRIGGER_LIMIT)
        if len(word) < _SHORTEST_TRIGGER and word.isascii():
            raise PersonaRefused(N_("“{trigger}” is too short for a trigger: it stands everywhere."), trigger=trigger)
        _check_free(trigger, others)
        kept.setdefault(word, trigger)
    if len(kept) > MOST_TRIGGERS:
        raise PersonaRefused(N_("A persona has at most {limit} triggers."), limit=MOST_TRIGGERS)
    return tuple(kept.values())


def check_affixes(texts: Sequence[str]) -> tuple[str, ...]:
    """Return what a persona puts around people's names as it is kept, each once.

    Raises:
        PersonaRefused: there are too many, or one is empty or too long.
    """
    kept: dict[str, str] = {}
    for text in texts:
        affix = shown_name(text)
        if not bare_affix(affix) or len(affix) > AFFIX_LIMIT:
            raise PersonaRefused(
                N_("What stands before or behind names has between 1 and {limit} characters."), limit=AFFIX_LIMIT
            )
        kept.setdefault(normalise(affix), affix)
    if len(kept) > MOST_AFFIXES:
        raise PersonaRefused(
            N_("A persona has at most {limit} words that stand before or behind names."), limit=MOST_AFFIXES
        )
    return tuple(kept.values())


def check_room(personas: Sequence[Persona]) -> None:
    """Refuse one persona more than a server may have.

    Raises:
        PersonaRefused: it has as many as it may.
    """
    if len(personas) >= MOST_PERSONAS:
        raise PersonaRefused(
            N_("There are {limit} personas here already, and there can be no more: delete one first."),
            limit=MOST_PERSONAS,
        )


def check_lineage(lineage_id: int) -> int:
    """Return a lineage that a persona may belong to.

    Raises:
        PersonaRefused: it is that of global memories, or no lineage at all.
    """
    if lineage_id == GLOBAL_LINEAGE:
        raise PersonaRefused(N_("Lineage 0 holds what every persona knows; no persona can belong to it."))
    if not 0 < lineage_id < 2**63:
        raise unknown_lineage(lineage_id)
    return lineage_id


def unknown_lineage(lineage_id: int) -> PersonaRefused:
    """Return the refusal of a lineage that does not exist."""
    return PersonaRefused(N_("There is no lineage {lineage}."), lineage=lineage_id)


def find(personas: Sequence[Persona], name: str) -> Persona:
    """Return the persona of that name.

    Raises:
        PersonaRefused: there is none; the text lists those that there are.
    """
    found = named(personas, name)
    if found is not None:
        return found
    shown = shown_name(name)[:NAME_LIMIT]
    listed = ", ".join(persona.nickname for persona in personas)
    raise PersonaRefused(N_("There is no persona “{name}” here. There are: {personas}."), name=shown, personas=listed)


def _check_free(word: str, others: Iterable[Persona]) -> None:
    """Refuse a name or trigger that calls another persona."""
    wanted = normalise(word)
    for other in others:
        if normalise(other.nickname) == wanted:
            raise PersonaRefused(N_("There is a persona called {name} here already."), name=other.nickname)
        if any(normalise(trigger) == wanted for trigger in other.triggers):
            raise PersonaRefused(
                N_("“{word}” calls the persona {name} already; change its triggers first."),
                word=word,
                name=other.nickname,
            )
