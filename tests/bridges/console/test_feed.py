import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridges.console.feed import MAX_LINE, FeedFailed, open_feed, read_lines, split_lines


@given(st.lists(st.binary(max_size=20), max_size=20))
def test_lines_do_not_depend_on_how_the_bytes_arrive(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    expected = whole.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    assert list(split_lines(iter(chunks))) == expected


def test_a_line_without_end_does_not_fill_the_memory() -> None:
    chunks = iter([b"x" * (1024 * 1024)] * 6 + [b"\nnext\n"])
    long, following = split_lines(chunks)
    assert (len(long), following) == (MAX_LINE, b"next")


async def test_bytes_of_any_kind_are_read(tmp_path: Path) -> None:
    path = tmp_path / "script"
    path.write_bytes(b"\xef\xbb\xbfana: hi\r\n\xff\xfe\n\x00nul\n" + "é".encode() + b"\nlast")
    found = [line async for line in read_lines(open_feed(path))]
    assert found == ["ana: hi", "\ufffd\ufffd", "\x00nul", "é", "last"]


async def test_a_megabyte_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "script"
    path.write_bytes(b"a" * 1_000_000 + b"\nshort\n")
    found = [line async for line in read_lines(open_feed(path))]
    assert [len(line) for line in found] == [1_000_000, 5]


async def test_lines_come_before_the_end_does() -> None:
    reading, writing = os.pipe()
    lines = read_lines(reading)
    os.write(writing, b"one\ntw")
    assert await anext(lines) == "one"
    os.write(writing, b"o\n")
    assert await anext(lines) == "two"
    os.close(writing)
    with pytest.raises(StopAsyncIteration):
        await anext(lines)


@pytest.mark.parametrize("kind", ["missing", "directory", "nul"])
def test_a_script_that_cannot_be_read(tmp_path: Path, kind: str) -> None:
    path = {"missing": tmp_path / "none", "directory": tmp_path, "nul": tmp_path / "a\x00b"}[kind]
    with pytest.raises(FeedFailed, match="cannot read the script"):
        open_feed(path)
