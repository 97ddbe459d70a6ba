from hypothesis import given
from hypothesis import strategies as st

from tests.screens.flow import flowing
from tests.screens.markdown import Kind, Look, Span, lines, spans
from tests.screens.measure import width
from tests.screens.svg import Font


def named(sign: str, number: str) -> str:
    return f"{sign}{number}!"


def test_marks_change_the_look() -> None:
    assert spans("a **b *c*** ~~d~~ __e__ `f*` snake_case", named) == (
        Span("a "),
        Span("b ", Look(bold=True)),
        Span("c", Look(bold=True, italic=True)),
        Span(" "),
        Span("d", Look(strike=True)),
        Span(" "),
        Span("e", Look(underline=True)),
        Span(" "),
        Span("f*", Look(code=True)),
        Span(" snake_case"),
    )


def test_what_is_escaped_or_alone_is_an_ordinary_sign() -> None:
    assert spans(r"\*a\* 2 * 3 \@x", named) == (Span("*a* 2 * 3 @x"),)


def test_mentions_and_links_have_words() -> None:
    post = "https://discord.com/channels/1/22/333"
    assert [one.text for one in spans(f"<@1> <#2> <@&3> {post} [here](https://example.org)", named)] == [
        "@1!", " ", "#2!", " ", "@&3!", " ", "message22!", " ", "here",
    ]  # fmt: skip


def test_lines_have_kinds() -> None:
    text = "# Title\n-# small\n> said\n- point\n2. second\n```py\n**x**\n```\nend"
    found = lines(text, named)
    assert [line.kind for line in found] == [
        Kind.HEADING,
        Kind.SMALL,
        Kind.QUOTE,
        Kind.TEXT,
        Kind.TEXT,
        Kind.CODE,
        Kind.TEXT,
    ]
    assert [line.mark for line in found if line.mark] == ["•", "2."]
    assert found[5].spans == (Span("**x**", Look(code=True)),)


def test_wide_bold_and_monospaced_letters_have_their_widths() -> None:
    assert width("i", 10) < width("m", 10) < width("m", 10, bold=True) < width("字", 10)
    assert width("iiii", 10, mono=True) == width("mmmm", 10, mono=True) == 24
    assert width("e\N{COMBINING ACUTE ACCENT}", 10) == width("e", 10)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=200), st.integers(60, 500))
def test_any_text_flows_within_its_width(text: str, room: int) -> None:
    drawn = flowing(text, (0, 0), room, named, Font(15))
    assert drawn.height >= 15
    assert drawn == flowing(text, (0, 0), room, named, Font(15))


def test_a_long_word_is_broken() -> None:
    drawn = flowing("x" * 100, (0, 0), 200, named, Font(15))
    assert len(drawn.shapes) == 4
    assert sum(shape.count("x") for shape in drawn.shapes) - 2 * len(drawn.shapes) >= 100 - len(drawn.shapes)
