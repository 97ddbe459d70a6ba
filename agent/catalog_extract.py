"""Refreshes the template of all sentences and the translations: `python -m agent.catalog_extract [--check]`.

With `--check` nothing is written; the exit code is 1 when the template does not hold exactly the sentences of the code.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[1]
PACKAGES = ("agent", "plugins", "bridges")
LOCALES = ROOT / "agent" / "locale"
TEMPLATE = LOCALES / "messages.pot"
KEYWORDS: dict[str, tuple[int, ...] | None] = {"_": None, "N_": None, "translate": (2,), "translate_count": (2, 3)}
# Their own definitions and documentation, not sentences that the agent says.
NOT_SCANNED = ("agent/catalog.py", "agent/catalog_extract.py")

type MessageId = str | tuple[str, ...]


def extracted() -> Catalog:
    """Every sentence that the code marks, with the files where it stands."""
    catalog = Catalog(project="Isthmus", charset="utf-8")
    for path in _sources():
        name = path.relative_to(ROOT).as_posix()
        with path.open("rb") as file:
            for _line, message, comments, context in extract("python", file, KEYWORDS, comment_tags=("Translators:",)):
                catalog.add(message, None, [(name, 1)], auto_comments=comments, context=context)
    return catalog


def _sources() -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.relative_to(ROOT).as_posix() not in NOT_SCANNED:
                yield path


def read(path: Path, locale: str | None = None) -> Catalog:
    """A template or translation."""
    with path.open("rb") as file:
        return read_po(file, locale=locale)


def sentences(catalog: Catalog) -> dict[MessageId, frozenset[str]]:
    """The catalog's sentences with the files where each stands."""
    return {
        (message.id if isinstance(message.id, str) else tuple(message.id)): frozenset(
            name for name, _line in message.locations
        )
        for message in catalog
        if message.id
    }


def translations() -> Iterator[tuple[str, Path]]:
    """Each language with its file."""
    for path in sorted(LOCALES.glob("*/LC_MESSAGES/messages.po")):
        yield path.parents[1].name, path


def refresh() -> list[str]:
    """Write the template where it has changed, and every translation after it; answer a line for each."""
    template = extracted()
    lines = []
    if not TEMPLATE.is_file() or sentences(read(TEMPLATE)) != sentences(template):
        TEMPLATE.write_bytes(_written(template))
        lines.append(f"{_shown(TEMPLATE)}: {len(template)} sentences")
    for locale, path in translations():
        catalog = read(path, locale)
        if sentences(catalog) != sentences(template):
            # No fuzzy matching: a sentence that was guessed must never be said.
            catalog.update(template, no_fuzzy_matching=True)
            path.write_bytes(_written(catalog))
        missing = sum(not _is_translated(message.string) for message in catalog if message.id)
        lines.append(f"{_shown(path)}: {missing} of {len(catalog)} sentences wait for a translation")
    return lines


def _shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _is_translated(string: object) -> bool:
    return all(string) if isinstance(string, (tuple, list)) else bool(string)


def _written(catalog: Catalog) -> bytes:
    """The file, without dates and people: it changes only when a sentence does."""
    buffer = io.BytesIO()
    write_po(buffer, catalog, width=100, sort_output=True, ignore_obsolete=True, include_lineno=False, omit_header=True)
    fields = {"Project-Id-Version": "Isthmus", "MIME-Version": "1.0", "Content-Type": "text/plain; charset=utf-8"}
    fields["Content-Transfer-Encoding"] = "8bit"
    if catalog.locale is not None:
        fields |= {"Language": str(catalog.locale), "Plural-Forms": catalog.plural_forms}
    header = "".join(f'"{name}: {value}\\n"\n' for name, value in fields.items())
    return f'msgid ""\nmsgstr ""\n{header}\n'.encode() + buffer.getvalue()


def main() -> int:
    """The command."""
    if "--check" in sys.argv[1:]:
        if sentences(read(TEMPLATE)) == sentences(extracted()):
            return 0
        sys.stderr.write(f"{_shown(TEMPLATE)} is out of date: run python -m agent.catalog_extract\n")
        return 1
    sys.stdout.write("".join(f"{line}\n" for line in refresh()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
