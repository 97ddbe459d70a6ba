"""Mentions: what a platform writes becomes readable, and what the model writes becomes a mention; pure functions.

Between core and bridge a mention in an outgoing text stands as `<@ID>`, and the same message names the account in
`mentions`: the bridge gives it the platform's own form (`give_form`). Everything else in the text is plain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final

from agent.contracts.people import Participant
from agent.identity.directory import is_hidden
from agent.identity.handles import IN_TEXT, is_handle
from agent.identity.keys import ParticipantKey
from agent.identity.names import normalise

SOMEBODY: Final = "someone"
"""Stands for a person who is not known here or must not be named."""
_APART: Final = "\u200b"
_HOLE: Final = "\x00"
"""Where a mention will stand; no text holds it."""
_INCOMING: Final = re.compile(
    r"\{(?P<word>user|bot)\}"
    r"|<@!?(?P<person>[^<>\s@&#!][^<>\s]{0,254}|@[^<>\s]{1,254})>"
    r"|https://matrix\.to/#/(?P<permalink>@[^\s/?<>()]{1,250}:[^\s/?<>()]{1,250})"
    r"|(?<![\w@])(?P<matrix>@[A-Za-z0-9._=/+-]{1,250}:[A-Za-z0-9.\[\]:-]{0,250}[A-Za-z0-9\]])"
    r"|<@&(?P<role>[^<>\s]{1,255})>"
    r"|<#(?P<channel>[^<>\s]{1,255})>"
)
_OUTGOING_PERSON: Final = re.compile(r"<(?=@[!&]?[^<>\s]{1,255}>)")
_EVERYBODY: Final = re.compile(r"@(?=everyone|here|room)", re.IGNORECASE)
_PLACED: Final = re.compile(r"<@([^<>\s]{1,255})>")


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of who and what a text may mention, by the platform's id. Who must not be named is left out."""

    people: Mapping[str, str]
    roles: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, participants: Iterable[Participant]) -> Labels:
        """Return the labels of participants, without those whose privacy is FULL."""
        return cls({each.account.key.id: each.label for each in participants if _is_mentioned(each)})

    @classmethod
    def by_handle(cls, participants: Iterable[Participant]) -> Labels:
        """Return the same with handles, `{ana~2}`, so that a mention of a twin stays a mention of that twin."""
        return cls({each.account.key.id: f"{{{each.handle}}}" for each in participants if _is_mentioned(each)})


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A text that may be posted, and the only accounts that it may ping."""

    text: str
    mentions: tuple[ParticipantKey, ...] = ()


def _is_mentioned(person: Participant) -> bool:
    """Tell whether a mention of the account means this person: not of one who hides, nor of one who shares it."""
    return not is_hidden(person.account) and not person.speaker.is_proxied


def readable(text: str, labels: Labels) -> str:
    """Return what somebody said with readable labels in place of mentions; braces are that person's own words."""
    return _INCOMING.sub(lambda match: match[0] if match["word"] else _named(match, labels), text)


def convert_mentions(text: str, labels: Labels, *, user: str | None, bot: str) -> str:
    """Return a text of the agent's own (a prompt, a memory) with mentions and placeholders resolved.

    Everything is replaced at once and in one pass: braces or mentions inside of a label stay what they are.

    Args:
        text: The text, as it is kept.
        labels: Whom and what it may name; another person becomes "@someone", a role "@role", a channel "#channel".
        user: The label of whom `{user}` means, for a memory its subject; None becomes "someone".
        bot: The name of the persona, for `{bot}`.

    """

    def replace(match: re.Match[str]) -> str:
        if (word := match["word"]) is not None:
            return bot if word == "bot" else (user or SOMEBODY)
        return _named(match, labels)

    return _INCOMING.sub(replace, text)


def has_mentions(text: str) -> bool:
    """Tell whether a text holds a mention of anybody or anything, or a placeholder."""
    return _INCOMING.search(text) is not None


def people_in(text: str) -> tuple[str, ...]:
    """Return the platform's ids of the people whom a text mentions, each once."""
    found = (match["person"] or match["permalink"] or match["matrix"] for match in _INCOMING.finditer(text))
    return tuple(dict.fromkeys(identifier for identifier in found if identifier))


def _named(match: re.Match[str], labels: Labels) -> str:
    """Return the label of what a mention means."""
    if (role := match["role"]) is not None:
        return f"@{labels.roles.get(role, 'role')}"
    if (channel := match["channel"]) is not None:
        return f"#{labels.channels.get(channel, 'channel')}"
    person = match["person"] or match["permalink"] or match["matrix"]
    return f"@{labels.people.get(person, SOMEBODY)}"


def place_mentions(text: str, participants: Sequence[Participant]) -> Outgoing:
    """Return an answer of the model with each `@{handle}` of exactly one participant as a mention, `<@ID>`.

    A handle that nobody or several own becomes plain text; so does one whose person must not be named. What looks like
    a mention and was not made here is made harmless, and so are `@everyone`, `@here` and `@room`.
    """
    owners: dict[str, Participant | None] = {}
    for each in participants:
        owners[each.handle] = None if each.handle in owners else each
    mentioned: dict[ParticipantKey, None] = {}
    placed: list[str] = []

    def replace(match: re.Match[str]) -> str:
        handle = normalise(match[1])
        owner = owners.get(handle)
        if owner is None or not _is_mentioned(owner):
            return f"@{match[1]}" if is_handle(handle) else match[0]
        mentioned[owner.account.key] = None
        placed.append(f"<@{owner.account.key.id}>")
        return _HOLE

    # Only when the whole text stands is it made harmless: pieces that are nothing alone can make a mention together.
    plain = harmless(IN_TEXT.sub(replace, text.replace(_HOLE, ""))).split(_HOLE)
    pieces = [piece for pair in zip_longest(plain, placed, fillvalue="") for piece in pair]
    return Outgoing("".join(pieces), tuple(mentioned))


def harmless(text: str) -> str:
    """Return a text in which nothing can ping: mentions and `@everyone` are taken apart by a space without width."""
    text = _OUTGOING_PERSON.sub(f"<{_APART}", text)
    return _EVERYBODY.sub(f"@{_APART}", text)


def mentions_in(text: str, mentions: Sequence[ParticipantKey]) -> tuple[ParticipantKey, ...]:
    """Return those of some mentions that stand in a text, as in one part of a split answer."""
    ids = set(_PLACED.findall(text))
    return tuple(key for key in mentions if key.id in ids)


def give_form(text: str, mentions: Sequence[ParticipantKey], form: Callable[[ParticipantKey], str]) -> str:
    """Return an outgoing text with its mentions in a platform's own form; for bridges."""
    keys = {key.id: key for key in mentions}

    def replace(match: re.Match[str]) -> str:
        key = keys.get(match[1])
        return match[0] if key is None else form(key)

    return _PLACED.sub(replace, text)
