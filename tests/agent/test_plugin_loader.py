from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import plugins
from agent.plugin_host import PluginHost, State
from agent.plugin_loader import load_plugins, section_model
from agent.settings import LoadedSettings, SettingsError, load_settings
from tests.default_plugins import DEFAULT_PLUGINS, without_defaults

type Load = Callable[[str], PluginHost]
BAD = "tests.bad_plugins"


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], LoadedSettings]:
    def read(text: str, **options: Any) -> LoadedSettings:
        (tmp_path / "plugins.toml").write_text(without_defaults(text))
        return load_settings(None, {}, tmp_path, tmp_path, data_dir=tmp_path, **options)

    return read


@pytest.fixture
def load(read: Callable[[str], LoadedSettings]) -> Load:
    return lambda text: load_plugins(read(text))


type Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write a file below a folder that modules are imported from."""
    folder = tmp_path / "modules"
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(plugins, "__path__", [*plugins.__path__, str(folder / "plugins")])
    before = set(sys.modules)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(name: str, text: str) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        importlib.invalidate_caches()

    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


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


def test_a_module_below_plugins_is_found_by_its_name(load: Load, write: Write) -> None:
    write("plugins/weather/__init__.py", "class Plugin:\n    name = 'weather'\n")
    host = load("[plugins.weather]\nenabled = true\n")
    assert host.packages == {"weather": "plugins.weather"}


OFFERED = "class Weather:\n    name = 'weather'\n"


def offer(write: Write, distribution: str, target: str, name: str = "weather") -> None:
    write(f"{distribution}-1.0.dist-info/METADATA", f"Name: {distribution}\nVersion: 1.0\n")
    write(f"{distribution}-1.0.dist-info/entry_points.txt", f"[isthmus.plugins]\n{name} = {target}\n")


@pytest.mark.parametrize("target", ["isthmus_weather", "isthmus_weather:Weather"])
def test_an_installed_distribution_offers_a_plugin(load: Load, write: Write, target: str) -> None:
    write("isthmus_weather.py", OFFERED)
    offer(write, "isthmus_weather", target)
    assert load("[plugins.weather]").packages == {"weather": "isthmus_weather"}


def test_two_distributions_that_offer_one_name_are_refused(load: Load, write: Write) -> None:
    offer(write, "one", "one:Weather")
    offer(write, "two", "two:Weather")
    (line,) = problems(load, "[plugins.weather]")
    assert line.endswith(": two distributions offer a plugin 'weather' (one:Weather, two:Weather): remove one")


def test_a_name_that_nobody_offers(load: Load, write: Write) -> None:
    offer(write, "isthmus_weather", "isthmus_weather")
    (line,) = problems(load, "[plugins.wether]")
    assert "there is no plugin 'wether' (did you mean weather?): neither a module plugins.wether nor an" in line


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("class One:\n    name = 'odd'\nclass Two:\n    name = 'two'\n", "has 2 classes with a name: call one Plugin"),
        ("from tests.bad_plugins.raises import Plugin\n", "has no class with a name: call one Plugin"),
        ("class Plugin:\n    name = 'even'\n", "its class is named 'even': write [plugins.even]"),
        ("class Plugin:\n    name = 3\n", "has no name: give its class a text `name`, not int"),
        ("class Plugin:\n    name = 'odd'\n    Settings = dict\n", "its `Settings` is not a pydantic model"),
        (
            "from agent.settings import Section\nclass Plugin:\n    name = 'odd'\n    class Settings(Section): ...\n",
            "could not be built: TypeError: Plugin() takes no arguments; with a Settings model it is built as",
        ),
        ("import plugins.odd.gone\n", "cannot be imported: ModuleNotFoundError: No module named 'plugins.odd.gone'"),
    ],
)
def test_a_module_without_a_clear_plugin(load: Load, write: Write, text: str, says: str) -> None:
    write("plugins/odd.py", text)
    (line,) = problems(load, "[plugins.odd]")
    assert says in line


def test_a_class_that_the_section_names(load: Load, write: Write) -> None:
    write("odd.py", "class One:\n    name = 'one'\nclass Two:\n    name = 'two'\n")
    assert set(load(section("one", "odd:One") + section("two", "odd:Two")).packages) == {"one", "two"}
    (line,) = problems(load, section("two", "odd:Too"))
    assert "module odd has no class 'Too' (did you mean Two?)" in line


@pytest.mark.parametrize("name", ["Odd", "'a.b'", "'../x'", "core", "''"])
def test_a_section_whose_name_is_none(load: Load, name: str) -> None:
    (line,) = problems(load, f"[plugins.{name}]")
    assert "its name " in line


def test_settings_are_given_and_mistakes_in_them_are_all_reported(load: Load) -> None:
    host = load(section("raises", None, 'spared = ["start", "stop"]'))
    plugin: Any = host.get("raises")
    assert plugin.spared == ["start", "stop"]
    text = section("raises", None, "spread = []", "optional = false") + section("circular_a", None, "days = 3")
    assert problems(load, text + section("circular_b")) == [
        "plugins.toml:3: plugins.raises.spread: no such key (did you mean spared?)",
        "plugins.toml:7: plugins.circular_a.days: no such key",
    ]


def test_hooks_are_called_in_the_order_of_the_file_and_disabled_plugins_are_known(load: Load, write: Write) -> None:
    for name in ("zebra", "ape", "mole"):
        requires = "('mole',)" if name == "ape" else "()"
        write(f"plugins/{name}.py", f"class Plugin:\n    name = '{name}'\n    requires = {requires}\n")
    host = load("[plugins.zebra]\n[plugins.ape]\n[plugins.mole]\n")
    states = [(status.name, status.state) for status in host.plugins]
    loaded = State.LOADED
    assert states == [("zebra", loaded), ("ape", loaded), ("mole", loaded)] + [
        (name, State.DISABLED) for name in DEFAULT_PLUGINS
    ]


def test_what_requires_an_optional_plugin_that_failed_fails_in_its_turn(load: Load, write: Write) -> None:
    write("plugins/needs.py", "class Plugin:\n    name = 'needs'\n    requires = ('import_error',)\n")
    broken = section("import_error", None, "optional = true")
    (line,) = problems(load, broken + "[plugins.needs]")
    assert line.endswith("plugins.needs: requires 'import_error', which could not be loaded")
    host = load(broken + "[plugins.needs]\noptional = true\n")
    assert {status.name: status.state for status in host.plugins} == {
        "import_error": State.FAILED,
        "needs": State.FAILED,
        **dict.fromkeys(DEFAULT_PLUGINS, State.DISABLED),
    }
    lines = problems(load, section("import_error") + "[plugins.needs]")
    assert [line.split(": ")[1] for line in lines] == ["plugins.import_error"]


def test_a_plugin_that_protects_people_cannot_be_optional(load: Load) -> None:
    (line,) = problems(load, section("raises", None, "optional = true"))
    assert "plugins.raises: cannot be optional, because it protects people (guard_memory_read, " in line
    assert line.endswith("remove optional = true, or set enabled = false")


def test_deadlines_are_taken_from_the_settings(load: Load) -> None:
    host = load("[agent.deadlines]\nrecall = 0.5\n" + section("raises"))
    assert {call.deadline for call in host._calls["recall"]} == {0.5}
    assert {call.deadline for call in host._calls["context_items"]} == {5.0}
    (line,) = problems(load, "[agent.deadlines]\nrecal = 0.5\n")
    assert line == "plugins.toml:2: agent.deadlines.recal: there is no hook 'recal' (did you mean recall?)"


def test_migrations_are_named_in_the_order_of_what_is_required(load: Load, write: Write) -> None:
    for name, requires in (("ape", "('mole',)"), ("mole", "()")):
        text = f"class Plugin:\n    name = '{name}'\n    requires = {requires}\n    migrations = 'plugins.{name}.m'\n"
        write(f"plugins/{name}/__init__.py", text)
    migrations = load("[plugins.ape]\n[plugins.mole]").migrations
    assert [(found.owner, found.package) for found in migrations] == [
        ("mole", "plugins.mole.m"),
        ("ape", "plugins.ape.m"),
    ]
