from __future__ import annotations

import time
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.lorebook.pattern import MAX_SIZE, PatternRefused, compile_pattern, split_key, translate


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        ("/dragons?/i", ("dragons?", "i")),
        ("/a/", ("a", "")),
        (r"/a\/b/gi", (r"a\/b", "gi")),
        ("/one\ntwo/s", ("one\ntwo", "s")),
        ("dragon", None),
        ("//", None),
        ("/a", None),
        ("/a/b/", None),
        ("/a/z", None),
        ("and/or", None),
    ],
)
def test_a_pattern_is_told_from_plain_words(key: str, parts: tuple[str, str] | None) -> None:
    assert split_key(key) == parts


@pytest.mark.parametrize(
    ("pattern", "flags", "found", "missed"),
    [
        ("dragons?", "i", ["a Dragon", "DRAGONS"], ["drag on"]),
        (r"\bart\b", "", ["the art of"], ["party", "Art"]),
        (r"(?<n>a)\k<n>", "", ["aa"], ["a"]),
        (r"(a)\1", "", ["aa"], ["ab"]),
        (r"\u{1F600}|\u0041|\x42", "u", ["😀", "A", "B"], ["C"]),
        ("a[^]b", "", ["a\nb"], ["ab"]),
        ("a[]", "", [], ["a", "a[]"]),
        ("a{,3}", "", ["a{,3}"], ["aaa"]),
        ("x{e<=1}", "", ["x{e<=1}"], ["x", "y"]),
        ("end$", "", ["the end"], ["end\n", "end\nx"]),
        ("end$", "m", ["the end", "end\nx"], ["ended"]),
        ("a.b", "", ["a-b"], ["a\nb"]),
        ("a.b", "s", ["a\nb"], ["ab"]),
        ("(?i:a)B", "", ["aB", "AB"], ["ab"]),
        ("(?<=no )cats", "", ["no cats"], ["some cats"]),
        ("[[:alpha:]]+", "", [":]"], ["x]"]),
        (r"[\]\-\\^]", "", ["]", "-", "\\", "^"], ["a"]),
        (r"[\b]", "", ["\b"], ["b"]),
        (r"a\/b", "", ["a/b"], ["ab"]),
        (r"\p{Script=Greek}+", "u", ["λόγος"], ["logos"]),
        (r"\cJ", "", ["\n"], ["J"]),
        (r"\mx\L<y>", "", ["mxL<y>"], ["x"]),
        ("a+?b{2}?c*", "", ["aabb"], ["ab"]),
        ("a b#c", "", ["a b#c"], ["ab"]),
        (r"\bдракон", "i", ["Дракон спит"], ["издракон"]),
    ],
)
def test_it_means_what_it_means_in_javascript(pattern: str, flags: str, found: list[str], missed: list[str]) -> None:
    compiled = compile_pattern(pattern, flags)
    assert [text for text in found if not compiled.search(text)] == []
    assert [text for text in missed if compiled.search(text)] == []


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("(", "not closed"),
        (")", "has no"),
        ("[a", "not closed"),
        ("a\\", "ends with"),
        ("*a", "nothing to repeat"),
        ("a**", "nothing to repeat"),
        ("a++", "nothing to repeat"),
        ("a{2}{3}", "nothing to repeat"),
        ("^*", "nothing to repeat"),
        (r"\b+", "nothing to repeat"),
        ("a{3,2}", "out of order"),
        ("(?R)", "no group"),
        ("(?>a)", "no group"),
        ("(?P<a>b)", "no group"),
        ("(?(1)a)", "no group"),
        (r"(a)\2", "reference"),
        ("[z-a]", "range"),
        (r"[a\1]", "means nothing"),
        (r"\p{Foo}", "property"),
        (r"\u{FFFFFF}", "no character"),
        ("(" * 60 + ")" * 60, "within one another"),
        ("((a{100}){100}){100}", "too large"),
        (r"(([ab]{100}){100,}){100,200}", "too large"),
        (r"(?:(\w{1000})|b){1000}", "too large"),
        ("a{65535}", "too large"),
        ("a" * (MAX_SIZE + 1), "too large"),
    ],
)
def test_what_is_no_pattern_or_too_large_is_refused_at_once(pattern: str, says: str) -> None:
    began = time.perf_counter()
    with pytest.raises(PatternRefused, match=says):
        compile_pattern(pattern, "")
    assert time.perf_counter() - began < 0.05


syntax = st.lists(st.sampled_from(list("ab()[]{}?*+|^$.\\-,0159:=!<>iPkuxpRd&~#\n")), max_size=30).map("".join)


@given(syntax, st.text("dgimsuvy", max_size=4))
def test_no_pattern_does_harm(pattern: str, flags: str) -> None:
    with warnings.catch_warnings(action="error"):
        try:
            compiled = compile_pattern(pattern, flags)
        except PatternRefused as refused:
            assert str(refused)  # noqa: PT017 - what it says, when it is raised
        else:
            compiled.search("abab" * 5, timeout=1)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\\[](){}?*+|^$./"), min_size=1))
def test_a_pattern_of_plain_characters_finds_itself(text: str) -> None:
    assert compile_pattern(text, "").fullmatch(text)


def test_the_letters_of_a_pattern_are_known() -> None:
    assert translate(r"(ab+|a)\w[xy]", "").letters == "ab"
