from __future__ import annotations

import tomllib
from typing import Any

import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from agent.settings.lines import key_lines

TEXT = '''\
# a = 1
top = "x"
a.b = 1
"quoted key" = 2
[one]
text = """
not_a_key = 1
[not.a.table] ""\\"
ends with quotes""""
list = [
  "]", # comment ]
  '[', { inner = 1 },
]
literal = \'\'\'
also = "not
\'\'\'
after = 1
[one.two."three.four"]
x = { y = 1 }
[[items]]
name = 1
[[items]]
other = 2
'''


def test_lines_of_each_form() -> None:
    tomllib.loads(TEXT)
    assert key_lines(TEXT) == {
        ("top",): 2,
        ("a",): 3,
        ("a", "b"): 3,
        ("quoted key",): 4,
        ("one",): 5,
        ("one", "text"): 6,
        ("one", "list"): 10,
        ("one", "literal"): 14,
        ("one", "after"): 17,
        ("one", "two"): 18,
        ("one", "two", "three.four"): 18,
        ("one", "two", "three.four", "x"): 19,
        ("items",): 20,
        ("items", "name"): 21,
        ("items", "other"): 23,
    }


_keys = st.text("abcde_-. ", min_size=1, max_size=6)
_texts = st.text("ab\"'[]{}#=\n\\, ", max_size=20)
_values = st.recursive(
    st.integers(-5, 5) | st.booleans() | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=8,
)


def _paths(value: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Every key path; the tables of an array share theirs."""
    if isinstance(value, list):
        return {found for item in value for found in _paths(item, path)}
    if not isinstance(value, dict):
        return set()
    return {(*path, key) for key in value}.union(*(_paths(item, (*path, key)) for key, item in value.items()))


@given(st.dictionaries(_keys, _values, max_size=5), st.booleans())
def test_every_line_found_holds_its_key(table: dict[str, Any], multiline: bool) -> None:
    document = tomlkit.document()
    for key, value in table.items():
        document[key] = tomlkit.string(value, multiline=multiline) if isinstance(value, str) else value
    text = tomlkit.dumps(document)
    parsed = tomllib.loads(text)
    lines = key_lines(text)
    assert set(parsed) <= {path[0] for path in lines}
    assert set(lines) <= _paths(parsed)
    source = text.split("\n")
    for path, line in lines.items():
        assert path[-1] in source[line - 1]
