from pathlib import Path

import pytest

from agent.store.errors import QueryFileError
from agent.store.queries import load_queries, parse_queries

TWO = """\
-- Queries of a test.

-- name: first
-- The first.
SELECT 1;

-- name: second
-- The second; it has a comment inside.
SELECT $1::int -- one
     , ';'
"""


def test_queries_by_name_in_order() -> None:
    queries = parse_queries(TWO, "x.sql")
    assert list(queries) == ["first", "second"]
    assert queries["first"] == "SELECT 1"
    assert queries["second"] == "SELECT $1::int -- one\n     , ';'"


def test_the_mapping_is_frozen() -> None:
    with pytest.raises(TypeError):
        parse_queries(TWO, "x.sql")["third"] = "SELECT 3"  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("-- name: a\n-- A.\nSELECT 1\n-- name: a\n-- A.\nSELECT 2", "x.sql, line 4: the query a exists twice"),
        ("-- name: a\nSELECT 1", "x.sql, line 1: the query a needs a line"),
        ("-- name: a\n--\nSELECT 1", "x.sql, line 1: the query a needs a line"),
        ("-- name: a", "x.sql, line 1: the query a needs a line"),
        ("-- name: a\n-- A.\n-- only a comment\n;", "x.sql, line 1: the query a is empty"),
        ("-- name: Get it\n-- A.\nSELECT 1", "x.sql, line 1: the name 'Get it'"),
        ("SELECT 1\n-- name: a\n-- A.\nSELECT 1", "x.sql, line 1: text before the first"),
    ],
)
def test_what_is_malformed_is_named(text: str, problem: str) -> None:
    with pytest.raises(QueryFileError, match=r".+") as caught:
        parse_queries(text, "x.sql")
    assert str(caught.value).startswith(problem)


def test_a_file_is_found_beside_a_module_and_beside_a_package() -> None:
    assert load_queries("agent.store.migrate") == load_queries("agent.store")
    assert load_queries("agent.store") is load_queries("agent.store")
    text = Path(__file__).parents[3].joinpath("agent/store/queries.sql").read_text("utf-8")
    assert load_queries("agent.store") == parse_queries(text, "x")
