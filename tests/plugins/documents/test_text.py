from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.documents.text import (
    LONGEST_HEADING,
    Section,
    has_headings,
    joined_lines,
    markdown_sections,
    page_sections,
)

GUIDE = """\
Welcome.

# Rules

Be kind.

## Raids ##

At 20:00.

```sh
# no heading
```

Loot
----
Shared.

* a list
---

#hashtag is no heading

# Empty
# Last
"""


def test_a_section_is_what_stands_below_a_heading() -> None:
    sections = list(markdown_sections(GUIDE))
    assert [(section.heading, section.text.strip()) for section in sections] == [
        ("", "Welcome."),
        ("Rules", "Be kind."),
        ("Rules › Raids", "At 20:00.\n\n```sh\n# no heading\n```"),
        ("Rules › Loot", "Shared.\n\n* a list\n---\n\n#hashtag is no heading"),
        ("Empty", ""),
        ("Last", ""),
    ]


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("### **Bold** and `code`", "Bold and code"),
        ("# [A link](https://example.org) here", "A link here"),
        ("# snake_case stays", "snake_case stays"),
        ("#", ""),
    ],
)
def test_a_heading_loses_its_markup(line: str, heading: str) -> None:
    (section,) = markdown_sections(f"{line}\ntext")
    assert section == Section(heading, "text")


def test_a_block_of_code_that_is_never_closed_goes_to_the_end() -> None:
    (section,) = markdown_sections("~~~\n# a\n```\n# b")
    assert section.heading == ""


def test_a_deep_path_keeps_what_is_nearest() -> None:
    text = "\n".join(f"{'#' * level} {'x' * 90} {level}" for level in range(1, 7)) + "\ntext"
    (section,) = markdown_sections(text)
    assert section.heading.endswith("x 6")
    assert len(section.heading) <= LONGEST_HEADING


def test_what_looks_like_markdown() -> None:
    assert has_headings("# Title\n\ntext")
    assert has_headings("text\n\n## Part\n\nmore")
    assert not has_headings("#!/bin/sh\n# says hello\necho hello")
    assert not has_headings("no headings\n#tag\n")


def test_a_page_stands_below_its_number() -> None:
    assert list(page_sections(["one", " ", "three"])) == [Section("p. 1", "one"), Section("p. 3", "three")]


def test_a_word_that_the_end_of_a_line_parts_is_one_word() -> None:
    assert joined_lines("exam-\nple and foot\u00ad\nnote") == "example and footnote"
    assert joined_lines("1990-\n1999, Anna-\nMaria") == "1990-\n1999, Anna-\nMaria"


@given(st.text(alphabet="#=-`~ \nab*", max_size=200))
def test_no_text_is_lost(text: str) -> None:
    letters = "".join(c for c in text if c in "ab")
    kept = "".join(c for section in markdown_sections(text) for c in section.heading + "|" + section.text)
    for letter in "ab":
        assert kept.count(letter) >= letters.count(letter)


@pytest.mark.parametrize("hostile", ["*" * 100_000, "[" * 100_000, "# " + " " * 100_000 + "x", "# " + "*_" * 50_000])
def test_a_hostile_line_takes_no_time(hostile: str) -> None:
    began = time.perf_counter()
    list(markdown_sections(hostile))
    list(markdown_sections("# " + hostile[:990]))
    assert time.perf_counter() - began < 0.5
