"""Files are read by the real process, as in a running agent."""

from __future__ import annotations

import asyncio
from typing import Any

import psutil
import pytest

from plugins.documents.document import ReadFile
from plugins.documents.kinds import Kind
from plugins.documents.reader import Reader
from plugins.documents.refusals import Refused, Why
from plugins.documents.settings import DocumentsSettings
from tests.plugins.documents.pdfs import encrypted, pdf, pdf_of_streams, written

GOOD = pdf(["Hello (world)\nsecond line", "Page two exam-\nple"])
MARKDOWN = b"# Rules\n\nBe kind.\n\n## Raids\n\nAt 20:00."


@pytest.fixture(scope="module")
def bombs() -> list[bytes]:
    """Small files that hold very much."""
    return [
        pdf_of_streams([b"BT /F1 12 Tf " + b"(aaaa) Tj " * 20_000_000], packed=1),
        pdf_of_streams([b"\n" * 300_000_000], packed=2),
        pdf_of_streams([b"BT /F1 12 Tf " + b"(a) Tj " * 10_000_000], packed=1),
    ]


@pytest.fixture(scope="module")
def slow() -> bytes:
    """A file that takes longer than anybody waits."""
    return pdf_of_streams([b"BT /F1 12 Tf " + b"(a) Tj " * 1_000_000] * 20, packed=1)


@pytest.fixture(scope="module")
def large() -> bytes:
    return "".join(chr(0x4E00 + number % 20_000) for number in range(9_000_000)).encode()


def reading_processes() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "plugins.documents.reading" in child.cmdline()]


async def read(content: bytes, name: str = "file", title: str = "Title", **settings: Any) -> ReadFile:
    return await Reader(DocumentsSettings(**settings)).read(name, title, content)


async def refusal(content: bytes, name: str = "file", **settings: Any) -> Why:
    with pytest.raises(Refused) as refused:
        await read(content, name, **settings)
    assert "{" not in str(refused.value), "every placeholder is filled"
    return refused.value.why


async def test_markdown_comes_in_parts_with_headings_and_words() -> None:
    file = await read(MARKDOWN, title="Guild guide")
    assert file.kind is Kind.MARKDOWN
    assert [(part.heading, part.content) for part in file.parts] == [
        ("Rules", "Be kind."),
        ("Rules › Raids", "At 20:00."),
    ]
    assert file.parts[1].words == "guild guide rules raids at 20 00"


async def test_a_pdf_comes_in_pages() -> None:
    file = await read(GOOD, "wrong-name.txt")
    assert (file.kind, file.pages) == (Kind.PDF, 2)
    assert [(part.heading, part.content) for part in file.parts] == [
        ("p. 1", "Hello (world)\nsecond line"),
        ("p. 2", "Page two example"),
    ]


async def test_a_pdf_that_asks_nobody_for_its_password_is_read() -> None:
    assert len((await read(encrypted(GOOD, ""))).parts) == 2


async def test_one_bad_page_does_not_spoil_the_others() -> None:
    bad = GOOD.replace(b"/Contents 5 0 R", b"/Contents 9 9 R").replace(b"[0 0 612 792] /Contents 9", b"[] /Contents 9")
    assert [part.heading for part in (await read(bad)).parts] == ["p. 2"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", Why.EMPTY),
        (b" \n\t", Why.EMPTY),
        (b"\xef\xbb\xbf", Why.EMPTY),
        ("Grüße".encode("latin-1"), Why.NOT_UTF8),
        (b"PK\x03\x04rest", Why.OTHER_KIND),
        (encrypted(GOOD, "secret"), Why.ENCRYPTED),
        (GOOD[: len(GOOD) // 2], Why.DAMAGED),
        (b"%PDF-1.7\n", Why.DAMAGED),
        (b"%PDF-1.7\n" + b"\x00\xff" * 1000, Why.DAMAGED),
        (b"%PDF-1.7\n1 0 obj " + b"[" * 100_000, Why.DAMAGED),
        (written({1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [2 0 R] >>"}), Why.DAMAGED),
        (pdf_of_streams([b"0 0 m"]), Why.NO_TEXT),
    ],
)
async def test_what_cannot_be_read_is_refused_with_its_reason(content: bytes, why: Why) -> None:
    assert await refusal(content) is why


async def test_a_packed_bomb_is_not_unpacked(bombs: list[bytes]) -> None:
    for bomb in bombs:
        assert len(bomb) < 1_000_000
        assert await refusal(bomb) is Why.PACKED


async def test_a_file_within_the_limits_of_size_may_still_hold_too_much() -> None:
    assert await refusal(b"x" * 2_000, max_file_bytes=1_024) is Why.TOO_LARGE
    assert await refusal(b"word " * 1_000, max_characters=1_000) is Why.TOO_MUCH_TEXT
    assert await refusal(pdf(["some text"] * 200), max_characters=1_000) is Why.TOO_MUCH_TEXT
    assert await refusal(pdf(["text"] * 4), max_pages=3) is Why.TOO_MANY_PAGES


async def test_a_file_that_takes_long_is_given_up_and_nothing_goes_on(slow: bytes) -> None:
    assert await refusal(slow, reading_seconds=1.0) is Why.TOO_SLOW
    assert not reading_processes()


async def test_a_file_that_takes_much_memory_is_given_up(large: bytes) -> None:
    limits: dict[str, Any] = {"reading_memory_mb": 128, "max_file_bytes": 40_000_000, "max_characters": 10_000_000}
    assert await refusal(large, "file", **limits) is Why.TOO_MUCH_MEMORY


async def test_whoever_asks_may_stop_waiting(slow: bytes) -> None:
    reading = asyncio.create_task(read(slow))
    await asyncio.sleep(0.5)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert not reading_processes()


async def test_the_reading_process_sees_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    seen: list[dict[str, str]] = []

    async def watch() -> None:
        while not seen:
            seen.extend(child.environ() for child in reading_processes())
            await asyncio.sleep(0.002)

    watching = asyncio.create_task(watch())
    await read(MARKDOWN)
    watching.cancel()
    assert [set(environ) - {"LC_CTYPE"} for environ in seen] == [{"PYTHONPATH", "PYTHONUTF8"}]


async def test_hundreds_of_marks_on_one_letter_are_no_writing() -> None:
    (part,) = (await read(("e" + "\u0301" * 5_000 + " end").encode())).parts
    assert part.content == "e" + "\u0301" * 16 + " end"


async def test_control_characters_do_not_come_in() -> None:
    (part,) = (await read(b"a\x07b\x1b[31mc\r\nd")).parts
    assert part.content == "ab[31mc\nd"
