from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.bridge_loader import LoadedBridges, load_bridges
from agent.settings import SettingsError, load_settings

type Load = Callable[[str], LoadedBridges]

BRIDGE = """
from agent.bridge import Bridge as Protocol, Capabilities
from agent.settings import Section

class {name}:
    class Settings(Section):
        token: str = "none"
        platform: str = "morse"

    name = "{name}".lower()
    capabilities = Capabilities(100, has_idempotency_key=True)

    def __init__(self, settings):
        self.token = settings.token
        self.platform = settings.platform

    def identity(self): return self.token
    def agent_keys(self): return frozenset()
    async def start(self, host): ...
    async def stop(self): ...
    async def send(self, message): ...
    async def find_sent(self, message): ...
    async def edit(self, message_id, message): ...
    async def withdraw(self, message): ...
    async def history(self, server, channel, limit): ...
    async def fetch(self, attachment, limit): ...

    async def typing(self, channel): ...
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in ("Morse", "Flags"):
        (tmp_path / f"a_bridge_of_{name.lower()}.py").write_text(BRIDGE.format(name=name))
    (tmp_path / "a_bridge_of_nothing.py").write_text(
        "class Bridge:\n    name = 'nothing'\n    async def start(self, host): ...\n"
    )

    def load(text: str) -> LoadedBridges:
        (tmp_path / "plugins.toml").write_text(text)
        return load_bridges(load_settings(None, {}, tmp_path, tmp_path, data_dir=tmp_path))

    yield load
    for name in set(sys.modules) - before:
        del sys.modules[name]


def section(name: str, *lines: str) -> str:
    return "\n".join([f"[bridges.{name}]", f'module = "a_bridge_of_{name}"', *lines, ""])


def test_bridges_are_built_with_their_settings(load: Load) -> None:
    loaded = load(section("morse", 'token = "dash"') + section("flags", "enabled = false"))
    (bridge,) = loaded.bridges
    assert (bridge.name, bridge.platform, bridge.identity()) == ("morse", "morse", "dash")
    assert loaded.disabled == ("flags",)
    assert loaded.optional == frozenset()


def test_problems_are_reported_together_with_their_lines(load: Load) -> None:
    text = section("morse", "tokne = 3") + section("nothing") + section("gone")
    with pytest.raises(SettingsError) as caught:
        load(text)
    assert [line.removeprefix("plugins.toml:") for line in str(caught.value).splitlines()] == [
        "3: bridges.morse.tokne: no such key (did you mean token?)",
        "4: bridges.nothing: its `platform` must be a text",
        "4: bridges.nothing: its `capabilities` must be agent.bridge.Capabilities",
        (
            "4: bridges.nothing: it has no method identity, agent_keys, stop, send, find_sent, edit, withdraw, "
            "history, fetch, typing"
        ),
        "6: bridges.gone: cannot be imported: ModuleNotFoundError: No module named 'a_bridge_of_gone'",
    ]


def test_two_bridges_cannot_serve_one_platform(load: Load) -> None:
    with pytest.raises(SettingsError, match="bridge morse already serves platform 'morse': enable one of them"):
        load(section("morse") + section("flags"))
    both = load(section("morse") + section("flags", 'platform = "flags"', "optional = true"))
    assert [bridge.platform for bridge in both.bridges] == ["morse", "flags"]
    assert both.optional == {"flags"}


def test_an_optional_bridge_that_cannot_be_loaded_is_left_out(load: Load) -> None:
    loaded = load(section("morse") + section("gone", "optional = true"))
    assert [bridge.name for bridge in loaded.bridges] == ["morse"]
    assert [failed.name for failed in loaded.failed] == ["gone"]
