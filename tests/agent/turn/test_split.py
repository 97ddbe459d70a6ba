from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from agent.turn.split import MEASURES, split

WORDS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="`~"), max_size=60), max_size=40).map(" ".join)


@given(WORDS, st.integers(40, 200), st.sampled_from(sorted(MEASURES)))
def test_parts_fit_and_lose_only_white_space(text: str, limit: int, unit: str) -> None:
    parts = split(text, limit, MEASURES[unit])
    assert all(MEASURES[unit](part) <= limit for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@given(st.text(st.characters(codec="utf-8"), max_size=600), st.integers(40, 120))
def test_anything_fits(text: str, limit: int) -> None:
    assert all(0 < len(part) <= limit for part in split(text, limit))


@given(st.integers(1, 80), st.integers(80, 200))
def test_a_fence_is_closed_and_opened_again(lines: int, limit: int) -> None:
    code = "\n".join(f"print({number})" for number in range(lines))
    parts = split(f"See:\n```python\n{code}\n```\nDone.", limit)
    for part in parts:
        assert part.count("```") % 2 == 0
    shown = [line for part in parts for line in part.splitlines() if line.startswith("print")]
    assert shown == code.splitlines()
    assert all("```python" in part for part in parts if "print(" in part)


def test_a_link_is_kept_whole() -> None:
    link = "https://example.org/" + "a" * 30
    parts = split(f"{'word ' * 12}{link} and more", 80)
    assert sum(link in part for part in parts) == 1


def test_a_markdown_link_is_kept_whole() -> None:
    link = "[the very long name of a page](https://example.org/a/b/c)"
    assert any(link in part for part in split(f"{'x' * 50} {link} and then some more", 80))


def test_a_paragraph_is_the_best_place_to_break() -> None:
    first, second = "one two three. " * 4, "four five six. " * 4
    assert split(f"{first.strip()}\n\n{second.strip()}", 80) == (first.strip(), second.strip())


FAMILY = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"


@given(st.lists(st.sampled_from([FAMILY, "e\u0301", "a", "\U0001f1e9\U0001f1ea"]), max_size=120), st.integers(40, 60))
def test_a_grapheme_is_never_broken(clusters: list[str], limit: int) -> None:
    text = "".join(clusters)
    parts = split(text, limit)
    assert "".join(parts) == text
    assert [c for part in parts for c in regex.findall(r"\X", part)] == regex.findall(r"\X", text)


def test_a_letter_below_a_thousand_marks_still_fits() -> None:
    monster = "a" + "\u0301" * 1_000
    parts = split(monster, 100)
    assert "".join(parts) == monster
    assert all(len(part) <= 100 for part in parts)


def test_a_megabyte_is_split_in_bounded_time() -> None:
    parts = split("lorem ipsum dolor " * 60_000, 2_000)
    assert len(parts) >= 500


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_nothing_gives_no_part(text: str) -> None:
    assert split(text, 100) == ()


def test_too_small_a_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="the limit of a message is 10"):
        split("text", 10)


@pytest.mark.parametrize("limit", [40, 2000])
@pytest.mark.parametrize(
    "piece", ["[", "[a](", "[a]((((", "`", "~", "```", "*", "<", "(", "[[](x", "https://", "```" + "y" * 79 + "\n"]
)
def test_marks_and_nothing_else_are_split_like_any_text(piece: str, limit: int) -> None:
    text = piece * (60_000 // len(piece))
    parts = split(text, limit)
    assert all(len(part) <= limit for part in parts)
    assert len(parts) <= 3 * len(text) / limit + 1
    marks = "".join(parts).replace("\n", "")
    assert all(marks.count(mark) >= text.count(mark) for mark in set(piece) - {"\n"})
