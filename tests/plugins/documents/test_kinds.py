from __future__ import annotations

import pytest

from plugins.documents.kinds import Kind, decoded, is_pdf, kind_of_text
from plugins.documents.refusals import Refused, Why


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_is_read_whatever_its_encoding_says_of_itself(encoding: str) -> None:
    assert decoded("Grüße 天気".encode(encoding)) == "Grüße 天気"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"PK\x03\x04rest", Why.OTHER_KIND),
        (b"{\\rtf1 hello}", Why.OTHER_KIND),
        (b"\x89PNG\r\n", Why.OTHER_KIND),
        (b"\x1f\x8b\x08", Why.OTHER_KIND),
        (b"text\x00more", Why.BINARY),
        ("Grüße".encode("latin-1"), Why.NOT_UTF8),
        (b"\xff\xfea", Why.NOT_UTF8),
    ],
)
def test_what_is_no_text_is_refused(content: bytes, why: Why) -> None:
    with pytest.raises(Refused) as refused:
        decoded(content)
    assert refused.value.why is why


def test_the_refusal_says_where() -> None:
    with pytest.raises(Refused, match="byte 3 is the first"):
        decoded(b"ab\xe4cd")


def test_a_pdf_is_known_by_what_is_in_it() -> None:
    assert is_pdf(b"%PDF-1.7 and so on")
    assert is_pdf(b"junk before\n%PDF-1.4")
    assert not is_pdf(b"a text about %PDF files" * 100)


def test_the_name_decides_between_text_and_markdown_only() -> None:
    headings = "# Title\n\ntext"
    assert kind_of_text("a.md", "plain") is Kind.MARKDOWN
    assert kind_of_text("A.TXT", headings) is Kind.TEXT
    assert kind_of_text("notes", headings) is Kind.MARKDOWN
    assert kind_of_text("notes", "plain") is Kind.TEXT
