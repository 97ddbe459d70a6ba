from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from agent.settings.file import MAX_FILE_BYTES
from tests.agent.settings.conftest import World


def test_a_missing_file_of_the_option(world: World) -> None:
    (line,) = world.mistakes(config=Path("nowhere.toml"))
    assert line.endswith("nowhere.toml: no such file: name another with --config, or leave it out")


def test_an_empty_file_means_the_defaults_and_says_so(world: World) -> None:
    loaded = world.load("")
    assert loaded.settings == world.load(" \n# nothing\n").settings
    assert [str(warning) for warning in loaded.warnings()] == [
        f"{world.file}: says nothing: the built-in defaults hold"
    ]


def test_a_directory(world: World) -> None:
    world.file.mkdir()
    (line,) = world.mistakes()
    assert "plugins.toml: is a directory" in line


def test_a_dangling_link_is_not_passed_over(world: World) -> None:
    world.file.symlink_to(world.cwd / "gone.toml")
    (line,) = world.mistakes()
    assert "no such file" in line


def test_not_utf8_names_the_line(world: World) -> None:
    (line,) = world.mistakes(b'[agent]\nname = "\xff"\n')
    assert line.endswith("plugins.toml:2: is not UTF-8 text: save it in that encoding")


def test_utf16(world: World) -> None:
    (line,) = world.mistakes("[agent]".encode("utf-16"))
    assert line.endswith("plugins.toml:1: is not UTF-8 text: save it in that encoding")


def test_a_byte_order_mark_means_nothing(world: World) -> None:
    assert world.load(b'\xef\xbb\xbf[agent]\nname = "Ada"\n').settings.agent.name == "Ada"


def test_windows_line_ends_keep_their_numbers(world: World) -> None:
    assert world.mistakes("[agent]\r\n\r\nnme = 1\r\n") == [
        "plugins.toml:3: agent.nme: no such key (did you mean name?)"
    ]


def test_a_duplicate_table(world: World) -> None:
    (line,) = world.mistakes("[plugins.memory]\nenabled = true\n[plugins.memory]\nenabled = false\n")
    assert line.endswith("plugins.toml:3: table [plugins.memory] stands here a second time: merge the two")


def test_a_duplicate_key(world: World) -> None:
    (line,) = world.mistakes('[agent]\nname = "a"\nname = "b"\n')
    assert line.endswith("plugins.toml:3: this key stands here a second time: keep one of them")


@pytest.mark.parametrize("text", ["[agent", "name", "a = ", 'a = "', "\0", "a = 2020-99-99"])
def test_what_is_no_toml_is_one_line_with_its_place(world: World, text: str) -> None:
    (line,) = world.mistakes(f"\n{text}")
    assert re.search(r"plugins\.toml:2: not valid TOML: ", line)


def test_a_number_that_python_refuses(world: World) -> None:
    (line,) = world.mistakes("a = " + "9" * 5_000)
    assert line.startswith("plugins.toml: not valid TOML: Exceeds the limit")
    assert len(line) < 200


def test_deep_nesting(world: World) -> None:
    (line,) = world.mistakes("a = " + "[" * 100_000)
    assert line.endswith("nested too deeply")


def test_a_huge_file(world: World) -> None:
    (line,) = world.mistakes(b"#" * (MAX_FILE_BYTES + 1))
    assert line.endswith(f"is larger than {MAX_FILE_BYTES} bytes: is this the right file?")


@pytest.mark.parametrize("endless", ["/dev/zero"])
def test_an_endless_device(world: World, endless: str) -> None:
    (line,) = world.mistakes(config=Path(endless))
    assert "is larger than" in line


def test_a_file_of_another_user(world: World) -> None:
    if os.geteuid() == 0:
        # For root there is no unreadable file; a path through a file fails in the same place.
        world.write("")
        (line,) = world.mistakes(config=world.file / "x")
        assert "cannot be read: Not a directory" in line
        return
    world.write("")
    world.file.chmod(0)
    (line,) = world.mistakes()
    assert "cannot be read: Permission denied" in line


def test_a_path_with_nul(world: World) -> None:
    (line,) = world.mistakes(config=Path("a\0b"))
    assert "not a usable path" in line
