from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import BaseModel, Field, ValidationError

from agent.settings import ExtensionSettings, Secret, Section, SettingsError
from agent.settings.load import built_in_defaults
from tests.agent.settings.conftest import World

ROOT = Path(__file__).parents[3]


class Decay(Section):
    enabled: bool = True
    days: int = Field(default=30, ge=1)


class Memory(Section):
    max_server_memories: Annotated[int, Field(ge=1)] = 100
    max_personal_memories: int = 100
    max_memory_length: int = 1000
    decay: Decay = Decay()
    label: str = "memory"
    bot_token: Secret | None = None


def memory_model(kind: str, name: str, section: ExtensionSettings) -> type[BaseModel] | None:
    assert section.enabled
    return Memory if (kind, name) == ("plugins", "memory") else None


def test_the_repositorys_file_equals_the_built_in_defaults(world: World) -> None:
    text = (ROOT / "plugins.toml").read_text()
    assert text == (ROOT / "agent/settings/defaults.toml").read_text()
    built_in = world.load()
    assert built_in.source is None
    assert world.load(text).settings == built_in.settings
    assert built_in.settings.plugins["memory"].enabled


def test_commented_keys_of_the_file_show_the_real_defaults(world: World) -> None:
    text = (ROOT / "plugins.toml").read_text()
    defaults = world.load().settings
    uncommented = tomllib.loads(re.sub(r"^# (?=(?:\[|[a-z_]+ = ))", "", text, flags=re.MULTILINE))
    examples = {
        "base_url",
        "api_key",
        "avatar",
        "prompt",
        "secret_key",
        "daily_answers",
        "daily_spend",
        "costs",
        "deadlines",
    }
    compared = 0
    for section in ("agent", "database", "logging", "metrics"):
        model = getattr(defaults, section)
        assert set(uncommented[section]) == set(type(model).model_fields), section
        for key, value in uncommented[section].items():
            if key == "limits":
                assert set(value) == set(type(model.limits).model_fields)
                shown = {name: item for name, item in value.items() if name not in examples}
                assert {name: getattr(model.limits, name) for name in shown} == shown
            elif key == "url":
                assert model.resolve_url() == value
            elif key not in examples:
                compared += 1
                given = getattr(model, key)
                assert (list(given) if isinstance(given, tuple) else given) == value, key
    assert compared > 10
    # The examples must be valid too.
    world.load(re.sub(r"^# (?=(?:\[|[a-z_]+ = ))", "", text, flags=re.MULTILINE))


def test_order_config_option_then_working_directory_then_users_directory_then_defaults(world: World) -> None:
    assert world.load().settings.agent.name == "Isthmus"
    (world.config_dir / "plugins.toml").write_text('[agent]\nname = "user"')
    assert world.load().settings.agent.name == "user"
    assert world.load('[agent]\nname = "here"').settings.agent.name == "here"
    (world.cwd / "other.toml").write_text('[agent]\nname = "option"')
    loaded = world.load(config=Path("other.toml"))
    assert loaded.settings.agent.name == "option"
    assert loaded.source == world.cwd / "other.toml"
    assert loaded.data_dir == world.data


def test_a_file_says_only_what_differs(world: World) -> None:
    loaded = world.load("[plugins.memory]\nmax_server_memories = 5")
    assert loaded.settings.plugins["memory"].options["max_server_memories"] == 5
    assert loaded.settings.plugins["memory"].options["max_personal_memories"] == 100


def test_settings_are_frozen(world: World) -> None:
    settings = world.load().settings
    with pytest.raises(ValidationError):
        settings.agent.name = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        settings.plugins["memory"].enabled = False  # type: ignore[misc]


