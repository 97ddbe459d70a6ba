"""Files that people bring, as other programs write them."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any


def as_json(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode()


def st_entry(uid: int, **values: Any) -> dict[str, Any]:
    """An entry with every field that SillyTavern writes, at its default."""
    return {
        "uid": uid,
        "key": ["dragon"],
        "keysecondary": [],
        "comment": "",
        "content": "The dragon sleeps.",
        "constant": False,
        "vectorized": False,
        "selective": True,
        "selectiveLogic": 0,
        "addMemo": True,
        "order": 100,
        "position": 0,
        "disable": False,
        "ignoreBudget": False,
        "excludeRecursion": False,
        "preventRecursion": False,
        "matchPersonaDescription": False,
        "matchCharacterDescription": False,
        "matchCharacterPersonality": False,
        "matchCharacterDepthPrompt": False,
        "matchScenario": False,
        "matchCreatorNotes": False,
        "delayUntilRecursion": False,
        "probability": 100,
        "useProbability": True,
        "depth": 4,
        "outletName": "",
        "group": "",
        "groupOverride": False,
        "groupWeight": 100,
        "scanDepth": None,
        "caseSensitive": None,
        "matchWholeWords": None,
        "useGroupScoring": None,
        "automationId": "",
        "role": None,
        "sticky": 0,
        "cooldown": 0,
        "delay": 0,
        "triggers": [],
        "displayIndex": uid,
        "characterFilter": {"isExclude": False, "names": [], "tags": []},
        **values,
    }


def st_book(*entries: dict[str, Any], **values: Any) -> bytes:
    return as_json({"entries": {str(entry["uid"]): entry for entry in entries}, **values})


def card_entry(number: int, **values: Any) -> dict[str, Any]:
    """An entry as a character card holds it, with SillyTavern's extensions."""
    return {
        "id": number,
        "keys": ["dragon"],
        "secondary_keys": [],
        "comment": f"Entry {number}",
        "content": "The dragon sleeps.",
        "constant": False,
        "selective": False,
        "insertion_order": 100,
        "enabled": True,
        "position": "before_char",
        "use_regex": True,
        "extensions": {
            "position": 0,
            "exclude_recursion": False,
            "display_index": 0,
            "probability": 100,
            "useProbability": True,
            "depth": 4,
            "selectiveLogic": 0,
            "group": "",
            "match_whole_words": None,
            "case_sensitive": None,
            "role": None,
            "vectorized": False,
        },
        **values,
    }


def card(*entries: dict[str, Any], spec: str = "chara_card_v2", name: str = "Fern", **book: Any) -> dict[str, Any]:
    version = "3.0" if spec.endswith("v3") else "2.0"
    held = {"name": "", "extensions": {}, "entries": list(entries), **book}
    return {"spec": spec, "spec_version": version, "data": {"name": name, "description": "", "character_book": held}}


def chunk(kind: bytes, data: bytes, *, checksum: int | None = None) -> bytes:
    checksum = zlib.crc32(kind + data) if checksum is None else checksum
    return len(data).to_bytes(4) + kind + data + checksum.to_bytes(4)


def png(**texts: bytes) -> bytes:
    """A picture of one pixel with text chunks."""
    parts = [
        b"\x89PNG\r\n\x1a\n",
        chunk(b"IHDR", bytes([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])),
        *(chunk(b"tEXt", keyword.encode() + b"\0" + text) for keyword, text in texts.items()),
        chunk(b"IDAT", zlib.compress(b"\0\0")),
        chunk(b"IEND", b""),
    ]
    return b"".join(parts)


def in_base64(data: Any) -> bytes:
    return base64.b64encode(as_json(data))
