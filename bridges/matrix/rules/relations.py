"""How an event relates to another one: replies, threads, edits, reactions, redactions; pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bridges.matrix.rules.values import Json, table, text, whole

MESSAGE: Final = "m.room.message"
ENCRYPTED: Final = "m.room.encrypted"
STICKER: Final = "m.sticker"
POLLS: Final = frozenset({"m.poll.start", "org.matrix.msc3381.poll.start"})
SAID: Final = frozenset({MESSAGE, STICKER, *POLLS})
"""Types of events that somebody says something with."""

ANSWERED_WITHIN: Final = timedelta(minutes=5)
"""Of what was said while the agent was away, what is older is not answered (architecture.md, Once only)."""


@dataclass(frozen=True, slots=True)
class Relation:
    """What an event says of others; each is the id of an event, or empty."""

    replaces: str = ""
    thread: str = ""
    """The root of the thread that it stands in."""
    answers: str = ""
    reacts_to: str = ""
    reaction: str = ""


def relation_of(event: Json) -> Relation:
    """Return what an event says of others; the reply that stands in for a thread is none."""
    relates = table(table(event.get("content")).get("m.relates_to"))
    kind, target = text(relates.get("rel_type")), text(relates.get("event_id"))
    answers = text(table(relates.get("m.in_reply_to")).get("event_id"))
    match kind:
        case "m.replace":
            return Relation(replaces=target)
        case "m.annotation":
            return Relation(reacts_to=target, reaction=text(relates.get("key")))
        case "m.thread":
            return Relation(thread=target, answers="" if relates.get("is_falling_back") is True else answers)
        case _:
            return Relation(answers=answers)


def redacted_by(event: Json) -> str:
    """Return which event a redaction is of: rooms say it in one of two places."""
    return text(table(event.get("content")).get("redacts")) or text(event.get("redacts"))


def is_redacted(event: Json) -> bool:
    """Tell whether an event was redacted, so that nothing of it is left."""
    return "redacted_because" in table(event.get("unsigned"))


def is_valid_edit(edit: Json, original: Json) -> bool:
    """Tell whether an edit counts: Matrix's six rules, the first of which (same room) is the caller's to hold.

    Both as they are after decryption. An edit by anybody but the author of the message is none, whoever delivers it.
    """
    return (
        bool(edit.get("sender"))
        and edit.get("sender") == original.get("sender")
        and edit.get("type") == original.get("type")
        and "state_key" not in edit
        and "state_key" not in original
        and not relation_of(original).replaces
        and isinstance(table(edit.get("content")).get("m.new_content"), dict)
        and relation_of(edit).replaces == original.get("event_id")
    )


def is_overdue(event: Json, now: datetime) -> bool:
    """Tell whether an event is a message that nobody expects an answer to any more; edits and deletions never are."""
    if event.get("type") not in {*SAID, ENCRYPTED} or relation_of(event).replaces:
        return False
    return whole(event.get("origin_server_ts")) < (now - ANSWERED_WITHIN).timestamp() * 1000


def age(event: Json) -> tuple[int, str]:
    """Return what orders edits of one message: the later one counts, and of two at once that of the greater id."""
    return whole(event.get("origin_server_ts")), text(event.get("event_id"))


def bundled_edit(event: Json) -> Json | None:
    """Return the last edit that the homeserver sends along with a message, unchecked; None when there is none."""
    relations = table(table(event.get("unsigned")).get("m.relations"))
    found = table(relations.get("m.replace"))
    return found if table(found.get("content")) else None