def test_every_mistake_is_reported_in_one_run(world: World) -> None:
    text = """\
[agent]
modle = "offline"
name = 3
tool_calls = 4

[agent.limits]
queue = 0

[plugin.memory]
enabled = true

[plugins.memory]
max_sever_memories = 5
max_memory_length = "long"
optional = "yes"
decay = { enabled = 3, dais = 4 }

[logging]
level = "inof"
"""
    environ = {"ISTHMUS__METRICS__PROT": "1", "ISTHMUS__METRICS__PORT": "99999", "ISTHMUS__PLUGINS__MEMORY__LABLE": "x"}
    assert sorted(world.mistakes(text, environ, section_model=memory_model)) == sorted(
        [
            "plugins.toml:2: agent.modle: no such key (did you mean model?)",
            "plugins.toml:3: agent.name = 3: expected a text in quotes",
            "plugins.toml:4: agent.tool_calls: no such key (did you mean limits.tool_calls?)",
            "plugins.toml:7: agent.limits.queue = 0: expected at least 1",
            "plugins.toml:9: plugin: no such section (did you mean plugins?)",
            "plugins.toml:13: plugins.memory.max_sever_memories: no such key (did you mean max_server_memories?)",
            'plugins.toml:14: plugins.memory.max_memory_length = "long": expected a whole number',
            'plugins.toml:15: plugins.memory.optional = "yes": expected true or false',
            "plugins.toml:16: plugins.memory.decay.dais: no such key (did you mean days?)",
            "plugins.toml:16: plugins.memory.decay.enabled = 3: expected true or false",
            (
                'plugins.toml:19: logging.level = "inof": expected one of '
                "'debug', 'info', 'warning' or 'error' (did you mean info?)"
            ),
            "ISTHMUS__METRICS__PROT: metrics.prot: no such key (did you mean ISTHMUS__METRICS__PORT?)",
            "ISTHMUS__METRICS__PORT: metrics.port = 99999: expected at most 65535",
            (
                "ISTHMUS__PLUGINS__MEMORY__LABLE: plugins.memory.lable: no such key "
                "(did you mean ISTHMUS__PLUGINS__MEMORY__LABEL?)"
            ),
        ]
    )


def test_mistakes_come_in_the_order_of_the_file(world: World) -> None:
    lines = world.mistakes("[plugins.memory]\nlable = 1\n[agent]\nnme = 1\n", section_model=memory_model)
    assert [line.split(": ")[0] for line in lines] == ["plugins.toml:2", "plugins.toml:4"]


def test_an_unknown_key_shows_no_value(world: World) -> None:
    lines = world.mistakes('[agent]\napi_kee = "sk-canary"\n')
    assert lines == ["plugins.toml:2: agent.api_kee: no such key (did you mean api_key?)"]


def test_sections_that_are_no_tables(world: World) -> None:
    assert world.mistakes('agent = 1\nplugins = "all"\nbridges = { discord = true }\n', section_model=memory_model) == [
        "plugins.toml:1: agent = 1: expected a table",
        'plugins.toml:2: plugins = "all": expected a table',
        "plugins.toml:3: bridges.discord = true: expected a table",
    ]


@pytest.mark.parametrize("value", ["true", "1.5", '"4"', "[]"])
def test_a_whole_number_is_not_made_of_other_types(world: World, value: str) -> None:
    (line,) = world.mistakes(f"[agent.limits]\nqueue = {value}\n")
    assert line.startswith("plugins.toml:2: agent.limits.queue = ")
    assert line.endswith("expected a whole number")


def test_disabled_extensions_may_hold_anything_and_need_not_exist(world: World) -> None:
    text = '[plugins.nowhere]\nenabled = false\nany = "thing"\n[bridges.discord]\nenabled = false\nunknown = 1\n'
    settings = world.load(text, section_model=memory_model).settings
    assert not settings.plugins["nowhere"].enabled
    assert not settings.bridges["discord"].enabled


def test_a_plugins_own_key_may_be_called_like_the_hosts_keys_deeper_down(world: World) -> None:
    lines = world.mistakes("[plugins.memory.decay]\nenabled = 7\n", section_model=memory_model)
    assert lines == ["plugins.toml:2: plugins.memory.decay.enabled = 7: expected true or false"]


def test_extension_settings_are_validated_with_lines_later_too(world: World) -> None:
    loaded = world.load("[plugins.memory]\n\nmax_server_memories = 0\n")
    section = loaded.settings.plugins["memory"]
    with pytest.raises(SettingsError) as caught:
        loaded.validate_section(section, Memory, "plugins.memory")
    assert str(caught.value) == "plugins.toml:3: plugins.memory.max_server_memories = 0: expected at least 1"


def test_an_extension_may_have_any_name(world: World) -> None:
    lines = world.mistakes('[plugins]\n"a.b".label = 1\n', section_model=lambda *_: Memory)
    assert lines == ['plugins.toml:2: plugins."a.b".label = 1: expected a text in quotes']


def test_built_in_defaults_are_fresh_each_time() -> None:
    built_in_defaults()["plugins"].clear()
    assert built_in_defaults()["plugins"]
