"""What a file is, by what is in it: its name only decides between two kinds of text. Pure functions."""

from __future__ import annotations

import codecs
from enum import StrEnum
from pathlib import PurePath
from typing import Final

from plugins.documents.refusals import Refused, Why
from plugins.documents.text import has_headings


class Kind(StrEnum):
    """What can be read."""

    TEXT = "text"
    MARKDOWN = "markdown"
    PDF = "pdf"


_MARKDOWN_NAMES: Final = frozenset({".md", ".markdown", ".mdown", ".mkd"})
_TEXT_NAMES: Final = frozenset({".txt", ".text", ".log", ".csv", ".tsv"})
_PDF_WITHIN: Final = 1024
"""Readers take a PDF whose header stands within its first kilobyte."""
#: What files begin with that people take for documents, and how they are called.
_OTHERS: Final[tuple[tuple[bytes, str], ...]] = (
    (b"PK\x03\x04", "ZIP (docx, odt, epub, xlsx)"),
    (b"PK\x05\x06", "ZIP"),
    (b"\xd0\xcf\x11\xe0", "old Office (doc, xls, ppt)"),
    (b"{\\rtf", "RTF"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!", "RAR"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x89PNG", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"RIFF", "WebP or sound"),
    (b"%!PS", "PostScript"),
    (b"\x7fELF", "program"),
    (b"MZ", "program"),
)
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def is_pdf(content: bytes) -> bool:
    """Tell whether this is a PDF, damaged or not."""
    return b"%PDF-" in content[:_PDF_WITHIN]


def decoded(content: bytes) -> str:
    """Return the text of a file that is none but text: UTF-8, or what its byte-order mark says.

    Raises:
        Refused: it is another kind of file, or text in another encoding.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _decode(content[len(mark) :], encoding)
    for beginning, name in _OTHERS:
        if content.startswith(beginning):
            raise Refused(Why.OTHER_KIND, kind=name)
    if b"\x00" in content:
        raise Refused(Why.BINARY)
    return _decode(content, "utf-8")


def _decode(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise Refused(Why.NOT_UTF8, byte=error.start + 1) from None


def kind_of_text(name: str, text: str) -> Kind:
    """Return whether a text has Markdown's headings: its name says so, or else its look."""
    suffix = PurePath(name).suffix.lower()
    if suffix in _MARKDOWN_NAMES:
        return Kind.MARKDOWN
    if suffix in _TEXT_NAMES:
        return Kind.TEXT
    return Kind.MARKDOWN if has_headings(text) else Kind.TEXT
