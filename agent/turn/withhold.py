"""Leaving out what names somebody who hides: memories, lore, and what was called back (docs/privacy.md)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agent.contracts.context import ContextEntry, ContextItem, LeftOut, Tag
from agent.identity.names import normalise
from agent.privacy.levels import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent.contracts.people import Participant
    from agent.privacy.hidden import Hidden, HiddenNames

REASON: Final = "it names somebody who hides"
_AT_ONCE: Final = 200
"""Entries that are looked at before others may use the event loop."""


async def without_hidden(
    items: Sequence[ContextItem], hidden: Hidden, participants: Iterable[Participant]
) -> tuple[list[ContextItem], list[LeftOut]]:
    """Return the items without the entries that name somebody who hides, and which these were.

    In a memory about somebody who takes part a name that this person bears means this person.
    """
    if not hidden:
        return list(items), []
    names = {
        Tag.LOREBOOK: hidden.here,
        Tag.KNOWLEDGE_SERVER_MEMORIES: hidden.here,
        Tag.KNOWLEDGE_USER_MEMORIES: hidden.around.without(_visible(participants)),
        Tag.RECALL: hidden.around,
    }
    kept: list[ContextItem] = []
    left_out: list[LeftOut] = []
    for item in items:
        if item.tag not in names or not item.entries:
            kept.append(item)
            continue
        entries = await _told(item, names[item.tag], left_out)
        if entries:
            kept.append(item if len(entries) == len(item.entries) else replace(item, entries=tuple(entries)))
    return kept, left_out


async def _told(item: ContextItem, names: HiddenNames, left_out: list[LeftOut]) -> list[ContextEntry]:
    told: list[ContextEntry] = []
    for number, entry in enumerate(item.entries, start=1):
        if names.named_in(entry.text):
            left_out.append(LeftOut(item.tag, entry.identity, REASON))
        else:
            told.append(entry)
        if number % _AT_ONCE == 0:
            await asyncio.sleep(0)
    return told


def _visible(participants: Iterable[Participant]) -> set[str]:
    """Return the names of those who take part and do not hide."""
    people = [person for person in participants if RULES[person.account.privacy].names]
    names = [person.label for person in people] + [person.account.username for person in people]
    return {normalise(name) for name in names if name}
