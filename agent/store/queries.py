"""Named queries: SQL lives in .sql files, each statement under its name and one line that says what it does.

-- name: get_server
-- One server by its platform and external id.
SELECT … FROM servers WHERE platform = $1 AND external_id = $2
"""

from __future__ import annotations

import functools
import importlib.resources
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from agent.store.errors import QueryFileError

_HEADER = re.compile(r"--\s*name:\s*(?P<name>.*?)\s*")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@functools.cache
def load_queries(package: str, file: str = "queries.sql") -> Mapping[str, str]:
    """Return the queries of a file beside a package or module, by name.

    A repository begins with `QUERIES = load_queries(__name__)`.
    """
    text = importlib.resources.files(package).joinpath(file).read_text("utf-8")
    return parse_queries(text, f"{package}/{file}")


def parse_queries(text: str, source: str) -> Mapping[str, str]:
    """Return the queries of a file's text, by name. Raises QueryFileError that names `source` and the line."""
    queries: dict[str, str] = {}
    for number, name, lines in _sections(text, source):
        where = f"{source}, line {number}"
        if not _NAME.fullmatch(name):
            raise QueryFileError(f"{where}: the name {name!r} is not lower-case letters, digits and underscores")
        if name in queries:
            raise QueryFileError(f"{where}: the query {name} exists twice: rename one of them")
        if not lines or not lines[0].startswith("--") or not lines[0].strip("- \t"):
            raise QueryFileError(f"{where}: the query {name} needs a line `-- what it does` below its name")
        statement = "\n".join(lines[1:]).strip().removesuffix(";").rstrip()
        if not any(line.strip() and not line.lstrip().startswith("--") for line in statement.splitlines()):
            raise QueryFileError(f"{where}: the query {name} is empty")
        queries[name] = statement
    return MappingProxyType(queries)


def _sections(text: str, source: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield line number, name and lines of each query."""
    section: tuple[int, str, list[str]] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.fullmatch(line):
            if section:
                yield section
            section = (number, header["name"], [])
        elif section:
            section[2].append(line)
        elif line.strip() and not line.startswith("--"):
            raise QueryFileError(f"{source}, line {number}: text before the first `-- name:` line")
    if section:
        yield section
