"""Reading a file of memories, whoever wrote it: ours, TomoriBot's, SillyTavern's, Mem0's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent.files import FileRefused
from agent.json_file import parse_json
from plugins.memory.transfer.entries import ImportRefused
from plugins.memory.transfer.foreign import mem0, sillytavern, tomoribot
from plugins.memory.transfer.rules import read_own

if TYPE_CHECKING:
    from plugins.memory.transfer.entries import Parsed

_ACCEPTED = (
    "expected is an export of isthmus, TomoriBot's memory export, a SillyTavern lorebook or character card (JSON), "
    "or Mem0's export: see docs/export-import.md"
)


def read_file(content: bytes, name: str) -> Parsed:
    """Return the memories of a file; nothing has been looked up and nothing is written.

    Raises:
        ImportRefused: it is not UTF-8, no JSON, of no form that is known, of another version, or has faults.
    """
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise ImportRefused(f"{name}: this is no text in UTF-8 (byte {error.start}): save it as UTF-8") from None
    try:
        data = parse_json(content, name)
    except FileRefused as refused:
        raise ImportRefused(str(refused)) from None
    parsed = _read(data, name)
    if not parsed.entries:
        raise ImportRefused(f"{name}: there are no memories in this file")
    return parsed


def _read(data: object, name: str) -> Parsed:
    if isinstance(data, Mapping):
        if "format" in data:
            return read_own(data, name)
        if tomoribot.looks_so(data):
            return tomoribot.read_tomoribot(data)
        if sillytavern.looks_so(data):
            return sillytavern.read_sillytavern(data)
    if mem0.looks_so(data):
        return mem0.read_mem0(data)
    raise ImportRefused(f"{name}: this is no file of memories; {_ACCEPTED}")
