"""References to secrets: `env:NAME`, `file:PATH`, or the secret itself.

A `Secret` holds where the secret is, and reads it only when it is used. Neither its `repr`, nor its text, nor a
dump of the model that holds it, nor an error ever shows the value.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, SecretStr
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from agent.redaction import HIDDEN, names_a_secret, remember_secret
from agent.settings.errors import KeyPath, SecretError

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, ValidationInfo

MAX_SECRET_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """Where a secret is. Compare, copy and log it freely; only `resolve()` reads the value."""

    kind: Literal["env", "file", "literal"]
    name: str
    """The variable or the path as it was written; empty for a literal."""
    _literal: SecretStr | None = None
    _environ: Mapping[str, str] | None = field(default=None, compare=False)
    _base: Path | None = field(default=None, compare=False)

    @classmethod
    def parse(cls, text: str, environ: Mapping[str, str] | None = None, base: Path | None = None) -> Secret:
        """Read `env:NAME`, `file:PATH` (relative to `base`) or a literal.

        Raises ValueError when the text is empty, or a prefix stands alone.
        """
        kind, colon, rest = text.partition(":")
        if colon and kind in {"env", "file"}:
            if not rest.strip():
                raise ValueError(f"{kind}: needs a {'variable name' if kind == 'env' else 'path'} after the colon")
            return cls("env" if kind == "env" else "file", rest.strip(), None, environ, base)
        if not text.strip():
            raise ValueError("is empty: give env:NAME, file:PATH, or leave the key out")
        return cls("literal", "", SecretStr(text))

    def __repr__(self) -> str:
        """Name the reference; a literal is never shown."""
        return f"Secret({self})"

    def __str__(self) -> str:
        """`env:NAME`, `file:PATH`, or asterisks for a literal."""
        return HIDDEN if self.kind == "literal" else f"{self.kind}:{self.name}"

    @property
    def literal(self) -> SecretStr | None:
        """The value itself where the settings hold it."""
        return self._literal

    @property
    def path(self) -> Path:
        """The file of a `file:` secret, absolute where the base is known."""
        path = Path(self.name).expanduser()
        return path if self._base is None else self._base / path

    def resolve(self) -> SecretStr:
        """Read the secret now (a small file or a variable), and keep it out of the logs from now on.

        Raises SecretError with the way out.
        """
        if self._literal is not None:
            remember_secret(self._literal.get_secret_value())
            return self._literal
        value = self._from_variable() if self.kind == "env" else self._from_file()
        if not value:
            raise SecretError(f"secret {self} is empty")
        remember_secret(value)
        return SecretStr(value)

    def _from_variable(self) -> str:
        value = (os.environ if self._environ is None else self._environ).get(self.name)
        if value is None:
            raise SecretError(f"secret {self} is not set: export {self.name}, or name another one in the settings")
        return value.strip()

    def _from_file(self) -> str:
        try:
            with self.path.open("rb") as file:
                content = file.read(MAX_SECRET_BYTES + 1)
        except (OSError, ValueError, RuntimeError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a usable path"
            raise SecretError(f"secret {self} cannot be read: {reason}") from None
        if len(content) > MAX_SECRET_BYTES:
            raise SecretError(f"secret {self} is larger than {MAX_SECRET_BYTES} bytes: is this the right file?")
        try:
            return content.decode("utf-8-sig").strip()
        except UnicodeDecodeError:
            # The cause would carry the bytes, so it is cut off.
            raise SecretError(f"secret {self} is not UTF-8 text") from None

    def problem(self) -> str | None:
        """Why the secret cannot be used, or None."""
        try:
            self.resolve()
        except SecretError as error:
            return str(error)
        return None

    def warning(self) -> str | None:
        """What an operator should mend although it works, or None."""
        if self.kind == "literal":
            return "the secret stands in the settings themselves: move it to env:NAME or file:PATH"
        if self.kind == "file":
            try:
                mode = self.path.stat().st_mode
            except (OSError, ValueError, RuntimeError):
                return None  # an unreadable secret is a problem(), not a warning
            if stat.S_ISREG(mode) and mode & 0o077:
                return f"{self} can be read by others than its owner: chmod 600 {self.path}"
        return None

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        """Accept a text or a Secret; dump the reference, never the value."""
        return core_schema.with_info_plain_validator_function(
            _validate,
            serialization=core_schema.plain_serializer_function_ser_schema(str, return_schema=core_schema.str_schema()),
        )


def _validate(value: object, info: ValidationInfo) -> Secret:
    if isinstance(value, Secret):
        return value
    if not isinstance(value, str):
        kind = "string_type"
        raise PydanticCustomError(kind, "Input should be a valid string")
    context: Mapping[str, Any] = info.context or {}
    return Secret.parse(value, context.get("environ"), context.get("base"))


def find_secrets(
    value: object,
    path: KeyPath = (),
    *,
    environ: Mapping[str, str] | None = None,
    base: Path | None = None,
) -> Iterator[tuple[KeyPath, Secret]]:
    """Every Secret within a model, mapping or sequence, with its key path.

    A plain text counts where its key names a secret or where it begins with `env:` or `file:`: sections that their
    owner has not validated yet hold their secrets so. `environ` and `base` are for those.
    """
    if isinstance(value, Secret):
        yield path, value
    elif isinstance(value, str):
        named = bool(path) and names_a_secret(str(path[-1]))
        if value.strip() and (named or value.startswith(("env:", "file:"))):
            try:
                yield path, Secret.parse(value, environ, base)
            except ValueError:
                return  # its owner's validation reports it
    else:
        for key, item in _children(value):
            yield from find_secrets(item, (*path, key), environ=environ, base=base)


def _children(value: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(value, BaseModel):
        yield from value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key), item
    elif isinstance(value, Sequence):
        yield from enumerate(value)
