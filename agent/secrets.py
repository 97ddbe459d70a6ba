"""What is encrypted at rest (webhook tokens, access tokens of platforms), and the key that does it.

The key file lies in the data directory (mode 600, made at first start) and holds one key a line, the current one
first: what was encrypted with an older one can still be read, and `rotate()` writes it anew with the current one.
`[agent] secret_key` takes the file's place when it is set.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent.redaction import remember_secret
from agent.settings.errors import SecretError

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

    from agent.settings.secrets import Secret

KEY_FILE = "secret.key"
MAX_KEY_BYTES = 64 * 1024


class SecretBox:
    """Encrypts and decrypts short texts. Its repr shows nothing of its keys."""

    def __init__(self, keys: tuple[str, ...], source: str) -> None:
        """Take Fernet keys, the current one first; errors call their origin `source`. Raises SecretError."""
        from cryptography.fernet import Fernet, MultiFernet

        self._source = source
        try:
            self._fernet: MultiFernet = MultiFernet([Fernet(key) for key in keys])
        except ValueError:
            raise SecretError(
                f"{source} holds no usable key: each must be 32 bytes in URL-safe base64, 44 characters. "
                "Restore it from a backup"
            ) from None

    def encrypt(self, text: str) -> str:
        """The text encrypted with the current key, as ASCII."""
        return self._fernet.encrypt(text.encode("utf-8", "surrogatepass")).decode("ascii")

    def decrypt(self, token: str) -> str:
        """The text. Raises SecretError when no key fits."""
        from cryptography.fernet import InvalidToken

        try:
            text = self._fernet.decrypt(token.encode()).decode("utf-8", "surrogatepass")
        except (InvalidToken, UnicodeError):
            raise SecretError(self._lost()) from None
        remember_secret(text)
        return text

    def rotate(self, token: str) -> str:
        """The same secret, encrypted with the current key. Raises SecretError when no key fits."""
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet.rotate(token.encode()).decode("ascii")
        except (InvalidToken, UnicodeError):
            raise SecretError(self._lost()) from None

    def _lost(self) -> str:
        return (
            f"a stored secret was encrypted with a key that {self._source} does not hold: restore the key from a "
            "backup, or enter the secret again"
        )


def open_box(data_dir: Path, configured: Secret | None = None) -> SecretBox:
    """The box of this deployment: its key from the settings, else from the data directory (made when missing).

    Raises SecretError with the way out.
    """
    if configured is not None:
        keys = tuple(configured.resolve().get_secret_value().replace(",", " ").split())
        return SecretBox(keys, f"[agent] secret_key ({configured})")
    return SecretBox(secret_key(data_dir), str(data_dir / KEY_FILE))


def secret_key(data_dir: Path) -> tuple[str, ...]:
    """The keys of the key file, the current one first; the file is made at first start.

    Several processes may start at once: all of them get the same key. Raises SecretError.
    """
    path = data_dir / KEY_FILE
    with _described(path):
        if not path.exists():
            with _locked(data_dir):
                if not path.exists():
                    _write(path, (_new_key(),))
        return _read(path)


def rotate_key(data_dir: Path) -> SecretBox:
    """Put a new key before the old ones. Then `rotate()` every stored secret, and `drop_old_keys()`."""
    path = data_dir / KEY_FILE
    with _described(path), _locked(data_dir):
        keys = _read(path) if path.exists() else ()
        _write(path, (_new_key(), *keys))
        return SecretBox(_read(path), str(path))


def drop_old_keys(data_dir: Path) -> None:
    """Keep the current key alone; what is encrypted with an older one is lost from here on."""
    path = data_dir / KEY_FILE
    with _described(path), _locked(data_dir):
        _write(path, _read(path)[:1])


def key_warning(data_dir: Path) -> str | None:
    """What an operator should mend about the key file, or None."""
    path = data_dir / KEY_FILE
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    return f"{path} can be read by others than its owner: chmod 600 {path}" if stat.S_IMODE(mode) & 0o077 else None


def _new_key() -> str:
    from cryptography.fernet import Fernet

    return Fernet.generate_key().decode("ascii")


def _read(path: Path) -> tuple[str, ...]:
    with path.open("rb") as file:
        content = file.read(MAX_KEY_BYTES)
    keys = tuple(content.decode("ascii", "replace").split())
    if not keys:
        raise SecretError(f"{path} is empty: restore it from a backup (or delete it, when nothing is encrypted yet)")
    for key in keys:
        remember_secret(key)
    return keys


def _write(path: Path, keys: tuple[str, ...]) -> None:
    """Replace the file as a whole: a crash leaves the old keys or the new ones, never half a file."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mkstemp's mode is 600
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write("".join(f"{key}\n" for key in keys))
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


@contextmanager
def _locked(data_dir: Path) -> Iterator[None]:
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(data_dir / f"{KEY_FILE}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _described(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SecretError(
            f"the key file {path} cannot be used: {error.strerror}. Mend the data directory, "
            "or name another with --data"
        ) from None
