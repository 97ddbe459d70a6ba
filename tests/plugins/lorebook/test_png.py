from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.files import FileRefused
from plugins.lorebook.png import SIGNATURE, card_in_png, is_png
from tests.plugins.lorebook.files import chunk, png


def test_the_newer_chunk_goes_before_the_older_one() -> None:
    older, newer = base64.b64encode(b"older"), base64.b64encode(b"newer")
    assert is_png(png())
    assert card_in_png(png(chara=older), "a.png", 100) == b"older"
    assert card_in_png(png(chara=older, ccv3=newer), "a.png", 100) == b"newer"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (png(), "no character card"),
        (png(Comment=b"hello"), "no character card"),
        (png(chara=b"!!!"), "no base64"),
        (png(chara=b"a" * 400), "larger than 100 bytes"),
        (SIGNATURE, "no character card"),
        (SIGNATURE + b"\0\0", "damaged"),
        (SIGNATURE + b"\xff\xff\xff\xff" + b"tEXt", "damaged"),
        (SIGNATURE + chunk(b"tEXt", b"chara\0aaaa", checksum=7), "damaged"),
        (png(chara=b"aaaa")[:60], "damaged"),
    ],
)
def test_a_picture_without_a_sound_card_is_refused(content: bytes, says: str) -> None:
    with pytest.raises(FileRefused, match=says):
        card_in_png(content, "a.png", 100)


@given(st.binary(max_size=100))
def test_no_bytes_do_harm(content: bytes) -> None:
    with pytest.raises(FileRefused):
        card_in_png(SIGNATURE + content, "a.png", 100)


@given(st.integers(0, 120), st.integers(0, 255))
def test_no_damage_does_harm(at: int, byte: int) -> None:
    content = bytearray(png(chara=base64.b64encode(b"card")))
    content[min(at, len(content) - 1)] = byte
    try:
        assert card_in_png(bytes(content), "a.png", 100) == b"card"
    except FileRefused as refused:
        assert "\n" not in str(refused)  # noqa: PT017 - what it says, when it is raised
