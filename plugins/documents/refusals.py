"""Why a document is not taken, in sentences of the catalog."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from agent.catalog import N_, fill, translate


class Why(StrEnum):
    """Why a file is refused."""

    TOO_LARGE = "too_large"
    EMPTY = "empty"
    OTHER_KIND = "other_kind"
    BINARY = "binary"
    NOT_UTF8 = "not_utf8"
    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"
    NO_TEXT = "no_text"
    PACKED = "packed"
    TOO_MANY_PAGES = "too_many_pages"
    TOO_MUCH_TEXT = "too_much_text"
    TOO_SLOW = "too_slow"
    TOO_MUCH_MEMORY = "too_much_memory"
    UNREADABLE = "unreadable"
    TOO_MANY_DOCUMENTS = "too_many_documents"
    TOO_MANY_PARTS = "too_many_parts"
    KNOWN = "known"
    SAME_THERE = "same_there"


SENTENCES: Final[dict[Why, str]] = {
    Why.TOO_LARGE: N_("The file is larger than {limit} bytes, which is the most that I take."),
    Why.EMPTY: N_("The file is empty."),
    Why.OTHER_KIND: N_(
        "This is a file of the kind {kind}. I read plain text, Markdown and PDF: save it as one of these."
    ),
    Why.BINARY: N_("This is no text. I read plain text, Markdown and PDF."),
    Why.NOT_UTF8: N_("The text is not in UTF-8 (byte {byte} is the first that does not fit): save it as UTF-8."),
    Why.ENCRYPTED: N_("The PDF is encrypted: save it without a password."),
    Why.DAMAGED: N_("The PDF is damaged: I cannot read it. Opening it and saving it anew may help."),
    Why.NO_TEXT: N_(
        "There is no text in the PDF: its pages are probably pictures. Let a program recognise the text first."
    ),
    Why.PACKED: N_("What is packed into the PDF is far larger than the PDF itself: I do not unpack it."),
    Why.TOO_MANY_PAGES: N_("The PDF has {pages} pages, and I take {limit} at most."),
    Why.TOO_MUCH_TEXT: N_("There is more text in the file than {limit} characters, which is the most that I take."),
    Why.TOO_SLOW: N_("Reading the file took longer than {limit} seconds, so I gave up."),
    Why.TOO_MUCH_MEMORY: N_("Reading the file would take more than {limit} MB of memory, so I gave up."),
    Why.UNREADABLE: N_("I could not read the file."),
    Why.TOO_MANY_DOCUMENTS: N_("There are {limit} documents here, which is the most: remove one first."),
    Why.TOO_MANY_PARTS: N_(
        "With this one there would be more than {limit} parts of documents here: remove a document first."
    ),
    Why.KNOWN: N_("I have this file already, as document {id}."),
    Why.SAME_THERE: N_("The same file is known there already, as another document."),
}


class Refused(Exception):
    """A document is not taken."""

    def __init__(self, why: Why, **values: object) -> None:
        self.why = why
        self.values = values
        super().__init__(fill(SENTENCES[why], values))

    def said(self, locale: str) -> str:
        """Return the sentence in a language."""
        return translate(locale, SENTENCES[self.why], **self.values)
