"""What a front end in a terminal is asked for; the console bridge's `run_chat` takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from agent.clock import Clock
    from agent.settings import LoadedSettings
    from agent.terminal import Whereabouts


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How `isthmus chat` was called."""

    start: Whereabouts
    script: Path | None = None
    """The file of lines to say, `-` for standard input; None: a person types."""
    as_json: bool = False
    """Print the transcript as JSON, one object a line (scripts only)."""
    clock: Clock | None = None
    """None: the machine's clock."""
    persona: str | None = None
    """The name of the persona that answers, where there is one of that name; None: whom a message calls."""


class RunChat(Protocol):
    """The function `run_chat` of a bridge that can hold a conversation in this terminal."""

    async def __call__(self, loaded: LoadedSettings, options: ChatOptions) -> int:
        """Start the agent, talk until it ends, stop the agent; return the exit code: 1 when a turn or line failed."""
        ...
