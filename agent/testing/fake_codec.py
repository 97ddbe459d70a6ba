"""The values that go over the wire between a fake platform and an agent, as JSON and back."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from agent.bridge import HistoryMessage, OutcomeUnknown, OutgoingMessage, SendFailed, Sent, SentMessage
from agent.commands import CommandReply
from agent.directory_changes import DirectoryChange
from agent.events import Attachment, Author, Event
from agent.places import ChannelRef, ServerRef
from agent.testing.wire import CallFailed

if TYPE_CHECKING:
    from collections.abc import Sequence


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def dump(kind: Any, value: Any) -> Any:
    """Return a value of a type of this module as what can be JSON."""
    return _adapter(kind).dump_python(value, mode="json")


def load(kind: Any, data: Any) -> Any:
    """Read what `dump` made.

    Raises:
        pydantic.ValidationError: it is no such value.
    """
    return _adapter(kind).validate_python(data)


EVENT: Any = Event
MESSAGE: Any = OutgoingMessage
SENT: Any = SentMessage
HISTORY: Any = tuple[HistoryMessage, ...]
SERVER: Any = ServerRef
CHANNEL: Any = ChannelRef
AUTHOR: Any = Author
ATTACHMENT: Any = Attachment
REPLY: Any = CommandReply
CHANGE: Any = DirectoryChange


def dump_outcome(outcome: Sent | OutcomeUnknown | None) -> Any:
    """Return the outcome of a send, or what was found of one."""
    match outcome:
        case Sent(message_id):
            return {"sent": message_id}
        case OutcomeUnknown(reason):
            return {"unknown": reason}
        case None:
            return None


def load_outcome(data: Any) -> Sent | OutcomeUnknown | None:
    """Read what `dump_outcome` made."""
    if data is None:
        return None
    return Sent(data["sent"]) if "sent" in data else OutcomeUnknown(data["unknown"])


def as_call_failed(failure: SendFailed) -> CallFailed:
    """Return a refusal as it goes over the wire."""
    return CallFailed("SendFailed", {"reason": failure.reason, "retry_after": failure.retry_after})


def as_send_failed(failure: CallFailed) -> SendFailed:
    """Return what came over the wire as a refusal."""
    if isinstance(failure.data, dict):
        return SendFailed(failure.data["reason"], retry_after=failure.data["retry_after"])
    return SendFailed(str(failure))


def dump_history(history: Sequence[HistoryMessage]) -> Any:
    """Return earlier messages."""
    return dump(HISTORY, tuple(history))
