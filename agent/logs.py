"""Structured logs: one line an event, as JSON or for a console, with the turn's id in each line of a turn.

What people say and what they are called never stands in a line above debug level, and secrets in none: keys that
hold such values are dropped, exceptions are shown by their type and place (with their message only where its author
is known to write no such values into it), and what looks like a secret is redacted. The standard library's loggers
(asyncpg, Alembic, platform libraries) go the same way.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TextIO, cast

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

from agent.log_errors import describe_exception, exception_of
from agent.redaction import HIDDEN, names_a_secret, redact

PRIVATE_KEYS = frozenset(
    {
        *("text", "content", "body", "message", "name", "display_name", "nickname", "username", "handle", "author"),
        *("prompt", "reply", "answer", "query", "question", "arguments", "bio", "memory", "label", "title", "topic"),
        *("speaker", "subject", "person_name", "server_name", "channel_name", "persona_name", "messages", "request"),
        *("response", "payload", "data", "raw", "input", "output", "snippet", "transcript", "filename"),
    }
)
"""Keys whose values are, or may hold, what people say or are called."""

MAX_FOREIGN = 500
MAX_DEPTH = 6
MAX_VALUE = 16_000
_QUIET = ("aiohttp.access", "alembic", "asyncio", "httpcore", "httpx", "nio", "nextcord", "openai", "urllib3")

type Format = Literal["console", "json"]
type Level = Literal["debug", "info", "warning", "error"]


def get_logger(name: str) -> FilteringBoundLogger:
    """The logger of one module. Events are short snake_case facts: `log.info("turn_ended", outcome="answered")`."""
    return cast("FilteringBoundLogger", structlog.get_logger(name))


@contextmanager
def bound(**values: object) -> Iterator[None]:
    """Put these values (`turn="01h…"`) into each line that is logged within, in this task and those it starts."""
    with structlog.contextvars.bound_contextvars(**values):
        yield


def configure(form: Format = "console", level: Level = "info", stream: TextIO | None = None) -> None:
    """Set up all logging of the process; may be called again.

    Args:
        form: JSON lines, or lines for people.
        level: The least level that is written. At debug, lines hold texts and names.
        stream: Where to; standard error when left out.

    """
    number = logging.getLevelNamesMapping()[level.upper()]
    processors = _configure_ours(form, level, stream)
    root = logging.getLogger()
    others = [handler for handler in root.handlers if not isinstance(handler, _ForeignHandler)]
    root.handlers[:] = [*others, _ForeignHandler(_Line(stream), processors)]
    root.setLevel(number)
    for name in _QUIET:
        # Other people's libraries log each request at info, and message texts at debug.
        logging.getLogger(name).setLevel(max(number, logging.WARNING) if level != "debug" else logging.INFO)
    logging.captureWarnings(capture=True)


def _configure_ours(form: Format, level: Level, stream: TextIO | None) -> list[Processor]:
    steps: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        add_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        *([detail_exception] if level == "debug" else []),
        describe_exception,
        drop_private,
        redact_values,
        _renderer(form, colours=(stream or sys.stderr).isatty()),
    ]
    processors = [_guarded(step) for step in steps]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=lambda name="agent": _Line(stream, name),
        cache_logger_on_first_use=False,
    )
    return processors


def add_name(logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Name the module that speaks."""
    if isinstance(logger, _Line):
        event["logger"] = logger.name
    return event


