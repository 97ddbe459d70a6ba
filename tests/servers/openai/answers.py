"""What the server answers: texts and calls, whole or broken."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Ending(StrEnum):
    """How a response ends after its last chunk."""

    DONE = "done"
    STALL = "stall"
    """It stays open and says nothing more."""
    RESET = "reset"
    """The connection breaks in mid-body."""
    EOF = "eof"
    """It ends cleanly, but without a finish reason."""
    ERROR = "error"
    """An error object stands in the stream."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    """Given as text it is sent as it is, malformed or not."""
    call_id: str | None = None

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True, slots=True)
class Answer:
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    """`stop` or `tool_calls` when left out."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Sent instead of everything else."""
    content_type: str = "application/json"
    """Of `body`."""
    pause: float = 0.0
    """Seconds before the first byte."""
    drip: float = 0.0
    """Seconds between two chunks of a stream."""
    chunk: int = 24
    """Characters of a chunk."""
    ending: Ending = Ending.DONE
    ends_after: int | None = None
    """How many chunks come before an ending that is no `DONE`; all of them when left out."""
    usage: bool = True

    @property
    def finish(self) -> str:
        return self.finish_reason or ("tool_calls" if self.calls else "stop")

    def deltas(self) -> Iterator[dict[str, Any]]:
        """What a stream says, piece by piece."""
        yield {"role": "assistant", "content": ""}
        for begin in range(0, len(self.text), self.chunk):
            yield {"content": self.text[begin : begin + self.chunk]}
        for index, call in enumerate(self.calls):
            function: dict[str, Any] = {"name": call.name, "arguments": ""}
            call_id = call.call_id if call.call_id is not None else f"call_{index}"
            yield {"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]}
            text = call.text
            for begin in range(0, len(text), self.chunk):
                function = {"arguments": text[begin : begin + self.chunk]}
                yield {"tool_calls": [{"index": index, "function": function}]}

    def message(self) -> dict[str, Any]:
        """The same in one piece."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        if self.calls:
            message["tool_calls"] = [
                {
                    "id": call.call_id if call.call_id is not None else f"call_{index}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.text},
                }
                for index, call in enumerate(self.calls)
            ]
        return message


def rate_limited(retry_after: float | None = None) -> Answer:
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    return failed(429, "Rate limit reached", "rate_limit_exceeded", headers=headers)


def failed(
    status: int, message: str = "The server had an error", code: str | None = None, *, headers: Mapping[str, str] = {}
) -> Answer:
    return Answer(status=status, body=error_body(message, code), headers=headers)


def error_body(message: str, code: str | None) -> bytes:
    return json.dumps({"error": {"message": message, "type": "server_error", "param": None, "code": code}}).encode()
