"""One line after the other: reads it, carries it out, and keeps who speaks and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.store.errors import StoreError
from bridges.console.arguments import usage
from bridges.console.lines import LOCAL_COMMANDS, Action, LineRefused, Local, Move, Nothing, Run, Say, parse_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.commands import Command
    from agent.terminal import Whereabouts
    from bridges.console.bridge import ConsoleBridge


class Conversation:
    """What both front ends share."""

    def __init__(self, bridge: ConsoleBridge, start: Whereabouts) -> None:
        self.bridge = bridge
        self.where = start

    async def take(self, line: str, *, label: str = "") -> bool:
        """Carry out one line; False when it says to leave. `label` stands before what is wrong with it."""
        try:
            action = parse_line(line, self.where, self.bridge.host.commands, self.bridge.people)
        except LineRefused as error:
            self.bridge.refuse(self.where, f"{label}{error}")
            return True
        try:
            return await self._carry_out(action)
        except StoreError as error:
            self.bridge.refuse(self.where, f"{label}this could not be taken: {error}")
            return True

    async def _carry_out(self, action: Action) -> bool:
        match action:
            case Say(where, text):
                await self.bridge.say(where, text)
            case Run():
                await self.bridge.run(action)
            case Move(where):
                self.where = where
            case Local.HELP:
                self.bridge.inform(self.where, help_text(self.bridge.host.commands))
            case Local.QUIT:
                return False
            case Nothing():
                pass
        return True


def help_text(commands: Sequence[Command]) -> str:
    """Return what can be typed."""
    rows = [(command.usage, command.description) for command in LOCAL_COMMANDS.values()]
    rows += sorted((usage(command), command.description) for command in commands)
    width = min(max(len(left) for left, _ in rows), 32)
    lines = [f"{left:<{width}}  {right}" for left, right in rows]
    return "\n".join(["Type a message, or a command:", *lines])
