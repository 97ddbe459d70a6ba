"""The cards that tell people what was learned, changed or forgotten (memory.md, Notices)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.catalog import translate
from agent.contracts.cards import Card, CardKind
from agent.places import Audience
from agent.text import one_line

if TYPE_CHECKING:
    from agent.contracts.memory import MemoryWrite
    from plugins.memory.memory import Memory
    from plugins.memory.repository import Added


def saved_cards(write: MemoryWrite, added: Added, about: str, *, untold: bool, locale: str) -> tuple[Card, ...]:
    """Return the cards of a save: what was learned, and what an eviction removed; none for a near-duplicate."""
    if added.memory_id is None:
        return ()
    evicted = added.forgotten_content is not None
    title = (
        translate(locale, "Memory saved, and an old one forgotten") if evicted else translate(locale, "Memory saved")
    )
    card = Card(
        CardKind.EVICTED if evicted else CardKind.SAVED,
        title,
        (one_line(write.content),),
        added.memory_id,
        one_line(about),
        added.forgotten_content,
        write.audience,
    )
    return (card, _disclosure(about, locale)) if untold else (card,)


def updated_card(memory: Memory, content: str, about: str, locale: str) -> Card:
    """Return the card of an update, with the new content."""
    title = translate(locale, "Memory updated")
    return Card(
        CardKind.UPDATED, title, (one_line(content),), memory.memory_id, one_line(about), audience=memory.audience
    )


def deleted_card(memory: Memory, forgotten: str, about: str, locale: str) -> Card:
    """Return the card of a deletion, with what was forgotten."""
    title = translate(locale, "Memory deleted")
    return Card(
        CardKind.DELETED,
        title,
        memory_id=memory.memory_id,
        about=one_line(about),
        forgotten=forgotten,
        audience=memory.audience,
    )


def _disclosure(about: str, locale: str) -> Card:
    """Return what a person is told once, when something about them is kept for the first time."""
    return Card(
        CardKind.DISCLOSURE,
        translate(locale, "About memory"),
        (
            translate(locale, "{name}: I keep what seems worth knowing about the people here.", name=one_line(about)),
            translate(
                locale,
                "/personal memories list shows what I keep about you, /privacy set partial stops it, "
                "and /privacy forget-me deletes it.",
            ),
        ),
        about=one_line(about),
        audience=Audience.SERVER,
    )
