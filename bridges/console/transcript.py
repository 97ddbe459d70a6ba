"""What happens in a conversation, as records: for the screen, and for `--json` one object a line."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from agent.printing import safe_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from agent.contracts.cards import Card
    from agent.places import ChannelRef, ServerRef


class RecordType(StrEnum):
    """What a record tells."""

    MESSAGE = "message"
    """Somebody said something, or ran a command."""
    REPLY = "reply"
    """The agent answered."""
    NOTICE = "notice"
    """The agent told what it has learned or forgotten."""
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Record:
    """One happening."""

    type: RecordType
    time: datetime
    server: ServerRef
    channel: ChannelRef
    speaker: str
    """Who said or did it: a person's or persona's name."""
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    card: Card | None = None
    """Of a notice."""

    def as_json(self) -> str:
        """Return the record as one line of JSON that is safe to print: no control or direction character is raw."""
        value = {
            "type": self.type.value,
            "time": self.time.isoformat(),
            "server": self.server.name,
            "channel": self.channel.name,
            "speaker": self.speaker,
            "text": self.text,
            "data": self.data,
        }
        return safe_json(value)


class Screen(Protocol):
    """Where records are shown."""

    def show(self, record: Record) -> None:
        """Show one record at once."""
        ...

    def typing(self, where: str) -> None:
        """Show that an answer is being written in the channel of that id."""
        ...


def card_actions(card: Card) -> str:
    """Return what can be done with a card and how that is typed, unless a line of it says so already."""
    told = [each for each in card.actions if not any(line.endswith(each.typed) for line in card.lines)]
    return " · ".join(f"{action.label}: {action.typed}" for action in told)


def card_label(card: Card) -> str:
    """Return whom or what a card is about and the memory's number, as `ana · ID 7`; empty when it tells neither."""
    number = None if card.memory_id is None else f"ID {card.memory_id}"
    return " · ".join(part for part in (card.about, number) if part)


def card_data(card: Card) -> dict[str, Any]:
    """Return a card as data."""
    return {
        "kind": card.kind.value,
        "title": card.title,
        "lines": list(card.lines),
        "memory_id": card.memory_id,
        "about": card.about,
        "forgotten": card.forgotten,
        "audience": card.audience.value,
        "actions": [
            {"kind": action.kind.value, "label": action.label, "typed": action.typed} for action in card.actions
        ],
    }
