"""How an exception stands in a log line: its type and place always, its message only where that is safe.

An exception's message may quote what somebody wrote (`invalid literal for int(): 'my secret'`; a provider's error that
repeats the prompt; a database's DETAIL with a row's values). So above debug level it is shown only for exceptions
whose authors are known: the operating system's, and our own, which name things and never quote people.
"""

from __future__ import annotations

import sys
import traceback
from types import TracebackType
from typing import cast

from structlog.typing import EventDict, WrappedLogger

OUR_PACKAGES = ("agent", "plugins", "bridges", "migrations")
MAX_FRAMES = 40
MAX_CHAIN = 5
_FACTS = ("status_code", "status", "sqlstate", "errno", "constraint_name", "table_name", "retry_after")

type ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


def describe_exception(_logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Replace `exc_info` by `error` (the type), `error_facts` and `exception` (the trace)."""
    given = event.pop("exc_info", None)
    error = exception_of(given)
    if error is None:
        return event
    event["error"] = _type_name(error)
    if facts := error_facts(error):
        event["error_facts"] = facts
    event["exception"] = _full(error) if method == "debug" else safe_trace(error)
    return event


def exception_of(given: object) -> BaseException | None:
    """The exception that an `exc_info` value means: itself, the triple's, or the current one for True."""
    if isinstance(given, BaseException):
        return given
    if isinstance(given, tuple):
        return cast("ExcInfo", given)[1]
    return sys.exc_info()[1] if given else None


def _type_name(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def error_facts(error: BaseException) -> dict[str, str | int | float]:
    """The numbers and identifiers that libraries keep beside their message: an HTTP status, an SQLSTATE."""
    found: dict[str, str | int | float] = {}
    for name in _FACTS:
        value = getattr(error, name, None)
        if isinstance(value, (int, float)) or (isinstance(value, str) and value.replace("_", "").isalnum()):
            found[name] = value
    return found


def safe_message(error: BaseException) -> str:
    """The message where it is safe to show, else a hint how to see it."""
    if isinstance(error, OSError):
        return error.strerror or ""
    if type(error).__module__.partition(".")[0] in OUR_PACKAGES:
        return str(error)
    return "(its message is shown at level debug)" if str(error) else ""


def safe_trace(error: BaseException) -> str:
    """The trace from the first cause to the error: places without source lines or values."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and len(chain) < MAX_CHAIN and current not in chain:
        chain.append(current)
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\n".join(_one(item) for item in reversed(chain))


def _one(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-MAX_FRAMES:]
    lines = [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
    message = safe_message(error)
    lines.append(f"{_type_name(error)}: {message}" if message else _type_name(error))
    if isinstance(error, BaseExceptionGroup):
        inner = (line for item in error.exceptions[:MAX_CHAIN] for line in safe_trace(item).splitlines())
        lines += [f"  | {line}" for line in inner]
    return "\n".join(lines)


def _full(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)).rstrip()
