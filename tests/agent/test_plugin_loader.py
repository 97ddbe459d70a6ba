from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.plugin_host import PluginHost, State
from agent.plugin_loader import load_plugins, section_model
from agent.settings import LoadedSettings, SettingsError, load_settings

type Load = Callable[[str], PluginHost]
BAD = "tests.bad_plugins"


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], LoadedSettings]:
    def read(text: str, **options: Any) -> LoadedSettings:
        if "[plugins.memory]" not in text:
            text += "\n[plugins.memory]\nenabled = false\n"
        (tmp_path / "plugins.toml").write_text(text)
        return load_settings(None, {}, tmp_path, tmp_path, data_dir=tmp_path, **options)

    return read


@pytest.fixture
def load(read: Callable[[str], LoadedSettings]) -> Load:
    return lambda text: load_plugins(read(text))


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Write a module that can be imported by that name."""
    monkeypatch.syspath_prepend(tmp_path / "modules")
    (tmp_path / "modules").mkdir()

    def write(name: str, text: str) -> None:
        (tmp_path / "modules" / f"{name}.py").write_text(text)

    return write


def section(name: str, module: str | None = None, *lines: str) -> str:
    return "\n".join([f"[plugins.{name}]", f'module = "{module or f"{BAD}.{name}"}"', *lines, ""])


def problems(load: Load, text: str) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load(text)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("misspelled", "method context_itmes: there is no hook 'context_itmes' (did you mean context_items?)"),
        (
            "wrong_signature",
            "method recall takes 'qeury': hook recall is called with (turn, query) (did you mean query?)",
        ),
        ("unmarked", "method guard_turn bears the name of a hook: put @hookimpl above it, or rename it"),
        (
            "missing_requirement",
            "requires 'nowhere', which is not enabled: set enabled = true in [plugins.nowhere]",
        ),
        (
            "import_error",
            "cannot be imported: ModuleNotFoundError: No module named 'a_library_that_is_not_installed' ",
        ),
        ("syntax_error", "cannot be imported: SyntaxError: '(' was never closed (syntax_error.py, line 4)"),
        ("exits_at_import", "cannot be imported: SystemExit: 3 "),
        ("fails_to_build", "could not be built: OSError: no such device "),
        ("nowhere", "cannot be imported: ModuleNotFoundError: No module named 'tests.bad_plugins.nowhere'"),
    ],
)
def test_a_bad_plugin_is_one_clear_line_unless_it_is_optional(load: Load, name: str, says: str) -> None:
    (line,) = problems(load, section(name))
    assert line.startswith(f"plugins.toml:1: plugins.{name}: {says}")
    host = load(section(name, None, "optional = true"))
    status = next(status for status in host.plugins if status.name == name)
    assert status.state is State.FAILED
    assert status.reason.startswith(says)
    asyncio.run(host.stop())


def test_all_problems_are_reported_together(load: Load) -> None:
    names = ("misspelled", "wrong_signature", "import_error", "circular_a", "circular_b")
    found = problems(load, "\n".join(section(name) for name in names))
    assert [line.split(": ")[1] for line in found] == [f"plugins.{name}" for name in names[:-1]]
    assert "requires itself: circular_a requires circular_b requires circular_a" in found[-1]


def test_two_plugins_cannot_share_a_name(load: Load) -> None:
    text = section("duplicate", f"{BAD}.duplicate_one") + section("other", f"{BAD}.duplicate_two")
    (line,) = problems(load, text)
    assert line.endswith(
        "its class is named 'duplicate', as is another: two cannot share a name, so enable one of them"
    )


def test_settings_are_checked_in_the_run_that_reads_them(read: Callable[..., LoadedSettings]) -> None:
    with pytest.raises(SettingsError) as caught:
        read("[agent]\nnmae = 1\n" + section("raises", None, "sparde = []"), section_model=section_model)
    assert [problem.nearest for problem in caught.value.problems] == ["name", "spared"]
