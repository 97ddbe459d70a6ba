from __future__ import annotations

import stat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from hypothesis import given
from hypothesis import strategies as st

from agent.secrets import KEY_FILE, SecretBox, drop_old_keys, key_warning, open_box, rotate_key, secret_key
from agent.settings import Secret, SecretError


def test_the_key_is_made_once_with_mode_600(tmp_path: Path) -> None:
    data = tmp_path / "data"
    keys = secret_key(data)
    assert secret_key(data) == keys
    assert stat.S_IMODE((data / KEY_FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert sorted(path.name for path in data.iterdir()) == [KEY_FILE, f"{KEY_FILE}.lock"]


def test_processes_that_start_at_once_share_one_key(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        assert len(set(pool.map(secret_key, [tmp_path] * 8))) == 1


@given(st.text(alphabet=st.characters()))
def test_what_is_encrypted_comes_back(text: str) -> None:
    box = SecretBox((Fernet.generate_key().decode(),), "test")
    token = box.encrypt(text)
    assert token.isascii()
    assert box.decrypt(token) == text


def test_rotation_keeps_what_was_encrypted_before(tmp_path: Path) -> None:
    token = open_box(tmp_path).encrypt("canary")
    old = open_box(tmp_path)
    box = rotate_key(tmp_path)
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600
    assert box.decrypt(token) == open_box(tmp_path).decrypt(token) == "canary"
    renewed = box.rotate(token)
    with pytest.raises(SecretError, match="does not hold"):
        old.decrypt(renewed)
    drop_old_keys(tmp_path)
    assert open_box(tmp_path).decrypt(renewed) == "canary"
    for call in (open_box(tmp_path).decrypt, open_box(tmp_path).rotate):
        with pytest.raises(SecretError, match="restore the key from a backup, or enter the secret again"):
            call(token)


def test_a_failed_write_keeps_the_old_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = secret_key(tmp_path)

    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agent.secrets.os.fsync", fail)
    with pytest.raises(SecretError, match="No space left on device"):
        rotate_key(tmp_path)
    assert secret_key(tmp_path) == keys
    assert sorted(path.name for path in tmp_path.iterdir()) == [KEY_FILE, f"{KEY_FILE}.lock"]


def test_the_key_of_the_settings_takes_precedence(tmp_path: Path) -> None:
    first, second = (Fernet.generate_key().decode() for _ in range(2))
    token = open_box(tmp_path, Secret.parse(first)).encrypt("canary")
    assert open_box(tmp_path, Secret.parse("env:KEYS", {"KEYS": f"{second}, {first}"})).decrypt(token) == "canary"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b" \n", b"not a key\n", b"\xff\xfe" * 40])
def test_a_damaged_key_file_says_what_to_do(tmp_path: Path, content: bytes) -> None:
    (tmp_path / KEY_FILE).write_bytes(content)
    with pytest.raises(SecretError, match=r"secret\.key .*[Rr]estore it from a backup"):
        open_box(tmp_path)


def test_a_data_directory_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SecretError, match=r"secret\.key cannot be used: .* name another with --data"):
        open_box(tmp_path / "file")
    (tmp_path / KEY_FILE).mkdir()
    with pytest.raises(SecretError, match="Is a directory"):
        open_box(tmp_path)


@pytest.mark.parametrize("token", ["", "x", "gAAAAA", "\ud800", "ä"])
def test_what_is_no_token_is_one_clear_error(tmp_path: Path, token: str) -> None:
    box = open_box(tmp_path)
    for call in (box.decrypt, box.rotate):
        with pytest.raises(SecretError):
            call(token)


def test_a_key_file_that_others_can_read_is_a_warning(tmp_path: Path) -> None:
    assert key_warning(tmp_path) is None
    secret_key(tmp_path)
    assert key_warning(tmp_path) is None
    (tmp_path / KEY_FILE).chmod(0o644)
    assert "chmod 600" in (key_warning(tmp_path) or "")


def test_nothing_shows_a_key(tmp_path: Path) -> None:
    box = open_box(tmp_path)
    assert not [key for key in secret_key(tmp_path) if key in repr(box) + repr(vars(box))]
