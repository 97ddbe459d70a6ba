from __future__ import annotations

import asyncio
import re
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.lorebook.keys import (
    MAX_STRIKES,
    Pattern,
    PatternSearch,
    Words,
    find_words,
    fold,
    make_key,
    probe,
    words_of,
)
from tests.plugins.lorebook.builders import Stopped

BOMBS = ["/(a|a)*b/", "/(?:a|aa)+$/", r"/(\w+\s?)*!/", "/^(a?){30}a{30}$/", r"/(.*)*x/", "/(a+)+$/"]


@pytest.mark.parametrize(
    ("words", "text", "whole", "found"),
    [
        ("art", "the art of", True, True),
        ("art", "a party", True, False),
        ("art", "a party", False, True),
        ("art", "party art", True, True),
        ("dark lord", "the dark lord!", True, True),
        ("dark lord", "the dark lords", True, False),
        ("c++", "i like c++.", True, True),
        ("c++", "abc++", True, False),
        ("@ana", "hi @ana", True, True),
        ("龍", "黒龍殿", True, True),
        ("드래곤", "드래곤이 온다", True, True),
        ("cafe", "café", True, False),
        ("", "x", True, False),
    ],
)
def test_words_are_found(words: str, text: str, whole: bool, found: bool) -> None:
    assert find_words(fold(words), fold(text), whole=whole) is found


@given(st.text("ab _-", min_size=1, max_size=4), st.text("ab _-", max_size=30))
def test_whole_words_are_what_a_pattern_with_edges_finds(words: str, text: str) -> None:
    before = r"(?<!\w)" if re.match(r"\w", words) else ""
    after = r"(?!\w)" if re.match(r"\w", words[-1]) else ""
    expected = re.search(before + re.escape(words) + after, text) is not None
    assert find_words(words, text, whole=True) is expected


@given(st.text("ab _-1é龍\u0301", min_size=1, max_size=5), st.text("ab _-1é龍\u0301", max_size=40))
def test_the_words_of_a_key_that_is_there_as_a_whole_are_there(key: str, text: str) -> None:
    if find_words(fold(key), fold(text), whole=True):
        assert words_of(fold(key)) <= words_of(fold(text))


def test_words_are_letters_digits_and_marks_of_scripts_with_spaces() -> None:
    assert words_of("the C++ café's 3rd_one, 龍と드래곤 ไทย cafe\u0301") == {
        "the",
        "C",
        "café",
        "s",
        "3rd_one",
        "cafe\u0301",
    }


def test_case_counts_when_it_is_said_so() -> None:
    assert make_key("Straße 7", case_sensitive=False) == Words("strasse 7", "Straße 7", frozenset({"strasse", "7"}))
    assert make_key("Straße", case_sensitive=True) == Words("Straße", "Straße", frozenset({"Straße"}))
    assert make_key("e\u0301", case_sensitive=True) == Words("é", "e\u0301", frozenset({"é"}))


@pytest.mark.parametrize("key", ["dragon", "/dragons?/i", "/and", r"/\bthe (?:old|new) king\b/"])
def test_usable_keys_pass_the_probe(key: str) -> None:
    assert probe(key) is None


@pytest.mark.parametrize("key", [*BOMBS[:2], "/(/", "/((a{100}){100}){100}/"])
def test_unusable_keys_do_not(key: str) -> None:
    said = probe(key)
    assert said is not None
    assert said.startswith(key)


def pattern(source: str) -> Pattern:
    made = make_key(source, case_sensitive=False)
    assert isinstance(made, Pattern)
    return made


@pytest.mark.unwatched_loop  # it measures for itself
@pytest.mark.parametrize("bomb", BOMBS)
async def test_a_bomb_holds_up_neither_the_scan_nor_the_loop(bomb: str) -> None:
    worst = [await longest_gap_during(bomb) for _ in range(3)]
    # The machine may take the processor for a moment; a search that held the loop would take 50 ms each time.
    assert min(worst) < 0.03


async def longest_gap_during(bomb: str) -> float:
    search = PatternSearch(Counter(), each=0.05, total=0.25, monotonic=time.perf_counter)
    gaps: list[float] = []
    stop = False

    async def beat() -> None:
        while not stop:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            gaps.append(time.perf_counter() - before)

    beating = asyncio.create_task(beat())
    await asyncio.sleep(0.01)
    began = time.perf_counter()
    await asyncio.to_thread(search, pattern(bomb), "a" * 40 + "!" + "b c" * 2_000)
    assert time.perf_counter() - began < 1.0
    stop = True
    await beating
    return max(gaps)


def test_a_pattern_that_is_late_too_often_is_looked_for_no_more() -> None:
    strikes: Counter[str] = Counter()
    bomb = pattern("/(a|a)*b/")
    for _ in range(MAX_STRIKES):
        search = PatternSearch(strikes, each=0.01, total=1.0, monotonic=time.perf_counter)
        assert not search(bomb, "a" * 50 + "!b")
        assert search.late == [bomb.source]
    search = PatternSearch(strikes, each=0.01, total=1.0, monotonic=time.perf_counter)
    began = time.perf_counter()
    assert not search(bomb, "a" * 50 + "!b")
    assert (search.late, time.perf_counter() - began < 0.005) == ([], True)


def test_all_patterns_together_have_their_time() -> None:
    search = PatternSearch(Counter(), each=1.0, total=1.0, monotonic=Stopped(step=0.6))
    assert search(pattern("/a/"), "a")
    assert search(pattern("/a/"), "a")
    assert not search(pattern("/a/"), "a")


def test_a_pattern_reads_the_end_of_a_long_text() -> None:
    search = PatternSearch(Counter(), each=1.0, total=1.0, monotonic=Stopped())
    assert search(pattern("/dragon/"), "x" * 1_000_000 + "dragon")
    assert not search(pattern("/dragon/"), "dragon" + "x" * 1_000_000)
