"""Handles: how the model names one participant of a conversation and nobody else, as in `@{ana}` and `@{ana~2}`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from agent.identity.keys import ParticipantKey
from agent.identity.names import fallback_label, normalise

HANDLE_LIMIT: Final = 32
"""Longest handle without its number, in characters."""
SELF_WORD: Final = "me"
"""Always means the speaker."""
RESERVED: Final = frozenset({SELF_WORD, "user", "bot", "everyone", "here", "room"})
"""Words with a meaning of their own: whoever bears one as a name gets it with a number."""

IN_TEXT: Final = re.compile(r"@\{([^{}\s]{1,64})\}")
"""A handle as the model writes it in its answer."""
_KEPT_PUNCTUATION: Final = frozenset("_-.")


@dataclass(frozen=True, slots=True)
class Named:
    """Somebody who needs a handle."""

    order: int
    """The account id: of two with one name the elder account gets the plain handle."""
    key: ParticipantKey
    label: str


def base_handle(label: str) -> str:
    """Return the label as a handle without a number: no space, brace, tilde or other mark; possibly empty."""
    before, after = label, _base_once(label)
    while after != before:
        before, after = after, _base_once(after)
    return after


def _base_once(label: str) -> str:
    words = normalise(label).replace(" ", "_")
    return "".join(character for character in words if _may_stand(character))[:HANDLE_LIMIT].strip("_-.")


def _may_stand(character: str) -> bool:
    return character in _KEPT_PUNCTUATION or unicodedata.category(character)[0] in "LMN" or _is_emoji(character)


def _is_emoji(character: str) -> bool:
    return unicodedata.category(character) == "So"


def assign_handles(people: Sequence[Named], reserved: Iterable[str] = ()) -> tuple[str, ...]:
    """Return a handle for each, in their order, all different; who else is asked does not depend on the order.

    `reserved` are further names that must not be taken, as the persona's.
    """
    taken = RESERVED | {base_handle(name) for name in reserved}
    count: dict[str, int] = {}
    handles: dict[ParticipantKey, str] = {}
    for person in sorted(people, key=lambda person: (person.order, str(person.key))):
        base = base_handle(person.label) or base_handle(fallback_label(person.key)) or "person"
        number = count[base] = count.get(base, 1 if base in taken else 0) + 1
        handles[person.key] = base if number == 1 else f"{base}~{number}"
    return tuple(handles[person.key] for person in people)


def is_handle(text: str) -> bool:
    """Tell whether a text has the form of a handle, whoever may own it."""
    return bool(text) and all(character == "~" or _may_stand(character) for character in text)


def explicit_handle(text: str) -> str | None:
    """Return the handle that the whole text is, when it is written so that it can be nothing else.

    That is `@{ana}`, or a numbered one with or without an `@`: `ana~2`. A bare `ana` is a name like others.
    """
    text = text.strip()
    if (match := IN_TEXT.fullmatch(text)) is not None:
        return normalise(match[1])
    bare = normalise(text)
    return bare if re.fullmatch(r"[^\s{}~]+~[1-9][0-9]{0,5}", bare) else None
