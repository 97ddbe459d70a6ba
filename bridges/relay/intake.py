"""Which events of a transaction are kept: those of linked rooms that are not the relay's own. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from bridges.matrix.rules.relations import ENCRYPTED, SAID, redacted_by, relation_of
from bridges.matrix.rules.values import Json, table, text
from bridges.relay.names import Names
from bridges.relay.repository import Heard

MEMBER: Final = "m.room.member"
ENCRYPTION: Final = "m.room.encryption"
TOMBSTONE: Final = "m.room.tombstone"
REDACTION: Final = "m.room.redaction"
ANNOTATION: Final = "m.reaction"
_STATE: Final = frozenset({MEMBER, ENCRYPTION, TOMBSTONE})
_TIMELINE: Final = frozenset({*SAID, ENCRYPTED, REDACTION, ANNOTATION})
_LONGEST_ID: Final = 255
AGREE: Final = "!matrix accept"
"""What whoever manages a room types to agree to a link."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of a transaction."""

    heard: tuple[Heard, ...]
    malformed: int
    """Events that have no usable id, room, sender or content: there is nothing to come back to."""


def taken(
    events: Iterable[Any], names: Names, linked: Collection[str], others: Collection[str], asked: Collection[str] = ()
) -> Taken:
    """Return what is to be kept of a transaction.

    Args:
        events: The events, as anybody may have written them.
        names: The relay's users.
        linked: The rooms that are linked.
        others: The agent's accounts of another bridge: what they say was said on the other side already.
        asked: Rooms that are asked whether they agree to a link: of these the answer is kept and nothing else.

    """
    heard, malformed = [], 0
    for each in events:
        event = table(each)
        if not _is_usable(event):
            malformed += 1
        elif text(event["room_id"]) in asked and is_agreement(event):
            heard.append(_heard(event, text(event["type"]), None))
        elif (kept := _kept(event, names, linked, others)) is not None:
            heard.append(kept)
    return Taken(tuple(heard), malformed)


def is_invitation(event: Json, names: Names) -> bool:
    """Tell whether an event invites the agent's own user."""
    return (
        event.get("type") == MEMBER
        and event.get("state_key") == names.agent
        and table(event.get("content")).get("membership") == "invite"
    )


def is_agreement(event: Json) -> bool:
    """Tell whether somebody agrees to a link."""
    said = text(table(event.get("content")).get("body")).split()
    return event.get("type") == "m.room.message" and said == list(AGREE.split())


def _is_usable(event: Json) -> bool:
    ids = (text(event.get(key)) for key in ("event_id", "room_id", "sender", "type"))
    return all(each and len(each) <= _LONGEST_ID and "\x00" not in each for each in ids) and isinstance(
        event.get("content"), dict
    )


def _kept(event: Json, names: Names, linked: Collection[str], others: Collection[str]) -> Heard | None:
    kind, room, sender = text(event.get("type")), text(event["room_id"]), text(event["sender"])
    if is_invitation(event, names):
        return _heard(event, kind, None)
    if room not in linked:
        return None
    if isinstance(event.get("state_key"), str):
        concerns_own = kind == MEMBER and names.is_own(event["state_key"]) and event["state_key"] != names.agent
        return None if kind not in _STATE or concerns_own else _heard(event, kind, None)
    if kind not in _TIMELINE or names.is_own(sender) or sender in others:
        return None
    if table(event.get("content")).get("msgtype") == "m.notice":
        return None  # said by a machine: answering it is how two of them never end
    relation = relation_of(event)
    target = redacted_by(event) if kind == REDACTION else relation.replaces or relation.reacts_to
    return _heard(event, kind, target or None)


def _heard(event: Json, kind: str, target: str | None) -> Heard:
    # PostgreSQL's JSON takes no NUL, which no text needs.
    payload = json.dumps(event, ensure_ascii=True).replace("\\u0000", "")
    return Heard(event["event_id"], event["room_id"], kind, payload, target)
