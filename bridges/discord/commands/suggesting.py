"""What Discord offers while an option is typed: pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agent.commands import Choice, OptionKind
from agent.text import clip, one_line
from bridges.discord.commands.declare import CHOICE, MOST_CHOICES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.commands import Option

_SAFE: Final = 2**53
"""Discord's numbers are exact below this."""


def offered(option: Option, found: Sequence[Choice], typed: str) -> list[dict[str, Any]]:
    """Return choices as Discord takes them; what is too long to be given back is left out.

    An option with more choices than Discord shows at once offers those that hold what was typed.
    """
    if not found:
        words = typed.casefold()
        found = [Choice(each, each) for each in option.choices if words in each.casefold()]
    number = option.kind is OptionKind.INTEGER
    fitting = [choice for choice in found if _fits(choice.value, number=number)]
    return [
        {"name": clip(one_line(choice.label), CHOICE) or "…", "value": choice.value if number else str(choice.value)}
        for choice in fitting[:MOST_CHOICES]
    ]


def _fits(value: str | int, *, number: bool) -> bool:
    if number:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _SAFE
    return 1 <= len(str(value)) <= CHOICE
