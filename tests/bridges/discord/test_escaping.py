from hypothesis import example, given
from hypothesis import strategies as st

from bridges.discord.escaping import escaped, escaped_length


@given(st.text(st.sampled_from("a1 .-+*_\\@\n\r\t\x0b\x85٣") | st.characters(exclude_categories=["Cs"])))
@example("\n\n - a\n12. b\n -\n+\n1234567890. c")
def test_the_length_is_that_of_the_escaped_text(text: str) -> None:
    assert escaped_length(text) == len(escaped(text))
