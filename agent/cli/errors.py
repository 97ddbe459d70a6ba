"""What a command says when it cannot do what was asked.

Exception
├── CallRefused       the call was wrong: exit code 2
└── CommandFailed     the thing itself failed: exit code 1
"""

from __future__ import annotations

from typing import Final

OK: Final = 0
FAILED: Final = 1
WRONG_CALL: Final = 2
INTERRUPTED: Final = 130
"""After Ctrl-C or SIGINT, as shells have it; SIGTERM gives 143."""
TERMINATED: Final = 143


class CallRefused(Exception):
    """The call was wrong; the text says what would be right."""


class CommandFailed(Exception):
    """The thing failed; the text says why and the way out."""
