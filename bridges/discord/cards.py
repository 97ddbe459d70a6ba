"""Notices as embeds, and what can be done with them as buttons: pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agent.catalog import translate
from agent.contracts.cards import ActionKind, CardKind
from agent.fitting import card_text, cut
from agent.steps import step_id, step_of
from bridges.discord.escaping import escaped, escaped_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agent.contracts.cards import Card, CardAction

CARD_LIMIT: Final = 4_000
"""Characters of a card's texts once they are escaped: below what a description holds, for what is put around them."""
DESCRIPTION: Final = 4_096
_TITLE: Final = 256
_FOOTER: Final = 200
_LABEL: Final = 80
_ROW: Final = 5
_MOST_ROWS: Final = 5
_PLAIN: Final = 1_900
"""Characters of a card that is shown as a message, where embeds are not allowed."""

COLOURS: Final = {
    CardKind.SAVED: 0x57F287,
    CardKind.UPDATED: 0xFEE75C,
    CardKind.DELETED: 0xED4245,
    CardKind.EVICTED: 0xE67E22,
    CardKind.DISCLOSURE: 0x5865F2,
    CardKind.INFO: 0x95A5A6,
}
_STYLES: Final = {ActionKind.WIDEN: 1, ActionKind.UNDO: 4}
"""How a button looks: 1 stands out, 4 warns; all others are grey."""
_GREY: Final = 2


def embed_of(card: Card) -> dict[str, Any]:
    """Return a card as an embed; every text in it is shown as it is and pings no one."""
    title = escaped(card.title.strip())
    lines = [escaped(line) for line in card.lines]
    if len(title) > _TITLE:
        title, lines = "", [f"**{title}**", *lines]
    if card.forgotten:
        lines.append(f"~~{escaped(card.forgotten)}~~")
    room = DESCRIPTION - len("\n".join(lines))
    for words in _undrawn(card):
        if (room := room - len(words) - 1) >= 0:
            lines.append(words)
    footer = " · ".join(
        part for part in (card.about, None if card.memory_id is None else f"ID {card.memory_id}") if part
    )
    return {
        "color": COLOURS[card.kind],
        **({"title": title} if title else {}),
        **({"description": "\n".join(lines)} if any(lines) else {}),
        **({"footer": {"text": cut(footer, _FOOTER)}} if footer else {}),
    }


def text_of(card: Card) -> str:
    """Return a card as the text of a message, for channels in which the agent may not show embeds."""
    title, _, rest = escaped(cut(card_text(card), _PLAIN, escaped_length)).partition("\n")
    return f"**{title}**\n{rest}" if title.strip() else rest


def buttons_of(card: Card) -> list[dict[str, Any]]:
    """Return the rows of buttons of a card; each runs a command, so that it works after a restart."""
    drawn = {identifier: action for action in card.actions if (identifier := step_id(step_of(action)))}
    buttons = [_button(identifier, action) for identifier, action in drawn.items()][: _ROW * _MOST_ROWS]
    return [{"type": 1, "components": buttons[begin : begin + _ROW]} for begin in range(0, len(buttons), _ROW)]


def has_undo(message: Mapping[str, Any], identifier: str) -> bool:
    """Tell whether a button of a card, as Discord has the message, is the one that takes back what the card tells."""
    buttons = (button for row in message.get("components") or () for button in row.get("components") or ())
    undo = _STYLES[ActionKind.UNDO]
    return any(button.get("custom_id") == identifier and button.get("style") == undo for button in buttons)


def undone(message: Mapping[str, Any], locale: str) -> dict[str, Any]:
    """Return a card's message, as Discord has it, once it was taken back: it says so, and has no buttons any more."""
    body: dict[str, Any] = {"components": [], "allowed_mentions": {"parse": []}}
    if embeds := message.get("embeds"):
        shown = {key: embeds[0][key] for key in ("title", "description") if embeds[0].get(key)}
        said = translate(locale, "{title} (undone)", title=shown.get("title", "")).strip()
        footer = (embeds[0].get("footer") or {}).get("text")
        body["embeds"] = [
            {
                **shown,
                "title": cut(said, _TITLE),
                "color": COLOURS[CardKind.INFO],
                **({"footer": {"text": footer}} if footer else {}),
            }
        ]
    return body


def _button(identifier: str, action: CardAction) -> dict[str, Any]:
    style = _STYLES.get(action.kind, _GREY)
    label = cut(action.label.strip(), _LABEL) or action.kind.value
    return {"type": 2, "style": style, "label": label, "custom_id": identifier}


def _undrawn(card: Card) -> Iterator[str]:
    """Yield how the actions are typed whose options are too long for a button."""
    for action in card.actions:
        if step_id(step_of(action)) is None:
            yield escaped(f"{action.label}: {action.typed}")
