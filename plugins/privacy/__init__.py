"""Privacy: what people and those who manage servers decide about memory, as commands (docs/privacy.md).

What they decide is kept and held by the core, whether or not this plugin is switched on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.hookspecs import hookimpl

if TYPE_CHECKING:
    import typer

    from agent.commands import Command
    from agent.core import Core


class PrivacyPlugin:
    """The plugin: commands for everybody, for managers, and for operators."""

    name = "privacy"

    @hookimpl
    def start(self, core: Core) -> None:
        """Keep the core's services."""
        self._core = core

    @hookimpl
    def register_commands(self) -> Sequence[Command]:
        """Return the commands below `/privacy`."""
        from plugins.privacy.managing import ManagerCommands
        from plugins.privacy.personal import PersonalCommands

        return (*PersonalCommands(self._core).commands(), *ManagerCommands(self._core).commands())

    @hookimpl
    def register_cli(self, app: typer.Typer) -> None:
        """Add `isthmus privacy`."""
        from plugins.privacy.cli import app as privacy_app

        app.add_typer(privacy_app, name="privacy")
