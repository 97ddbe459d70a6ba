import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.printing import printable, safe_json

DANGEROUS = {chr(code) for code in (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))}


@given(st.text(alphabet=st.characters() | st.sampled_from(sorted(DANGEROUS))))
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    shown = printable(text)
    assert not (DANGEROUS - {"\n"}) & set(shown)
    shown.encode()


@given(st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.dictionaries(st.text(), inner)))
def test_json_stays_the_same_value_and_is_safe(value: object) -> None:
    text = safe_json(value)
    assert json.loads(text) == value
    assert not DANGEROUS & set(text)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\x9b31m", "\u202egnp.exe", "\x1b[2J"])
def test_what_cannot_be_raw_is_escaped(text: str) -> None:
    line = safe_json({"text": text})
    line.encode()
    assert json.loads(line) == {"text": text}
    assert not set(text) & DANGEROUS & set(line)
