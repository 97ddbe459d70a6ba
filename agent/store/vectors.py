"""Vectors in the database: is pgvector there, the narrow table that a plugin searches, and its vectors in and out.

A vector travels as the numbers it is: a parameter is written `$1::real[]::vector`, which the driver encodes in binary.
Vectors have length one, so `-(embedding <#> $1::real[]::vector)` is their cosine similarity. A statement that compares
rows asks `model = …` and, inside a CASE, `vector_dims(embedding) = …`: two lengths in one comparison are an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.store.connect import Connection

QUERIES = load_queries(__name__, "vectors.sql")

VECTORS: Final = "vector"
TRIGRAMS: Final = "pg_trgm"
REMEDY: Final = "install the PostgreSQL extension vector (pgvector; CREATE EXTENSION vector), then restart"
TRIGRAMS_REMEDY: Final = "install the PostgreSQL extension pg_trgm (CREATE EXTENSION pg_trgm), then restart"


async def has_extension(conn: Connection, name: str = VECTORS) -> bool:
    """Tell whether an extension is there; it is created where it is installed and that is allowed."""
    is_there: bool = await conn.fetchval(QUERIES["prepare_extension"], name)
    return is_there


async def prepare_vector_table(conn: Connection, name: str, rows: str, key: str) -> bool:
    """Make the table of vectors `name` beside the table `rows` if pgvector is there; tell whether it is.

    Its columns: `row_id` (the key of the row, whose vector goes when the row goes), `group_id` (what a search admits
    or not as a whole, as a document or an owner; indexed), `model`, `embedding`.
    """
    is_there: bool = await conn.fetchval(QUERIES["prepare_vector_table"], name, rows, key)
    return is_there


async def fit_vector_table(conn: Connection, name: str, dimension: int) -> None:
    """Let a table of vectors take those of so many numbers: call it before vectors of a new model are kept."""
    await conn.execute(QUERIES["fit_vector_table"], name, dimension)
