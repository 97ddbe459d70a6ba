import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.markup.html import to_html
from agent.markup.markdown import to_markdown


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("hello", "hello"),
        ("<b>b</b> <em>i</em> <del>s</del> <u>u</u> <code>c*</code>", "**b** *i* ~~s~~ __u__ `c*`"),
        ("a<br>b", "a\nb"),
        ("2 * 3 * 4_5", r"2 \* 3 \* 4\_5"),
        ("https://x.y/a_b_c", "https://x.y/a_b_c"),
        ("# no head", r"\# no head"),
        ('<a href="https://x.y">a</a>', "[a](https://x.y)"),
        ('<a href="https://x.y">https://x.y</a>', "https://x.y"),
        ('<a href="javascript:x">a</a>', "a"),
        ('<span data-mx-spoiler="why">secret</span>', "||secret||"),
        ("<mx-reply><blockquote>quoted</blockquote></mx-reply>said", "said"),
        ("<script>x()</script>said<style>y</style>", "said"),
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<ol><li>a</li><li>b<br>c</li></ol>", "1. a\n2. b\n  c"),
        ("<blockquote>a<br>b</blockquote>c", "> a\n> b\nc"),
        ('<pre><code class="language-py">x = 1\n*y*</code></pre>', "```py\nx = 1\n*y*\n```"),
        ("<h2>t</h2>x", "## t\n\nx"),
        ('<img src="mxc://a/b" alt=":cat:">', ":cat:"),
        ("<b> x </b>y", " **x** y".strip()),
        ("<b>open", "**open**"),
        ("</b>close", "close"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "| a | b |"),
    ],
)
def test_html_becomes_markdown(html: str, text: str) -> None:
    assert to_markdown(html) == text


def test_people_are_named() -> None:
    html = '<a href="https://matrix.to/#/%40ana%3Aa.b">Ana</a> <a href="https://matrix.to/#/!r:a.b">room</a>'
    assert to_markdown(html, lambda user, label: f"<{user}|{label}>") == "<@ana:a.b|Ana> room"


@given(st.text(alphabet=st.sampled_from("<>/abip\"'= \n&;#x*`"), max_size=120))
def test_nothing_is_too_broken(html: str) -> None:
    to_markdown(html)


def test_depth_is_bounded() -> None:
    assert to_markdown("<b>" * 5_000 + "x").strip("*") == "x"


@pytest.mark.parametrize(
    "text", ["**b** *i* ~~s~~", "||x||", "- a\n- b", "```py\nx\n```", "[a](https://x.y)", "> q", r"2 \* 3", "__u__"]
)
def test_there_and_back(text: str) -> None:
    assert to_markdown(to_html(text, underline=True)) == text
