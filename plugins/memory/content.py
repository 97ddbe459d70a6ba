"""What a memory may say, and when two say the same: pure functions over text."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agent.identity.mentions import Labels, convert_mentions
from agent.identity.names import IGNORABLE, normalise
from agent.text import clean, one_line

if TYPE_CHECKING:
    from agent.contracts.people import Participant

PLACEHOLDERS: Final = ("user", "bot")
"""The tokens that a memory may hold; they are resolved when it is shown."""
_FAR_TOO_LONG: Final = 64
"""Text of more than this many times the limit is refused before it is looked at, because nobody means it."""

_BRACES: Final = re.compile(r"([{}])")
_TOKEN_NAME: Final = re.compile(r"[A-Za-z_][\w .:-]{0,63}")
_HANDLE: Final = re.compile(r"@\{([^{}\s]{1,64})\}")
_BRACED_MENTION: Final = re.compile(r"@(?:\{(?!(?:user|bot)\}))+")
"""What could still become a handle: when it is shown, a name takes the place of a placeholder in it."""
_OPENED: Final = re.compile(r"@\{+")
NO_LABELS: Final = Labels({})
"""Whoever is mentioned is "@someone"."""

_DOUBLE_QUOTES: Final = '"\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u2039\u203a\u300c\u300d\u300e\u300f\u301d\u301e'
_SINGLE_QUOTES: Final = "'\u2018\u2019\u201a\u201b\u2032\u02bc`"
_PLAIN_QUOTES: Final = str.maketrans(dict.fromkeys(_DOUBLE_QUOTES, '"') | dict.fromkeys(_SINGLE_QUOTES, "'"))
_NO_INCH: Final = re.compile('(?<![0-9])"')
_NO_FOOT: Final = re.compile("(?<![0-9])'")
_WITHIN_A_WORD: Final = re.compile(r"(?<=\w)'(?=\w)")
_CLOSING: Final = ".!?\u3002"  # NFKC has made these of the full-width forms and of the ellipsis
_BLANK: Final = re.compile(r"\s+")
_IGNORED: Final = re.compile(f"[{IGNORABLE}]")


@dataclass(frozen=True, slots=True)
class Accepted:
    """Content that may be kept."""

    content: str


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing is left of the content."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """The content has more characters than allowed."""

    length: int
    limit: int


def accept(raw: str, limit: int, user_name: str | None = None) -> Accepted | Empty | TooLong:
    """Return the content that is kept of what was given (memory.md, Writing, step 3).

    `limit` counts characters. `user_name`, given for a bridge user, takes the place of `{user}`.
    """
    if len(raw) > limit * _FAR_TOO_LONG:
        return TooLong(len(raw), limit)
    content = without_handles(without_tokens(clean(raw))).strip()
    if not content or not _visible(content):
        return Empty()
    if user_name is not None:
        content = content.replace("{user}", bare_name(user_name))
    return Accepted(content) if len(content) <= limit else TooLong(len(content), limit)


def bare_name(name: str) -> str:
    """Return a name as it may stand in a memory: one line without braces, so that it is never taken for a token."""
    return one_line(clean(_BRACES.sub("", name))) or "somebody"


def without_tokens(text: str) -> str:
    """Return the text without tokens such as `{char}`, `{user}` and `{bot}` excepted; none is left or newly made.

    One pass over the braces: `kept` holds the pieces, `opened` where in it a brace stands that may begin a token.
    """
    if "{" not in text:
        return text
    kept: list[str] = []
    opened: list[int] = []
    for piece in _BRACES.split(text):
        if piece == "{":
            opened.append(len(kept))
        elif piece == "}" and opened:
            name = "".join(kept[opened[-1] + 1 :])
            if name not in PLACEHOLDERS and _TOKEN_NAME.fullmatch(name):
                del kept[opened.pop() :]
                continue
            opened.clear()  # what holds this closing brace can be no token any more
        kept.append(piece)
    return "".join(kept)


def without_handles(text: str) -> str:
    """Return the text without handles: the model that repeats a memory shall mention nobody by it.

    No token is newly made, since each brace that goes stands behind an `@`, which no token holds.
    """
    if "@{" not in text:
        return text
    plain = _HANDLE.sub(lambda handle: handle[0] if handle[1] in PLACEHOLDERS else f"@{handle[1]}", text)
    return _BRACED_MENTION.sub("@", plain)


def with_labels(content: str, participants: Iterable[Participant]) -> str:
    """Return the content with the handles of participants, such as `@{ana}`, turned into their labels.

    A handle means something in its conversation only; whoever must not be remembered keeps no name in a memory.
    """
    if "@{" not in content:
        return content
    labels = {person.handle: bare_name(person.label) for person in participants if person.may_be_remembered}
    return _HANDLE.sub(lambda handle: labels.get(normalise(handle[1]), handle[0]), content)


def mentions_user(content: str) -> bool:
    """Tell whether the content speaks of its subject by `{user}`."""
    return "{user}" in content


def fill(content: str, *, user: str, bot: str, labels: Labels = NO_LABELS) -> str:
    """Return the content as one line with placeholders and mentions resolved, once: a name is not looked into.

    Names may hold braces; an `@` before one never makes a handle of it.
    """
    return _OPENED.sub("@", convert_mentions(one_line(content), labels, user=one_line(user), bot=one_line(bot)))


def fold(content: str) -> str:
    """Return what is compared to tell near-duplicates (memory.md): equal results mean that two say the same.

    NFKC, casefold, white space folded, without default-ignorable characters, quotes and closing punctuation; all other
    punctuation counts, so 1.5 is not 15, C# is not C and -5 is not 5.
    """
    before, text = "", content
    while text != before:  # casefolding can open the way for another composition
        before, text = text, _IGNORED.sub("", unicodedata.normalize("NFKC", text).casefold())
    text = _BLANK.sub(" ", text).strip()
    closed = _without_quotes(text).rstrip(_CLOSING + " ").strip()
    return _BLANK.sub(" ", closed) or text


def _without_quotes(text: str) -> str:
    """Drop quotes. An apostrophe inside a word stays, and so does an unpaired mark after a digit (5")."""
    text = text.translate(_PLAIN_QUOTES)
    text = _NO_INCH.sub("", text) if text.count('"') % 2 else text.replace('"', "")
    text = _WITHIN_A_WORD.sub("\N{MODIFIER LETTER APOSTROPHE}", text)
    return _NO_FOOT.sub("", text) if text.count("'") % 2 else text.replace("'", "")


def content_key(content: str) -> bytes:
    """Return the digest of the folded content, 16 bytes, under which near-duplicates are found."""
    return hashlib.blake2b(fold(content).encode("utf-8", "replace"), digest_size=16).digest()


def _visible(content: str) -> bool:
    return bool(_IGNORED.sub("", content).strip())
