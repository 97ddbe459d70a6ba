from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from agent.settings import Secret, SecretError, Section, find_secrets, validate_section
from agent.settings.errors import SettingsError
from agent.settings.secrets import MAX_SECRET_BYTES
from tests.agent.settings.conftest import World

CANARY = "canary-7f3a9"


def test_a_variable_is_read_when_it_is_used() -> None:
    environ: dict[str, str] = {}
    secret = Secret.parse("env:TOKEN", environ)
    with pytest.raises(SecretError, match="secret env:TOKEN is not set: export TOKEN"):
        secret.resolve()
    environ["TOKEN"] = f" {CANARY}\n"
    assert secret.resolve().get_secret_value() == CANARY
    environ["TOKEN"] = " "
    assert secret.problem() == "secret env:TOKEN is empty"


def test_a_file_is_read_when_it_is_used_and_relative_to_the_settings(world: World) -> None:
    world.write('[agent]\napi_key = "file:keys/api"\n')
    key = world.load().settings.agent.api_key
    assert key is not None
    assert key.problem() == "secret file:keys/api cannot be read: No such file or directory"
    (world.cwd / "keys").mkdir()
    (world.cwd / "keys/api").write_text(f"\ufeff{CANARY}\n")
    assert key.resolve().get_secret_value() == CANARY


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"\xff", "is not UTF-8 text"),
        (b"x" * (MAX_SECRET_BYTES + 1), "larger than"),
    ],
)
def test_files_that_hold_no_secret(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(SecretError, match=reason) as caught:
        Secret.parse("file:key", base=tmp_path).resolve()
    assert caught.value.__cause__ is None


def test_a_directory_and_an_impossible_path(tmp_path: Path) -> None:
    assert Secret.parse(f"file:{tmp_path}").problem() == f"secret file:{tmp_path} cannot be read: Is a directory"
    assert "cannot be read: not a usable path" in (Secret.parse("file:a\0b").problem() or "")


@pytest.mark.parametrize("text", ["", "  ", "env:", "file: "])
def test_references_that_name_nothing(world: World, text: str) -> None:
    (line,) = world.mistakes(f'[agent]\napi_key = "{text}"\n')
    assert line.startswith("plugins.toml:2: agent.api_key = **********: ")


def test_nothing_shows_a_literal(world: World, caplog: pytest.LogCaptureFixture) -> None:
    text = f"""\
[agent]
api_key = "{CANARY}"
[database]
url = "postgresql://app:{CANARY}@db/app"
[bridges.discord]
token = "{CANARY}"
"""
    loaded = world.load(text)
    logging.getLogger("t").warning("%s %r %s", loaded, loaded, loaded.settings)
    shown = [
        repr(loaded),
        str(loaded.settings),
        repr(loaded.settings.bridges),
        str(loaded.settings.agent.model_dump()),
        loaded.settings.agent.model_dump_json(),
        loaded.settings.database.model_dump_json(),
        caplog.text,
        *map(str, loaded.warnings()),
        str(loaded.secrets()),
    ]
    assert not [text for text in shown if CANARY in text]
    assert CANARY in loaded.settings.database.resolve_url()


def test_errors_never_show_secrets(world: World) -> None:
    class Token(Section):
        code: SecretStr
        inner: Secret | None = None
        bot_token: str = ""

    text = f"""\
[agent]
api_key = ["{CANARY}"]
base_url = "ftp://ana:{CANARY}@host"
[database]
url = "mysql://app:{CANARY}@db/app"
"""
    environ = {"ISTHMUS__AGENT__SECRET_KEY": f'{{"{CANARY}": 1}}', "ISTHMUS__AGENT__AVATAR": f'["{CANARY}"]'}
    lines = world.mistakes(text, environ)
    assert len(lines) == 3
    assert not [line for line in lines if CANARY in line]
    section: dict[str, Any] = {"code": [CANARY], "inner": {CANARY: CANARY}, "bot_token": [CANARY], "x": CANARY}
    with pytest.raises(SettingsError) as caught:
        validate_section(section, Token, "plugins.t")
    assert len(caught.value.problems) == 4
    assert CANARY not in str(caught.value)


def test_doctor_hears_of_literals_and_of_files_that_others_can_read(world: World) -> None:
    (world.cwd / "open").write_text(CANARY)
    (world.cwd / "open").chmod(0o640)
    (world.cwd / "closed").write_text(CANARY)
    (world.cwd / "closed").chmod(0o600)
    text = f"""\
[agent]
api_key = "{CANARY}"
secret_key = "file:closed"
[bridges.discord]
token = "file:open"
[bridges.matrix]
enabled = false
password = "{CANARY}"
"""
    loaded = world.load(text, {"ISTHMUS__PLUGINS__MEMORY__API_KEY": CANARY})
    assert [str(warning) for warning in loaded.warnings()] == [
        "plugins.toml:2: agent.api_key: the secret stands in the settings themselves: move it to env:NAME or file:PATH",
        (
            "plugins.toml:5: bridges.discord.token: file:open can be read by others than its owner: "
            f"chmod 600 {world.cwd}/open"
        ),
    ]
    assert loaded.problems() == ()


def test_doctor_hears_of_secrets_that_cannot_be_read(world: World) -> None:
    loaded = world.load('[agent]\napi_key = "env:GONE"\n[bridges.discord]\n\ntoken = "file:gone"\n')
    assert [str(problem) for problem in loaded.problems()] == [
        "plugins.toml:2: agent.api_key: secret env:GONE is not set: export GONE, or name another one in the settings",
        "plugins.toml:5: bridges.discord.token: secret file:gone cannot be read: No such file or directory",
    ]


def test_secrets_compare_by_reference_and_travel() -> None:
    assert Secret.parse("env:A", {"A": "1"}) == Secret.parse("env:A", {"A": "2"})
    assert pickle.loads(pickle.dumps(Secret.parse("file:a"))) == Secret.parse("file:a")  # noqa: S301 - our own bytes


def test_secrets_are_found_in_lists_and_tables() -> None:
    value = {"a": [{"token": "x"}, "env:B"], "tokens": ["env:C"], "plain": "x", "n": 3}
    found = [(path, str(secret)) for path, secret in find_secrets(value)]
    assert found == [
        (("a", 0, "token"), "**********"),
        (("a", 1), "env:B"),
        (("tokens", 0), "env:C"),
    ]


@pytest.mark.parametrize(
    ("url", "embedded"), [("embedded", True), ("postgresql://u@h/d", False), ("postgres://u@h/d", False)]
)
def test_database_urls(world: World, url: str, embedded: bool) -> None:
    database = world.load(f'[database]\nurl = "{url}"\n').settings.database
    assert database.embedded is embedded
    assert database.resolve_url() == url


def test_a_database_url_from_a_variable_is_checked_at_use(world: World) -> None:
    database = world.load('[database]\nurl = "env:DB"\n', {"DB": f"mysql://{CANARY}@h"}).settings.database
    assert not database.embedded
    with pytest.raises(ValueError, match="expected") as caught:
        database.resolve_url()
    assert CANARY not in str(caught.value)
