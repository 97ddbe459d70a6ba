from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.turn.code_file import code_apart

LONG = "print('a line of code')\n" * 10


@pytest.mark.parametrize(
    ("opening", "name"),
    [
        ("```python", "answer.py"),
        ("```Python title=x", "answer.py"),
        ("~~~~ c++", "answer.cpp"),
        ("```", "answer.txt"),
        ("```exe", "answer.txt"),
        ("```../../etc", "answer.txt"),
    ],
)
def test_a_long_block_is_taken_out_with_the_ending_of_its_language(opening: str, name: str) -> None:
    fence = opening[: len(opening) - len(opening.lstrip("`~"))]
    apart = code_apart(f"Here it is:\n\n{opening}\n{LONG}{fence}\n\nRun it.", 100, len)
    assert apart is not None
    assert (apart.before, apart.file.name, apart.file.text, apart.after) == ("Here it is:", name, LONG, "Run it.")


def test_a_block_that_is_never_closed_ends_with_the_text() -> None:
    apart = code_apart(f"```sh\n{LONG}", 100, len)
    assert apart is not None
    assert (apart.before, apart.file.text, apart.after) == ("", LONG, "")


def test_short_blocks_stay_where_they_are() -> None:
    apart = code_apart(f"```sh\nmake\n```\nand\n```py\n{LONG}```", 100, len)
    assert apart is not None
    assert apart.before == "```sh\nmake\n```\nand"


@pytest.mark.parametrize("text", ["", "a" * 500, "```sh\nmake\n```", f"```\n{LONG}```\n```\n{LONG}```", LONG])
def test_what_has_not_one_long_block_is_no_file(text: str) -> None:
    assert code_apart(text, 100, len) is None


@given(
    st.text(st.sampled_from("\na b")), st.text(st.sampled_from("\na b")), st.text(st.sampled_from("\na b"), min_size=20)
)
def test_only_the_fences_and_white_space_around_them_are_lost(before: str, after: str, code: str) -> None:
    apart = code_apart(f"{before}\n```\n{code}\n```\n{after}", 20, len)
    assert apart is not None
    assert apart.before.strip() == before.strip()
    assert apart.file.text == f"{code}\n"
    assert apart.after.strip() == after.strip()
