"""What went wrong, in lines for a person: our own errors as they say it, everything else by an error id."""

from __future__ import annotations

import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.cli.errors import FAILED, WRONG_CALL
from agent.explained import explain, kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

ERROR_LOG: Final = "errors.log"
_SETTINGS_ERROR: Final = "agent.settings.errors.SettingsError"
_MAX_LOG: Final = 10 * 1024 * 1024


def lines_and_code(error: Exception) -> tuple[tuple[str, ...], int] | None:
    """Return what a known error says, and the exit code; None when it is a fault of the program."""
    lines = explain(error)
    if lines is None:
        return None
    return lines, WRONG_CALL if _SETTINGS_ERROR in kinds(error) else FAILED


def keep_detail(error: Exception, arguments: Sequence[str]) -> str:
    """Write an unexpected error to the error log of the data directory; return the line for the user.

    Only the error's kind is shown: its text may quote what somebody said, or a secret.
    """
    import secrets

    number = secrets.token_hex(4)
    kind = type(error).__name__
    try:
        path = _log_path(arguments)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > _MAX_LOG:
            path.replace(path.with_suffix(".log.1"))
        path.touch(mode=0o600)
        with path.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"{datetime.now(UTC).isoformat()} error {number}\n{''.join(traceback.format_exception(error))}\n")
    except (OSError, ValueError) as failure:
        reason = getattr(failure, "strerror", None) or "unusable path"
        return f"unexpected error {number} ({kind}); its detail could not be kept: {reason}"
    return f"unexpected error {number} ({kind}); its detail is in {path}"


def _log_path(arguments: Sequence[str]) -> Path:
    given = argument_of(arguments, "--data")
    if given:
        return Path(given).expanduser() / ERROR_LOG
    from agent.settings import default_data_dir

    return default_data_dir() / ERROR_LOG


def argument_of(arguments: Sequence[str], option: str) -> str | None:
    """Return the value of an option before the command line is parsed; None when it is not given."""
    for index, argument in enumerate(arguments):
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
        if argument == option and index + 1 < len(arguments):
            return arguments[index + 1]
    return None
