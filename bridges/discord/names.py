"""Names as Discord lets webhooks have them, with their looks kept. Pure functions."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from agent.fitting import cut

LONGEST: Final = 80
"""Characters of a webhook's name."""
NEUTRAL: Final = "Persona"
"""Stands for a name that Discord does not take."""
_HAIR: Final = "\u200a"
"""A space that is hardly seen: it takes apart what Discord forbids."""
_FORBIDDEN: Final = re.compile(r"c(?=lyde)|d(?=iscord)|@(?=everyone|here)|`(?=`)", re.IGNORECASE)
"""The first sign of what no name may hold."""
_RESERVED: Final = frozenset({"everyone", "here"})
_UNSEEN: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
_OVERRIDES: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Signs that turn the direction of what follows the name too."""


def webhook_name(name: str) -> str:
    """Return a name of 1 to 80 characters that looks as the given one and that Discord takes."""
    seen = "".join(" " if unicodedata.category(each) in _UNSEEN else each for each in name if each not in _OVERRIDES)
    plain = " ".join(seen.split())
    if not plain:
        return NEUTRAL
    apart = _FORBIDDEN.sub(lambda match: match[0] + _HAIR, plain)
    if apart.casefold() in _RESERVED:
        apart = apart[0] + _HAIR + apart[1:]
    return cut(apart, LONGEST).strip() or NEUTRAL
