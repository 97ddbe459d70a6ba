"""What a bridge's set-up dialogue may do: speak, ask, keep a secret, and write its section of plugins.toml.

A bridge that can be set up has `def setup(setup: Setup) -> None` as a static method of its class; `isthmus setup NAME`
calls it before the bridge is built, so that its settings need not be there yet. No event loop runs: questions block.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import tomlkit
from tomlkit.exceptions import TOMLKitError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

SECRETS: Final = "secrets"
"""The folder in the data directory that holds what was asked for."""


class SetupFailed(Exception):
    """The dialogue came to no end; the text says why, and the way out. Nothing was written."""


class Dialogue(Protocol):
    """Where the questions are asked."""

    def say(self, text: str) -> None:
        """Show a line."""
        ...

    def ask(self, question: str) -> str:
        """Return what is typed.

        Raises:
            EOFError: there is nobody.
        """
        ...

    def ask_secret(self, question: str) -> str:
        """Return what is typed, which is not shown.

        Raises:
            EOFError: there is nobody.
        """
        ...


@dataclass(frozen=True, slots=True)
class Setup:
    """One set-up of one bridge."""

    bridge: str
    config: Path
    """The plugins.toml that is read and written; it need not be there."""
    data_dir: Path
    dialogue: Dialogue
    options: Mapping[str, str] = field(default_factory=dict)
    """Settings that were given with the call; they count before what the file says, and are written too."""

    def section(self) -> Mapping[str, Any]:
        """Return the bridge's section as it stands, with the options.

        Raises:
            SetupFailed: the file cannot be read.
        """
        bridges = self._document().unwrap().get("bridges")
        found = bridges.get(self.bridge) if isinstance(bridges, dict) else None
        return {**(found if isinstance(found, dict) else {}), **self.options}

    def keep_secret(self, name: str, value: str) -> str:
        """Write a secret into a file that only its owner can read; return the reference for the settings.

        Raises:
            SetupFailed: the data directory cannot be written.
        """
        path = self.data_dir.absolute() / SECRETS / name
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _replace(path, value + "\n", 0o600)
        except OSError as error:
            raise SetupFailed(
                f"{path} cannot be written ({error.strerror}): name another directory with --data"
            ) from None
        return f"file:{path}"

    def write(self, values: Mapping[str, Any], *, leaving: Collection[str] = ()) -> None:
        """Set keys of the bridge's section, and the options but for those named; everything else stays as it is.

        Raises:
            SetupFailed: the file cannot be read or written.
        """
        document = self._document()
        bridges = document.get("bridges")
        if bridges is None:
            bridges = document["bridges"] = tomlkit.table(is_super_table=True)
        if self.bridge not in bridges:
            bridges[self.bridge] = tomlkit.table()
        for key, value in {**self.options, **values}.items():
            if key not in leaving:
                bridges[self.bridge][key] = value
        try:
            mode = self.config.stat().st_mode & 0o777 if self.config.exists() else 0o644
            self.config.parent.mkdir(parents=True, exist_ok=True)
            _replace(self.config.resolve(), tomlkit.dumps(document), mode)
        except OSError as error:
            raise SetupFailed(
                f"{self.config} cannot be written ({error.strerror}): name another with --config"
            ) from None

    def _document(self) -> tomlkit.TOMLDocument:
        try:
            return tomlkit.parse(self.config.read_text("utf-8")) if self.config.exists() else tomlkit.document()
        except (OSError, UnicodeDecodeError, TOMLKitError) as error:
            raise SetupFailed(
                f"{self.config} cannot be read ({error}): mend it first; isthmus doctor names the line"
            ) from None


def _replace(path: Path, text: str, mode: int) -> None:
    """Write a file as a whole: the old text or the new one, never half of it."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
