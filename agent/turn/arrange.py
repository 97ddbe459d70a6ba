"""Another order for a prompt: a plugin may propose one, and it is used when it says exactly the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agent import logs, metrics
from agent.contracts.context import ContextEntry, ContextItem, Prompt, Role, Section, Tag

if TYPE_CHECKING:
    from agent.plugin_host import PluginHost
    from agent.turn.values import Turn

log = logs.get_logger(__name__)

type _Piece = tuple[Tag, ContextEntry | str]

_SAID: Final = frozenset({Tag.HISTORY, Tag.MESSAGE})
"""What people said: it is never given another voice, nor put into another order."""


async def arranged(turn: Turn, prompt: Prompt, hooks: PluginHost) -> Prompt:
    """Return the prompt as a plugin arranges it; unchanged when none does, or when one changed what it says."""
    proposed: Prompt | None = await hooks.first("arrange_prompt", turn=turn, prompt=prompt)
    if proposed is None:
        return prompt
    fault = fault_of(prompt, proposed)
    if fault is None:
        return replace(prompt, items=proposed.items)
    log.error("prompt_not_arranged", reason=fault)
    metrics.emit("prompts_not_arranged", reason=fault)
    return prompt


def fault_of(prompt: Prompt, proposed: Prompt) -> str | None:
    """Return in one word why an arrangement cannot be used; None when it can.

    `lost`, `added` (or doubled), `voice`: what people said has another role or order; `order`: on the wire it would
    stand in another order than here.
    """
    before, after = Counter(_pieces(prompt)), Counter(_pieces(proposed))
    if before - after:
        return "lost"
    if after - before:
        return "added"
    if _said(prompt) != _said(proposed):
        return "voice"
    ranks = [_rank(item) for item in proposed.items]
    return None if ranks == sorted(ranks) else "order"


def _pieces(prompt: Prompt) -> Iterator[_Piece]:
    for item in prompt.items:
        if item.entries:
            yield from ((item.tag, entry) for entry in item.entries)
        else:
            yield item.tag, item.text


def _said(prompt: Prompt) -> list[tuple[Tag, Role, Section, str]]:
    return [(item.tag, item.role, item.section, item.render()) for item in prompt.items if item.tag in _SAID]


def _rank(item: ContextItem) -> int:
    """Return when an item goes on the wire: the system's words, the conversation, the tail."""
    if item.section is Section.TAIL:
        return 2
    return 0 if item.role is Role.SYSTEM else 1
