"""The command `isthmus`. One file a command; what a command needs is imported when it runs."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line of this process and leave with its exit code."""
    from agent.cli.entry import run_command

    sys.exit(run_command(sys.argv[1:]))
