"""PDF files made by hand, good and bad."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from io import BytesIO


def pdf(pages: Sequence[str]) -> bytes:
    """Return a PDF whose pages hold these texts, a line a line."""
    return pdf_of_streams([_text_stream(text) for text in pages])


def _text_stream(text: str) -> bytes:
    lines = [line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)") for line in text.split("\n")]
    shown = "".join(f"({line}) Tj 0 -14 Td " for line in lines)
    return f"BT /F1 12 Tf 72 720 Td {shown}ET".encode("latin-1")


def pdf_of_streams(streams: Sequence[bytes], *, packed: int = 0) -> bytes:
    """Return a PDF with these content streams, `packed` so many times."""
    numbers = range(4, 4 + 2 * len(streams), 2)
    objects: dict[int, bytes] = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Count {len(streams)} /Kids [{' '.join(f'{n} 0 R' for n in numbers)}] >>".encode(),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    }
    for number, stream in zip(numbers, streams, strict=True):
        objects[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {number + 1} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        ).encode()
        content = stream
        for _ in range(packed):
            content = zlib.compress(content, 9)
        filters = f"/Filter [{'/FlateDecode ' * packed}] " if packed else ""
        head = f"<< {filters}/Length {len(content)} >>\nstream\n".encode()
        objects[number + 1] = head + content + b"\nendstream"
    return written(objects)


def written(objects: dict[int, bytes]) -> bytes:
    """Return a PDF of these objects; the first is its catalogue."""
    out = BytesIO()
    out.write(b"%PDF-1.7\n")
    places: dict[int, int] = {}
    for number, content in objects.items():
        places[number] = out.tell()
        out.write(f"{number} 0 obj\n".encode() + content + b"\nendobj\n")
    start = out.tell()
    count = max(objects) + 1
    out.write(f"xref\n0 {count}\n0000000000 65535 f \n".encode())
    for number in range(1, count):
        entry = f"{places[number]:010} 00000 n \n" if number in places else "0000000000 00000 f \n"
        out.write(entry.encode())
    out.write(f"trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()


def encrypted(content: bytes, password: str) -> bytes:
    """Return a PDF that asks for a password; an empty one asks nobody."""
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(BytesIO(content)))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="AES-256")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()
