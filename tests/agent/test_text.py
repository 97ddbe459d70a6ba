from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from agent.text import clean, clip, json_line, one_line

ANY = st.text(st.characters())
"""Lone surrogates and NUL included."""


@given(ANY)
def test_clean_text_can_be_carried_by_everything(text: str) -> None:
    cleaned = clean(text)
    assert "\x00" not in cleaned
    cleaned.encode()
    assert clean(cleaned) == cleaned


def test_clean_keeps_newlines_tabs_and_pairs() -> None:
    assert clean("a\r\nb\tc\rd") == "a\nb\tc\nd"
    assert clean("\ud83d\ude00") == "\U0001f600"
    assert clean("a\ud83db") == "a\ufffdb"
    assert clean("a\x1b[31mb") == "a[31mb"


@given(ANY)
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


@given(ANY, st.integers(1, 50))
def test_clip_keeps_the_limit(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    assert len(clipped) <= limit
    assert clipped == text or clipped.endswith("…")


@given(st.text(st.characters(codec="utf-8")))
def test_a_json_line_is_one_line_and_loses_nothing(text: str) -> None:
    line = json_line({"text": text})
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"text": text}
