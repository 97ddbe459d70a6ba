"""Reads one file in a process of its own: bytes on standard input, parts as lines of JSON on standard output.

Run by `reader.py`. What a file can do here is take time and memory up to a limit: it stalls nobody else, and it finds
no connection, key or secret.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import IO, Any, Final

import regex

from agent.search_words import words_to_keep
from agent.text import clean
from plugins.documents.chunking import parts
from plugins.documents.kinds import Kind, decoded, is_pdf, kind_of_text
from plugins.documents.pdf import page_texts
from plugins.documents.refusals import Refused, Why
from plugins.documents.text import markdown_sections, page_sections, plain_sections

#: More marks than this on one letter are no writing of any language.
_PILED: Final = regex.compile(r"(\p{M}{16})\p{M}+")


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be read, and what it may cost."""

    name: str
    title: str
    max_characters: int
    max_pages: int
    seconds: float
    memory_mb: int


def read(content: bytes, task: Task) -> Iterator[dict[str, Any]]:
    """Yield the file's kind, then each part, then its end.

    Raises:
        Refused: it cannot be read, or holds more than it may.
    """
    if not content:
        raise Refused(Why.EMPTY)
    pages = 0

    def counted(texts: Iterable[str]) -> Iterator[str]:
        nonlocal pages
        for text in texts:
            pages += 1
            yield text

    if is_pdf(content):
        kind = Kind.PDF
        sections = page_sections(_limited(counted(page_texts(content, task.max_pages)), task.max_characters))
    else:
        (text,) = _limited([decoded(content)], task.max_characters)
        kind = kind_of_text(task.name, text)
        sections = markdown_sections(text) if kind is Kind.MARKDOWN else plain_sections(text)
    yield {"kind": kind}
    found = False
    for part in parts(sections):
        found = True
        words = words_to_keep(task.title, part.heading, part.content)
        yield {"heading": part.heading, "content": part.content, "words": " ".join(words)}
    if not found:
        raise Refused(Why.NO_TEXT if kind is Kind.PDF else Why.EMPTY)
    yield {"end": True, "pages": pages or None}


def _limited(texts: Iterable[str], limit: int) -> Iterator[str]:
    """Yield texts that every part can carry, as long as they are not too much together."""
    total = 0
    for text in texts:
        total += len(text)
        if total > limit:
            raise Refused(Why.TOO_MUCH_TEXT, limit=limit)
        yield _PILED.sub(r"\1", clean(text))


def limit_resources(task: Task) -> None:
    """Let this process have no more than the task may cost, and write no files."""
    import resource

    limits = (
        (resource.RLIMIT_AS, task.memory_mb * 1024 * 1024),
        (resource.RLIMIT_CPU, int(task.seconds) + 1),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    )
    for name, value in limits:
        with contextlib.suppress(ValueError, OSError):  # not every system has each
            resource.setrlimit(name, (value, value))


def main(arguments: list[str], given: IO[bytes], out: IO[str]) -> None:
    """Read the file and write lines; a refusal is the last line."""
    task = Task(**json.loads(arguments[0]))
    limit_resources(task)
    try:
        for line in read(given.read(), task):
            out.write(json.dumps(line) + "\n")
    except Refused as refused:
        out.write(json.dumps({"refused": refused.why, "values": refused.values}) + "\n")
    except MemoryError:
        out.write(json.dumps({"refused": Why.TOO_MUCH_MEMORY, "values": {"limit": task.memory_mb}}) + "\n")


def argument(task: Task) -> str:
    """Return the task as the one argument of this program."""
    return json.dumps(asdict(task))


if __name__ == "__main__":
    main(sys.argv[1:], sys.stdin.buffer, sys.stdout)
