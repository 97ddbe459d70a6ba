import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.markup.html import is_plain, to_html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("hello", "hello"),
        ("**b** *i* ~~s~~ `c`", "<strong>b</strong> <em>i</em> <s>s</s> <code>c</code>"),
        ("a\nb", "a<br />\nb"),
        ("1 < 2 & <b>x</b>", "1 &lt; 2 &amp; &lt;b&gt;x&lt;/b&gt;"),
        ("[a](https://x.y)", '<a href="https://x.y">a</a>'),
        ("[a](javascript:x)", "[a](javascript:x)"),
        ("[a](data:text/html,x)", "[a](data:text/html,x)"),
        ("![alt](https://x.y/z.png)", '<a href="https://x.y/z.png">alt</a>'),
        ("||secret **b**||", "<span data-mx-spoiler>secret <strong>b</strong></span>"),
        ("a || b", "a || b"),
        ("**a || b** c ||", "<strong>a || b</strong> c ||"),
        ("-# small", "small"),
        ("one\n\ntwo", "<p>one</p>\n<p>two</p>"),
        ("```py\n<x>\n```", '<pre><code class="language-py">&lt;x&gt;\n</code></pre>'),
    ],
)
def test_markdown_becomes_html(text: str, html: str) -> None:
    assert to_html(text) == html


def test_underlines_are_discords() -> None:
    assert to_html("__x__ **y**", underline=True) == "<u>x</u> <strong>y</strong>"
    assert to_html("__x__") == "<strong>x</strong>"


def test_those_who_are_known_are_linked() -> None:
    def linked(user: str) -> tuple[str, str] | None:
        return ("<Ana>", f"https://matrix.to/#/{user}") if user == "@ana:a.b" else None

    html = to_html("hey <@@ana:a.b> and <@2> `<@@ana:a.b>`", linked)
    assert html == (
        'hey <a href="https://matrix.to/#/@ana:a.b">&lt;Ana&gt;</a> and &lt;@2&gt; <code>&lt;@@ana:a.b&gt;</code>'
    )


@given(st.text(alphabet=st.sampled_from("<>&\"'abc*_~|`[]()!# \n-:/javascript@1."), max_size=80))
def test_no_element_comes_from_the_text(text: str) -> None:
    html = to_html(text, underline=True)
    names = {found.lower() for found in re.findall(r"<\s*/?\s*([A-Za-z0-9]+)", html)}
    assert names <= {
        *("p", "br", "strong", "em", "s", "u", "code", "pre", "a", "span", "ul", "ol", "li", "blockquote", "hr"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
    }
    assert not re.search(r'href="(?!https?:|mailto:|matrix:|ftp:)', html, re.IGNORECASE)


@pytest.mark.parametrize(("text", "plain"), [("a < b\nc", True), ('"x"', True), ("*a*", False), ("https://x.y", True)])
def test_what_is_formatted_is_known(text: str, plain: bool) -> None:
    assert is_plain(to_html(text), text) is plain
