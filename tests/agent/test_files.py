from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.files import FileRefused, LocalFile, too_large


async def test_a_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"12345")
    assert await LocalFile(path).read(5) == b"12345"
    with pytest.raises(FileRefused, match=r"^a\.json: it is larger than 4 bytes$"):
        await LocalFile(path).read(4)


async def test_what_is_no_file_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, says in {"none": "no such file", "": "no file", "pipe": "no file", "x\0y": "no usable path"}.items():
        with pytest.raises(FileRefused, match=says):
            await LocalFile(tmp_path / name).read(10)
    with pytest.raises(FileRefused, match="no file"):
        await LocalFile(Path("/dev/zero")).read(10)


def test_a_large_limit_is_said_in_mebibytes() -> None:
    assert str(too_large("a", 8 * 1024 * 1024)) == "a: it is larger than 8 MiB"
