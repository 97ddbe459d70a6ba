from pathlib import Path

import pytest

from agent.doctor.settings import broken_settings, data_directory_health, settings_health
from agent.settings import SettingsError
from tests.agent.doctor.conftest import Read


async def test_what_is_well_says_where_it_comes_from(read: Read, tmp_path: Path) -> None:
    lines = await settings_health(read())
    assert [(line.name, line.state) for line in lines] == [("settings", "ok"), ("data directory", "ok")]
    assert lines[0].text == str(tmp_path / "plugins.toml")
    assert "made at first start" in lines[1].text


def test_each_mistake_is_a_line_with_its_place(read: Read) -> None:
    with pytest.raises(SettingsError) as error:
        read("[agent]\nmodle = 1\n[nonsense]\n")
    lines = broken_settings(error.value)
    assert [line.state for line in lines] == ["fail", "fail"]
    assert "plugins.toml:2" in lines[0].text
    assert all("plugins.toml" in line.remedy for line in lines)


async def test_secrets_are_named_and_never_shown(read: Read, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("hunter2")
    (tmp_path / "key").chmod(0o644)
    text = '[agent]\napi_key = "file:key"\nsecret_key = "env:MISSING"\n[database]\nurl = "env:DB"\n'
    lines = await settings_health(read(text, {"DB": "postgresql://a:hunter3@localhost/x"}))
    found = {(line.name, line.state): line for line in lines}
    assert "agent.secret_key" in found["secret", "fail"].text
    assert "MISSING" in found["secret", "fail"].text
    assert "chmod 600" in found["settings", "warn"].text
    assert {line.text for line in lines if line.name == "secret" and line.state == "ok"} == {
        "agent.api_key (file:key)",
        "database.url (env:DB)",
    }
    assert "hunter" not in str(lines)
    assert all(line.remedy for line in lines if line.state != "ok")


def test_a_data_directory_that_cannot_be_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    line = data_directory_health(tmp_path / "file" / "data")
    assert (line.state, line.remedy) == ("fail", "choose another with --data DIR")
