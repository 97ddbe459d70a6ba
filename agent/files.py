"""Files that somebody gives to a command, and files that a command gives back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

MEBIBYTE: Final = 1024 * 1024


class FileRefused(Exception):
    """A file cannot be had; the text tells its user why, in one line."""


class GivenFile(Protocol):
    """A file as a command gets it; each bridge reads it in its own way."""

    @property
    def name(self) -> str:
        """Its name without a directory: untrusted text."""
        ...

    async def read(self, limit: int) -> bytes:
        """Return what is in it.

        Raises:
            FileRefused: it cannot be read, or holds more than `limit` bytes.
        """
        ...


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of this machine."""

    path: Path

    @property
    def name(self) -> str:
        """Its name without a directory."""
        return self.path.name

    async def read(self, limit: int) -> bytes:
        """Return what is in it, read in a thread.

        Raises:
            FileRefused: it cannot be read, is no regular file, or holds more than `limit` bytes.
        """
        return await asyncio.to_thread(self._read, limit)

    def _read(self, limit: int) -> bytes:
        try:
            if self.path.exists() and not self.path.is_file():
                raise FileRefused(f"{self.name or self.path}: this is no file")
            with self.path.open("rb") as file:
                content = file.read(limit + 1)
        except FileNotFoundError:
            raise FileRefused(f"{self.path}: there is no such file") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "this is no usable path"
            raise FileRefused(f"{self.name}: it cannot be read: {reason}") from None
        if len(content) > limit:
            raise too_large(self.name, limit)
        return content


def too_large(name: str, limit: int) -> FileRefused:
    """Return the refusal of a file that holds more than `limit` bytes."""
    shown = f"{limit // MEBIBYTE} MiB" if limit >= MEBIBYTE else f"{limit} bytes"
    return FileRefused(f"{name}: it is larger than {shown}")


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text that goes along as a file."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ReplyFile:
    """A file that goes with a command's answer."""

    name: str
    content: bytes
    content_type: str = "application/json"
