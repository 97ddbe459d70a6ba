"""Cards within a platform's limit: what is too long is shortened, its whole text stays to be had. Pure functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import regex

from agent.contracts.cards import ActionKind
from agent.files import ReplyFile, TextFile
from agent.turn.split import MEASURES

if TYPE_CHECKING:
    from agent.bridge import Capabilities, OutgoingMessage
    from agent.contracts.cards import Card
    from agent.turn.split import Measure

NOTICE_FILE: Final = "notice.txt"
_CLUSTER: Final = regex.compile(r"\X")
_NEAR: Final = 64
"""Characters before a cut in which the end of a grapheme is looked for."""


def card_text(card: Card) -> str:
    """Return a card as plain text: its title, its lines, and behind a minus what is forgotten by it."""
    forgotten = () if card.forgotten is None else (f"- {card.forgotten}",)
    return "\n".join((card.title, *card.lines, *forgotten))


def text_file(file: TextFile) -> ReplyFile:
    """Return a text as a file."""
    return ReplyFile(file.name, file.text.encode("utf-8", "replace"), "text/plain; charset=utf-8")


def notice_file(text: str) -> ReplyFile:
    """Return the whole text of a notice as a file."""
    return text_file(TextFile(NOTICE_FILE, text))


def fitted(message: OutgoingMessage, capabilities: Capabilities) -> OutgoingMessage:
    """Return a message as its platform can show it: code that goes along becomes a file, cards become short enough.

    A card that fits loses its action to expand. One that is too long is shortened: where there are buttons that action
    stays, elsewhere the whole text goes along as a file, and where there are no files the card names the command.
    """
    card = message.card
    if message.code is not None:
        message = replace(message, file=text_file(message.code), code=None)
    if card is None:
        return message
    measure, limit = capabilities.card_measure or MEASURES[capabilities.length_unit], capabilities.card_limit
    expand = next((action for action in card.actions if action.kind is ActionKind.EXPAND), None)
    plain = replace(card, actions=tuple(action for action in card.actions if action is not expand))
    whole = card_text(card)
    if measure(whole) <= limit:
        return replace(message, card=plain)
    if capabilities.actions and expand is not None:
        return replace(message, card=_shortened(card, limit, measure))
    if capabilities.files:
        return replace(message, card=_shortened(plain, limit, measure), file=notice_file(whole))
    if expand is None:
        return replace(message, card=_shortened(plain, limit, measure))
    hint = f"{expand.label}: {expand.typed}"
    short = _shortened(plain, limit - measure(f"\n{hint}"), measure)
    return replace(message, card=replace(short, lines=(*short.lines, hint)))


def _shortened(card: Card, limit: int, measure: Measure) -> Card:
    """Return the card with its longest texts cut alike, as little as it takes."""
    low, high = 1, limit
    while low < high:
        middle = (low + high + 1) // 2
        if measure(card_text(_cut_to(card, middle, measure))) <= limit:
            low = middle
        else:
            high = middle - 1
    return _cut_to(card, low, measure)


def _cut_to(card: Card, units: int, measure: Measure) -> Card:
    return replace(
        card,
        title=cut(card.title, units, measure),
        lines=tuple(cut(line, units, measure) for line in card.lines),
        forgotten=None if card.forgotten is None else cut(card.forgotten, units, measure),
    )


def cut(text: str, units: int, measure: Measure = len) -> str:
    """Return a text of at most `units`, with an ellipsis where it was longer; no grapheme is torn apart."""
    if measure(text) <= units:
        return text
    room = units - measure("…")
    low, high = 0, min(len(text), max(room, 0))
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    begin = max(low - _NEAR, 0)
    ends = [begin + found.end() for found in _CLUSTER.finditer(text[begin : low + _NEAR])]
    end = max((each for each in ends if each <= low), default=low)
    return f"{text[:end]}…"
