"""Finds plugins.toml and reads its tables; whatever is wrong with the file itself is said with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent.settings.errors import Origin, Problem, SettingsError

FILE_NAME = "plugins.toml"
MAX_FILE_BYTES = 1024 * 1024

type Table = dict[str, Any]


def find_file(config: Path | None, cwd: Path, user_config_dir: Path) -> Path | None:
    """The file to read: `config` where it is given, else plugins.toml in `cwd` or in `user_config_dir`, else None."""
    if config is not None:
        return cwd / config.expanduser()
    for directory in (cwd, user_config_dir):
        path = directory / FILE_NAME
        # A directory or a dangling link of that name is somebody's mistake, and is reported as one.
        if path.exists() or path.is_symlink():
            return path
    return None


def shown_path(path: Path, cwd: Path) -> str:
    """The path as messages name it: from `cwd` where it is below it."""
    return str(path.relative_to(cwd)) if path.is_relative_to(cwd) else str(path)


def read_text(path: Path, name: str) -> str:
    """The text of the file that messages call `name`.

    Raises SettingsError when it is missing, a directory, unreadable, too large or not UTF-8.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise _file_error(name, "no such file: name another with --config, or leave it out") from None
    except IsADirectoryError:
        raise _file_error(name, f"is a directory: name the file, such as {Path(name) / FILE_NAME}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise _file_error(name, f"cannot be read: {reason}") from None
    if len(content) > MAX_FILE_BYTES:
        raise _file_error(name, f"is larger than {MAX_FILE_BYTES} bytes: is this the right file?")
    try:
        # Some editors begin a file with a byte order mark; it means nothing in UTF-8.
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _file_error(name, "is not UTF-8 text: save it in that encoding", line) from None


def parse(text: str, name: str) -> Table:
    """The tables of the file that messages call `name`. Raises SettingsError with the line that is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, line = _toml_message(str(error), text)
        raise _file_error(name, message, line) from None
    except ValueError as error:
        # What Python itself refuses, such as a number of 5,000 digits.
        raise _file_error(name, f"not valid TOML: {str(error).partition(';')[0]}") from None
    except RecursionError:
        raise _file_error(name, "its lists or tables are nested too deeply") from None


def _toml_message(message: str, text: str) -> tuple[str, int]:
    """Tomllib's message in our words, and the line it names."""
    position = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", message)
    line = int(position[1]) if position and position[1] else text.count("\n") + 1
    if position:
        message = message[: position.start()]
    twice = re.match(r"Cannot declare \((.*)\) twice", message)
    if twice:
        table = ".".join(re.findall(r"'([^']*)'", twice[1]))
        return f"table [{table}] stands here a second time: merge the two", line
    if message == "Cannot overwrite a value":
        return "this key stands here a second time: keep one of them", line
    return f"not valid TOML: {message}", line


def _file_error(name: str, expected: str, line: int | None = None) -> SettingsError:
    return SettingsError([Problem(Origin(name, line), "", expected)])


def merge(data: Table, over: Mapping[str, Any]) -> None:
    """Lay `over` upon `data`: tables key by key, everything else as a whole."""
    for key, value in over.items():
        below = data.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            merge(below, value)
        else:
            data[key] = value