def detail_exception(_logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Write an exception's own message, and the lines of its trace, as a line of debug level."""
    if method != "debug" and event.get("exc_info"):
        error = exception_of(event["exc_info"])
        get_logger("agent.logs").debug("exception_detail", of=event.get("event"), exc_info=error)
    return event


def drop_private(_logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Drop what PRIVATE_KEYS hold, at any depth, from lines above debug level; counts and flags may stay."""
    if method == "debug":
        return event
    return {key: _without_private(value, 0) for key, value in event.items() if not _is_private(key, value)}


def _is_private(key: object, value: object) -> bool:
    return str(key).lower() in PRIVATE_KEYS and not isinstance(value, (int, float))


def _without_private(value: object, depth: int) -> object:
    if isinstance(value, dict):
        if depth >= MAX_DEPTH:
            return "…"
        return {key: _without_private(item, depth + 1) for key, item in value.items() if not _is_private(key, item)}
    if isinstance(value, (list, tuple, set, frozenset)):
        return "…" if depth >= MAX_DEPTH else [_without_private(item, depth + 1) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    # The repr of a message or a person would show what its fields hold.
    return f"<{type(value).__name__}>" if _holds_fields(value) else value


def _holds_fields(value: object) -> bool:
    kind = type(value)
    return hasattr(kind, "__dataclass_fields__") or hasattr(kind, "model_fields") or isinstance(value, BaseException)


def redact_values(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Hide secrets: by their key's name, by their form, and those that were read through the settings."""
    return {key: _redacted(key, value, 0) for key, value in event.items()}


def _redacted(key: str, value: object, depth: int) -> object:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if names_a_secret(key):
        return HIDDEN
    if isinstance(value, str):
        return _short(value)
    if depth >= MAX_DEPTH:
        return "…"
    if isinstance(value, dict):
        return {_short(str(name)): _redacted(str(name), item, depth + 1) for name, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_redacted("", item, depth + 1) for item in value]
    return _short(str(value))


def _short(text: str) -> str:
    """The text without secrets and not longer than a log line should be."""
    if len(text) <= MAX_VALUE:
        return redact(text)
    # A secret that the first cut divides is beyond the second one.
    return redact(text[: 2 * MAX_VALUE])[:MAX_VALUE] + "…"


def _renderer(form: Format, *, colours: bool) -> Processor:
    if form == "json":
        return structlog.processors.JSONRenderer(ensure_ascii=False)
    console = structlog.dev.ConsoleRenderer(
        colors=colours, exception_formatter=structlog.dev.plain_traceback, pad_event_to=28
    )

    def render(logger: WrappedLogger, method: str, event: EventDict) -> str:
        # A line break or an escape sequence in a value must not be able to forge a line.
        trace = event.pop("exception", None)
        line = str(console(logger, method, {key: _visible(value) for key, value in event.items()}))
        return f"{line}\n{_visible(trace, keep='\n')}" if trace else line

    return render


def _visible(value: object, keep: str = "") -> object:
    if not isinstance(value, str) or value.isprintable():
        return value
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode() for char in value
    )


def _guarded(processor: Processor) -> Processor:
    """A processor that cannot fail the caller: a line that cannot be made is replaced by one that says so."""

    def run(logger: WrappedLogger, method: str, event: EventDict) -> Any:
        try:
            return processor(logger, method, event)
        except Exception as error:
            if isinstance(error, structlog.DropEvent):
                raise
            _write(sys.stderr, f'{{"event": "log_line_failed", "level": "error", "reason": "{type(error).__name__}"}}')
            raise structlog.DropEvent from None

    return run


def _write(stream: TextIO, line: str) -> None:
    try:
        stream.write(line + "\n")
        stream.flush()
    except UnicodeEncodeError:
        # A lone surrogate, or a console of another encoding.
        _write(stream, line.encode("ascii", "backslashreplace").decode())
    except (OSError, ValueError):
        return  # the reader has gone or the stream is closed: there is nowhere left to say it


class _Line:
    """What structlog writes to: a stream, or whatever standard error is at the time."""

    def __init__(self, stream: TextIO | None, name: str = "") -> None:
        self._stream = stream
        self.name = name

    def msg(self, line: str) -> None:
        _write(self._stream or sys.stderr, line)

    debug = info = warning = warn = error = err = critical = fatal = exception = failure = log = msg


class _ForeignHandler(logging.Handler):
    """Brings the standard library's records into our form."""

    def __init__(self, line: _Line, processors: list[Processor]) -> None:
        super().__init__()
        self._line = line
        self._processors = processors

    def emit(self, record: logging.LogRecord) -> None:
        level = record.levelname.lower()
        result: Any = {"event": _foreign_text(record, level), "logger": record.name}
        if record.exc_info:
            result["exc_info"] = record.exc_info
        try:
            for processor in self._processors:
                result = processor(None, level, result)
        except structlog.DropEvent:
            return
        self._line.msg(str(result))


def _foreign_text(record: logging.LogRecord, level: str) -> str:
    """A record's message; above debug its first line only, since asyncio puts reprs of what failed below it."""
    try:
        text = record.getMessage()
    except (TypeError, ValueError, KeyError):
        text = str(record.msg)
    return text if level == "debug" else text.partition("\n")[0][:MAX_FOREIGN]


type ExceptionHandler = Callable[[Any, dict[str, Any]], None]


def loop_exception_handler(_loop: Any, context: dict[str, Any]) -> None:
    """For `loop.set_exception_handler`: what nobody awaited, in our form and without reprs."""
    log = get_logger("agent.loop")
    task = context.get("task") or context.get("future")
    named = task.get_name() if task is not None and hasattr(task, "get_name") else None
    log.error("unhandled_in_loop", reason=context.get("message"), task=named, exc_info=context.get("exception"))


# Until configure() is called, lines go to standard error too: standard output belongs to what a command prints.
_configure_ours("console", "info", None)
