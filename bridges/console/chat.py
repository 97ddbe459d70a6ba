"""Starts the agent on a console bridge and runs one of the two front ends."""

from __future__ import annotations

import sys
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from agent.clock import SystemClock
from bridges.console.bridge import ConsoleBridge, ConsoleSettings
from bridges.console.conversation import Conversation
from bridges.console.feed import open_feed, read_lines
from bridges.console.plain import JsonScreen, TextScreen

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from agent.chat import ChatOptions
    from agent.settings import LoadedSettings
    from bridges.console.interactive import Terminal


GRACE: Final = 2.0
"""Seconds that an answer may still take when the person leaves."""


class Idle(Protocol):
    """What a script needs of the agent."""

    async def idle(self) -> None:
        """Return when every turn has been delivered."""
        ...


async def run_chat(loaded: LoadedSettings, options: ChatOptions) -> int:
    """Talk until it ends (see `agent.chat.RunChat`).

    Raises:
        FeedFailed: the script cannot be read.
        PersonaRefused: where the conversation begins there is no persona of the name that was asked for.
    """
    from agent.app import Agent

    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    script = options.script or (None if is_terminal else Path("-"))
    descriptor = None if script is None else open_feed(script)
    clock = options.clock or SystemClock()
    bridge = ConsoleBridge(_settings(loaded), clock=clock, agent_name=loaded.settings.agent.name)
    bridge.persona = options.persona
    terminal: Terminal | None = None
    if descriptor is None:
        from bridges.console.interactive import Terminal

        terminal = Terminal(loaded.data_dir)
        bridge.screen = terminal.screen
    else:
        bridge.screen = JsonScreen(sys.stdout) if options.as_json else TextScreen(sys.stdout)
    agent = await Agent.start(loaded, bridges=[bridge], clock=clock, watch=bridge.watch)
    try:
        start = options.start
        if options.persona is not None:
            await agent.find_persona(options.persona, start.server_ref, start.channel_ref, start.author)
        conversation = Conversation(bridge, start)
        if terminal is not None:
            await terminal.talk(conversation, greeting(loaded))
        elif descriptor is not None:
            await say_script(conversation, agent, read_lines(descriptor))
    finally:
        await agent.stop(GRACE)
    return 1 if descriptor is not None and bridge.failures else 0


async def say_script(conversation: Conversation, agent: Idle, lines: AsyncGenerator[str]) -> None:
    """Say one line after the other; each turn has been delivered before the next line is said."""
    number = 0
    async with aclosing(lines):
        async for line in lines:
            number += 1
            if not await conversation.take(line, label=f"line {number}: "):
                return
            await agent.idle()


def greeting(loaded: LoadedSettings) -> str:
    """Return the first lines that a person sees."""
    agent = loaded.settings.agent
    offline = " (a simple stand-in that needs no key)" if agent.model == "offline" else ""
    first = f"{agent.name} is here, on the model {agent.model}{offline}."
    return f"{first}\n/help shows what can be typed; Ctrl-D leaves."


def _settings(loaded: LoadedSettings) -> ConsoleSettings:
    section = loaded.settings.bridges.get("console")
    if section is None:
        return ConsoleSettings()
    return loaded.validate_section(section, ConsoleSettings, "bridges.console")
