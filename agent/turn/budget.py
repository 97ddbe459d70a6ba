"""Fitting a prompt into its tokens: by entries, least recent first, before a block is dropped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from agent.contracts.context import ContextItem, LeftOut, Prompt, Tag

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

HISTORY_SHARE: Final = 0.5
"""At most this part of the budget is conversation; the rest is for what the agent is and knows."""
ITEM_COST: Final = 4
"""Tokens that a provider spends on the frame of one message."""


def estimate_tokens(text: str) -> int:
    """Return a cautious estimate of the tokens of a text, without a tokenizer: one for each 3.5 bytes of UTF-8."""
    return -(-len(text.encode("utf-8", "replace")) * 2 // 7)


@dataclass(frozen=True, slots=True)
class _Unit:
    """One entry that may be left out alone."""

    item: int
    entry: int
    recency: datetime
    cost: int


def _line_cost(line: str) -> int:
    return estimate_tokens(line) + 1


def item_cost(item: ContextItem) -> int:
    """Return what an item costs; line by line where it has entries, so that leaving one out saves just its line."""
    if not item.entries:
        return ITEM_COST + estimate_tokens(item.text)
    headings = {entry.group for entry in item.entries if entry.group}
    lines = [*headings, *(entry.line for entry in item.entries)]
    return ITEM_COST + sum(map(_line_cost, lines))


def _units(items: Sequence[ContextItem]) -> list[_Unit]:
    """List every entry that may go, least recent first; those of one age in their order."""
    units = [
        _Unit(i, j, entry.recency, _line_cost(entry.line))
        for i, item in enumerate(items)
        if not item.required
        for j, entry in enumerate(item.entries)
        if entry.recency is not None
    ]
    return sorted(units, key=lambda unit: (unit.recency, unit.item, unit.entry))


def _without(items: Sequence[ContextItem], gone: set[tuple[int, int]]) -> tuple[list[ContextItem], list[LeftOut]]:
    """Return the items without these entries (an item that loses its last entry goes wholly), and what went."""
    kept: list[ContextItem] = []
    left_out: list[LeftOut] = []
    for i, item in enumerate(items):
        entries = tuple(entry for j, entry in enumerate(item.entries) if (i, j) not in gone)
        left_out += [
            LeftOut(item.tag, entry.identity, "budget") for j, entry in enumerate(item.entries) if (i, j) in gone
        ]
        if entries or not item.entries:
            kept.append(item if len(entries) == len(item.entries) else replace(item, entries=entries))
    return kept, left_out


def _trim(items: Sequence[ContextItem], budget: int) -> tuple[list[ContextItem], list[LeftOut]]:
    """Leave out the least recent entries until the items cost no more than the budget, or none is left to go."""
    total = sum(map(item_cost, items))
    gone: set[tuple[int, int]] = set()
    left_in = [len(item.entries) for item in items]
    for unit in _units(items):
        if total <= budget:
            break
        gone.add((unit.item, unit.entry))
        left_in[unit.item] -= 1
        total -= unit.cost + (ITEM_COST if not left_in[unit.item] else 0)
    return _without(items, gone)


def fit(items: Sequence[ContextItem], budget: int) -> Prompt:
    """Return the prompt that fits: history within its share, then entries of every kind, then whole blocks.

    Blocks go from the last tag to the first; required ones never do, even where the prompt then exceeds the budget.
    """
    history = [item for item in items if item.tag is Tag.HISTORY]
    others = [item for item in items if item.tag is not Tag.HISTORY]
    history, left_out = _trim(history, int(budget * HISTORY_SHARE))
    ordered = _in_order([*others, *history])
    kept, more = _trim(ordered, budget)
    left_out += more
    total = sum(map(item_cost, kept))
    for item in reversed(list(kept)):
        if total <= budget:
            break
        if not item.required:
            kept.remove(item)
            total -= item_cost(item)
            left_out.append(LeftOut(item.tag, None, "budget"))
    return Prompt(tuple(kept), tuple(left_out))


def _in_order(items: Sequence[ContextItem]) -> list[ContextItem]:
    """Sort by section, then by tag as declared; items of one tag keep their order."""
    tags = list(Tag)
    return sorted(items, key=lambda item: (item.section != "prefix", tags.index(item.tag)))
