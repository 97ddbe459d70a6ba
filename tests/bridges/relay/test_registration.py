import re
import stat
from pathlib import Path

import pytest

from agent.cli.entry import run_command
from bridges.relay.names import Names
from bridges.relay.registration import Tokens, registration
from bridges.relay.settings import RelaySettings


def value(text: str, key: str) -> str:
    found = re.search(rf'{key}: "(.*)"', text)
    assert found, text
    return found[1].replace("\\\\", "\\")


def test_the_expressions_are_anchored_and_match_no_other_server() -> None:
    settings = RelaySettings(homeserver="https://a.b", server_name="a.b")
    names = Names(settings.prefix, settings.localpart, settings.server_name)
    text = registration(settings, names, Tokens.fresh())
    found = re.search(r'regex: "(.*)"', text)
    assert found
    pattern = found[1].replace("\\\\", "\\")
    assert re.search(pattern, "@_isthmus_1:a.b")
    for other in ("@_isthmus_1:aXb", "@_isthmus_1:a.b.evil", "x@_isthmus_1:a.b", "@_isthmus_:a.b"):
        assert not re.search(pattern, other)
    assert value(text, "url") == "http://127.0.0.1:9465"


def test_tokens_do_not_show() -> None:
    tokens = Tokens.fresh()
    assert tokens.to_homeserver not in repr(tokens)
    assert tokens.from_homeserver not in repr(tokens)
    assert Tokens.fresh() != Tokens.fresh()


def test_the_command_line_writes_links_and_parts(
    tmp_path: Path, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "plugins.toml"
    config.write_text(
        f'[database]\nurl = "{database_url}"\n'
        '[bridges.relay]\nenabled = true\nhomeserver = "https://a.b"\nserver_name = "a.b"\n'
    )

    def run(*words: str) -> tuple[int, str]:
        code = run_command(["relay", *words, "--config", str(config), "--data", str(tmp_path / "data")])
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    assert run("registration")[0] == 0
    file = tmp_path / "data" / "relay-registration.yaml"
    first = file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert run("registration")[0] == 0
    assert file.read_text() == first
    assert run("registration", "--fresh")[0] == 0
    assert value(file.read_text(), "as_token") != value(first, "as_token")
    assert run("link", "!room:a.b", "discord:123456789012345678")[0] == 0
    code, told = run("link", "!room:a.b", "discord:223456789012345678")
    assert (code, "already" in told) == (1, True)
    assert run("link", "room", "123")[0] == 2
    assert run("link", "!other:a.b", "general")[0] == 2
    assert "discord:123456789012345678" in run("list")[1]
    assert run("unlink", "discord:123456789012345678")[0] == 0
    assert "ending" in run("list", "--json")[1]
    assert run("unlink", "!nothing")[0] == 1
