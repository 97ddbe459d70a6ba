"""`isthmus run`: all enabled bridges, until it is told to stop."""

from __future__ import annotations

import sys

from agent.cli.chat import CHAT_BRIDGE
from agent.cli.errors import CommandFailed
from agent.cli.options import ConfigOption, DataOption


def run(config: ConfigOption = None, data: DataOption = None) -> int:
    """Run all enabled bridges until SIGINT or SIGTERM.

    The first signal stops gracefully: no new turns, running ones get 10 seconds, everything is flushed; exit code 0.
    A second one stops at once; the exit code is then 130 (SIGINT) or 143 (SIGTERM).
    """
    import asyncio

    from agent import logs
    from agent.cli.opened import load
    from agent.cli.serve import serve

    loaded = load(config, data)
    logs.configure(loaded.settings.logging.format, loaded.settings.logging.level, sys.stderr)
    if not any(section.enabled for name, section in loaded.settings.bridges.items() if name != CHAT_BRIDGE):
        raise CommandFailed(
            "no bridge is enabled: set enabled = true below [bridges.discord] or [bridges.matrix] in plugins.toml, "
            "or talk in this terminal with `isthmus chat`"
        )
    return asyncio.run(serve(loaded))
