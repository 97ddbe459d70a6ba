"""The commands of the core itself, besides /stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.impersonation.commands import ImpersonateCommand
from agent.linking.commands import LinkCommands
from agent.notice_commands import NoticeCommands
from agent.personas.commands import PersonaCommands

if TYPE_CHECKING:
    from agent.commands import Command
    from agent.core import Core


def core_commands(core: Core) -> tuple[Command, ...]:
    """Return the commands."""
    return (
        *PersonaCommands(core).commands(),
        ImpersonateCommand(core).command(),
        *NoticeCommands(core).commands(),
        *LinkCommands(core).commands(),
    )
