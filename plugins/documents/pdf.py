"""The text of a PDF, page by page. A hostile file can make this slow or hungry: it runs only where that is limited."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING

from plugins.documents.refusals import Refused, Why

if TYPE_CHECKING:
    from pypdf import PdfReader


def page_texts(content: bytes, max_pages: int) -> Iterator[str]:
    """Yield the text of each page; a page that cannot be read is empty.

    Raises:
        Refused: the PDF is encrypted or damaged, has too many pages, or unpacks to far more than it is.
    """
    from pypdf.errors import LimitReachedError, PyPdfError

    try:
        reader = _opened(content)
        count = len(reader.pages)
    except (Refused, MemoryError):
        raise
    except LimitReachedError:
        raise Refused(Why.PACKED) from None
    except Exception as error:
        raise Refused(Why.DAMAGED) from error
    if count > max_pages:
        raise Refused(Why.TOO_MANY_PAGES, pages=count, limit=max_pages)
    read = 0
    for number in range(count):
        try:
            text = reader.pages[number].extract_text()
        except LimitReachedError:
            raise Refused(Why.PACKED) from None
        except (PyPdfError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OSError):
            # What a damaged page raises is anybody's guess; the others may be well.
            text = ""
        else:
            read += 1
        yield text
    if count and not read:
        raise Refused(Why.DAMAGED)


def _opened(content: bytes) -> PdfReader:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    reader = PdfReader(BytesIO(content), strict=False)
    try:
        # Many files are encrypted with an empty password, which only forbids to print them.
        if reader.is_encrypted and not reader.decrypt(""):
            raise Refused(Why.ENCRYPTED)
    except DependencyError:
        raise Refused(Why.ENCRYPTED) from None
    return reader
