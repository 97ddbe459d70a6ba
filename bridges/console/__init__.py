"""The agent in a terminal: `isthmus chat`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridges.console.bridge import ConsoleBridge, ConsoleSettings

if TYPE_CHECKING:
    from agent.chat import ChatOptions
    from agent.settings import LoadedSettings

__all__ = ["ConsoleBridge", "ConsoleSettings", "run_chat"]


async def run_chat(loaded: LoadedSettings, options: ChatOptions) -> int:
    """Talk in this terminal (see `agent.chat.RunChat`)."""
    from bridges.console.chat import run_chat as run

    return await run(loaded, options)
