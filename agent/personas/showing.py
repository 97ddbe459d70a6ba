"""Personas as commands and the command line show them; pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.catalog import translate

if TYPE_CHECKING:
    from agent.contracts.people import Persona
    from agent.tools import Json


def as_data(persona: Persona) -> dict[str, Json]:
    """Return a persona as data."""
    return {
        "persona_id": persona.persona_id,
        "name": persona.nickname,
        "persona_lineage_id": persona.lineage_id,
        "is_default": persona.is_default,
        "avatar": persona.avatar,
        "triggers": list(persona.triggers),
        "affixes": list(persona.affixes),
        "prompt": persona.prompt,
    }


def sharers(persona: Persona, personas: Sequence[Persona]) -> tuple[str, ...]:
    """Return the names of the other personas of a server that belong to a persona's lineage."""
    others = (other for other in personas if other.persona_id != persona.persona_id)
    return tuple(other.nickname for other in others if other.lineage_id == persona.lineage_id)


def headline(persona: Persona, personas: Sequence[Persona], locale: str) -> str:
    """Return one line about a persona: its name, whether it is the default one, its lineage and who shares it."""
    parts = [translate(locale, "lineage {lineage}", lineage=persona.lineage_id)]
    if persona.is_default:
        parts.insert(0, translate(locale, "default"))
    if sharing := sharers(persona, personas):
        parts.append(translate(locale, "shares memories with {names}", names=", ".join(sharing)))
    if persona.triggers:
        parts.append(translate(locale, "called by {triggers}", triggers=", ".join(persona.triggers)))
    return f"{persona.nickname}: {'; '.join(parts)}"


def details(persona: Persona, personas: Sequence[Persona], locale: str) -> str:
    """Return everything about a persona."""
    lines = [headline(persona, personas, locale)]
    if persona.avatar:
        lines.append(translate(locale, "Picture: {avatar}", avatar=persona.avatar))
    if persona.affixes:
        lines.append(translate(locale, "Around names: {affixes}", affixes=", ".join(persona.affixes)))
    return "\n".join([*lines, "", persona.prompt])
