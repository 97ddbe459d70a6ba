"""What nextcord's own log says in a way that would only startle an operator: one calm line instead, or none."""

from __future__ import annotations

import logging
import sys
from typing import Final

from nextcord import VoiceClient

from agent import logs

log = logs.get_logger(__name__)

_SAID_ELSEWHERE: Final = (
    "rejected authorization?",
    "check your permissions?",
    "check your path?",
    "rate limit exceeded",
    "Hit retry %s/%s",
)
"""What the bridge says itself where it matters, with the channel and the way out, or what is nothing to do about."""
_RECONNECTS: Final = "Attempting a reconnect"
_NOT_BEGUN: Final = "Failed to connect for shard_id"
_LOGGERS: Final = ("nextcord.http", "nextcord.shard")


class Quiet(logging.Filter):
    """Keeps lines of nextcord's back; a connection that is lost is told without the trace of the libraries."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether nextcord's line is written as it is."""
        text = str(record.msg)
        if text.startswith(_RECONNECTS):
            error = record.exc_info[1] if record.exc_info else None
            shard, seconds = record.args if isinstance(record.args, tuple) else (None, None)
            log.warning("gateway_lost", shard=shard, reason=type(error).__name__, seconds=_rounded(seconds))
            return False
        if text.startswith(_NOT_BEGUN):
            log.warning("gateway_not_reached", reason=type(sys.exception()).__name__)
            return False
        return not any(words in text for words in _SAID_ELSEWHERE)


_QUIET: Final = Quiet()


def quieten() -> None:
    """Keep nextcord's log calm from now on; calling it again changes nothing."""
    VoiceClient.warn_nacl = False  # the agent does not speak in voice channels
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_QUIET)


def _rounded(seconds: object) -> float | None:
    return round(seconds, 1) if isinstance(seconds, float) else None
