"""Names: labels to search by, and untrusted text. Nobody's identity is ever derived from one."""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from typing import Final

from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.text import clean, clip, one_line

LABEL_LIMIT: Final = 64
"""Longest label that is ever shown, in characters."""
NAME_LIMIT: Final = 256
"""Longest normalised name, in characters; what is longer is cut before it is compared or kept."""
_INPUT_LIMIT: Final = 1024
"""More of an input than this is never looked at."""

IGNORABLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""The inside of a character class: Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt, 16.0), which
holds most bidirectional controls, U+17B4, U+17B5 and the variation selectors; then the annotation marks."""
# Also lone surrogates, and the controls that are no white space.
_IGNORED: Final = re.compile(f"[{IGNORABLE}\ud800-\udfff\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
# What may stand in a label is less strict: U+200C and U+200D join letters and emoji, U+FE0F makes emoji colourful.
_HIDDEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_LOOKS_OTHERWISE: Final = re.compile("[I0]")
"""Of the ASCII characters those whose two skeletons differ: `I` looks like `l`, and `0` like a capital O."""
_BLANK: Final = re.compile("[\\s\u2800]+")  # the blank pattern of Braille is used as an invisible name


class NameSource(StrEnum):
    """Where a name comes from, strongest first (identity.md, Names)."""

    GUILD = "guild"
    """The name shown in this server: the primary label."""
    NICKNAME = "nickname"
    """A nickname that was saved by a command."""
    GLOBAL = "global"
    USERNAME = "username"

    @property
    def strength(self) -> int:
        """Return its place in the order of strength; 0 is the strongest."""
        return list(NameSource).index(self)


def normalise(name: str) -> str:
    """Return the form under which names are compared; applying it twice changes nothing.

    NFKC, casefold, without default-ignorable, control and bidirectional characters, each run of white space one space,
    no leading `@`. Equal forms do not mean the same person.
    """
    before, after = name[:_INPUT_LIMIT], _normalise_once(name[:_INPUT_LIMIT])
    while after != before:  # casefolding and removing can open the way for another composition
        before, after = after, _normalise_once(after)
    return after


def _normalise_once(name: str) -> str:
    return _bare(unicodedata.normalize("NFKC", name).casefold())


def _bare(name: str) -> str:
    text = _BLANK.sub(" ", _IGNORED.sub("", name))[:NAME_LIMIT]
    return unicodedata.normalize("NFKC", text).strip(" ").lstrip("@ ")[:NAME_LIMIT].rstrip(" ")


def skeleton(name: str) -> str:
    """Return what a name looks like in lower case (UTS #39), for noticing twins only: equal ones are ambiguous."""
    return _prototype(normalise(name))


def skeletons(name: str) -> frozenset[str]:
    """Return what a name looks like in lower case and as it is written; two names are twins when they share one.

    One form would not do: the Cyrillic letter of `\u0412en` looks like a B only as a capital, and the capital I of
    `Ivan` like an l.
    """
    lower = skeleton(name)
    if name.isascii() and not _LOOKS_OTHERWISE.search(name):
        return frozenset((lower,))
    written = _bare(unicodedata.normalize("NFKC", name[:_INPUT_LIMIT]))
    return frozenset((lower, _prototype(_prototype(written).casefold())))


def are_twins(one: str, other: str) -> bool:
    """Tell whether two names look alike."""
    return not skeletons(one).isdisjoint(skeletons(other))


def _prototype(text: str) -> str:
    from agent.identity.confusables import prototypes  # the table is read when the first name is compared

    plain = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFD", plain.translate(prototypes()))


def folded(text: str) -> str:
    """Return a text of any length in the form under which names are compared; its white space stays as it is."""
    if text.isascii() and not _IGNORED.search(text):
        return text.lower()
    before, after = text, _fold_once(text)
    while after != before:
        before, after = after, _fold_once(after)
    return after


def _fold_once(text: str) -> str:
    plain = _IGNORED.sub("", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFKC", plain)


def label(name: str, key: ParticipantKey) -> str:
    """Return a name as it may be shown: one line, at most 64 characters, nothing hidden in it, never empty."""
    shown = clip(shown_name(name), LABEL_LIMIT)
    return shown if normalise(shown) else fallback_label(key)


def shown_name(name: str) -> str:
    """Return a name as one line with nothing hidden in it; possibly empty, and of any length up to 1,024."""
    return _BLANK.sub(" ", _HIDDEN.sub("", one_line(clean(name[:_INPUT_LIMIT])))).strip()


def fallback_label(key: ParticipantKey) -> str:
    """Return a readable label for somebody whose name shows nothing, made from the id."""
    if key.kind is ParticipantKind.MATRIX_USER:
        return clip(one_line(clean(key.id)), LABEL_LIMIT)
    word = key.kind.value.rpartition("_")[2]
    return clip(f"{word} {one_line(clean(key.id[-_INPUT_LIMIT:]))}", LABEL_LIMIT)


def place_name(name: str, external_id: str) -> str:
    """Return the name of a server or channel as it may be kept and shown; its id where it shows nothing."""
    shown = clip(shown_name(name), 2 * LABEL_LIMIT)
    return shown if normalise(shown) else clip(one_line(clean(external_id)), 2 * LABEL_LIMIT)
