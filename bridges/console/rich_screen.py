"""The screen of a person at a terminal: who speaks in colour, cards as panels. Untrusted text is never markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

from agent.contracts.cards import CardKind
from agent.printing import printable
from agent.terminal import shown_place
from agent.text import clip, one_line
from bridges.console.transcript import Record, RecordType, card_actions, card_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.contracts.cards import Card

MAX_SHOWN: Final = 20_000
"""Characters of one record that are shown; nobody reads more of them in a terminal."""
_COLOURS: Final = {
    CardKind.SAVED: "green",
    CardKind.UPDATED: "cyan",
    CardKind.DELETED: "yellow",
    CardKind.EVICTED: "yellow",
    CardKind.DISCLOSURE: "blue",
    CardKind.INFO: "blue",
}


class RichScreen:
    """Prints above the line that is being typed.

    `place` tells where the person is now: what happens elsewhere is shown with its place. `on_change` is called when
    `writing` may have changed.
    """

    def __init__(self, console: Console, place: Callable[[], str], on_change: Callable[[], None]) -> None:
        self._console = console
        self._place = place
        self._on_change = on_change
        self.writing: set[str] = set()
        """Ids of the channels in which an answer is being written."""

    def show(self, record: Record) -> None:
        """Print one record; what the person typed stands there already."""
        if record.type in {RecordType.REPLY, RecordType.ERROR}:
            self._set_writing(record.channel.external_id, on=False)
        if record.type in {RecordType.MESSAGE, RecordType.TOOL_RESULT}:
            return
        where = shown_place(record.server, record.channel)
        if where != self._place():
            self._console.print(Text(one_line(printable(where)), "dim"))
        self._console.print(_drawn(record))

    def show_line(self, text: str) -> None:
        """Print a line that the terminal itself says."""
        self._console.print(Text(printable(text), "dim"))

    def typing(self, where: str) -> None:
        """Remember that an answer is being written in that channel."""
        self._set_writing(where, on=True)

    def _set_writing(self, where: str, *, on: bool) -> None:
        (self.writing.add if on else self.writing.discard)(where)
        self._on_change()


def _drawn(record: Record) -> Text | Panel | Group:
    text = clip(printable(record.text), MAX_SHOWN)
    if record.card is not None:
        return _panel(record.card)
    match record.type:
        case RecordType.ERROR:
            return Text(f"error: {text}", "red")
        case RecordType.TOOL_CALL:
            return Text(f"  {one_line(text)} …", "dim")
        case RecordType.NOTICE:
            return Text(text, "dim")
        case _:
            speaker = Text(f"{one_line(printable(record.speaker))}: ", "bold magenta")
            return speaker.append(text, "default not bold")


def _panel(card: Card) -> Panel | Text:
    colour = _COLOURS.get(card.kind, "blue")
    title = Text(one_line(clip(printable(card.title), 200)), f"bold {colour}")
    label = Text(one_line(clip(printable(card_label(card)), 200)), "dim")
    lines = [Text(clip(printable(line), MAX_SHOWN)) for line in card.lines]
    if card.forgotten is not None:
        lines.append(Text(clip(printable(card.forgotten), MAX_SHOWN), "dim strike"))
    if actions := card_actions(card):
        lines.append(Text(clip(printable(actions), MAX_SHOWN), "dim"))
    if not lines:
        return title.append(" ").append(label)
    return Panel(
        Group(*lines),
        title=title,
        title_align="left",
        subtitle=label or None,
        subtitle_align="right",
        border_style=colour,
        expand=False,
    )
