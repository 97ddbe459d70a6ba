"""What servers and people may choose: three layers, deployment < server < person, within the deployment's bounds.

Pure: the layers' values come from `preferences_repository`; a plugin registers its own preferences at start, with the
defaults and bounds of this deployment.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from agent.catalog import N_, fill

type Value = bool | int | float | str | tuple[str, ...] | None

MAX_TEXT = 2_000
MAX_ITEMS = 100

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # PostgreSQL's jsonb takes neither NUL nor lone surrogates
_WORDS = {"on": True, "yes": True, "true": True, "off": False, "no": False, "false": False}


class Layer(StrEnum):
    """Who chose a value."""

    DEPLOYMENT = "deployment"
    SERVER = "server"
    PERSON = "person"


class PreferenceError(Exception):
    """A value cannot be set. `translate(locale, error.msgid, **error.values)` says it to its user."""

    def __init__(self, msgid: str, **values: object) -> None:
        self.msgid = msgid
        self.values = values
        super().__init__(fill(msgid, values))


@dataclass(frozen=True, slots=True)
class Preference[T: Value]:
    """One thing that can be chosen.

    Its type is that of `default`. `cap` and `floor` are the deployment's: no layer below goes beyond them. With
    `choices` (in rising order) they bound the order of the choices. A nullable preference may be None, which stands
    for "without limit" and so is above every cap.
    """

    key: str
    """`plugin.name`, unique."""
    default: T
    description: str
    """One sentence for the settings command; a message id of the catalog."""
    layers: frozenset[Layer] = frozenset({Layer.SERVER})
    """Which layers below the deployment may choose."""
    cap: T | None = None
    floor: T | None = None
    choices: tuple[T, ...] = ()
    nullable: bool = False
    kind: type | None = None
    """The type, for a nullable preference whose default is None."""

    def __post_init__(self) -> None:
        """Refuse a declaration that contradicts itself."""
        if self._kind is type(None):
            raise ValueError(f"preference {self.key}: name its kind, for its default is None")
        bounded = self.cap is not None or self.floor is not None
        if bounded and not self.choices and self._kind not in {bool, int, float}:
            raise ValueError(f"preference {self.key}: only numbers, switches and choices can have a cap or floor")
        if self.floor is not None and self.cap is not None and self.rank(self.floor) > self.rank(self.cap):
            raise ValueError(f"preference {self.key}: its floor {self.floor!r} is above its cap {self.cap!r}")
        if self.default not in (self.bounded(self.default), None):
            raise ValueError(f"preference {self.key}: its default {self.default!r} is beyond its own bounds")

    @property
    def _kind(self) -> type:
        return self.kind or type(self.default)

    def rank(self, value: T) -> float:
        """Where a value stands among those that cap and floor compare."""
        if value is None:
            return math.inf
        if self.choices:
            return self.choices.index(value)
        return float(cast("float", value)) if isinstance(value, (bool, int, float)) else 0.0

    def bounded(self, value: T) -> T:
        """The value, or the bound that it would go beyond."""
        if self.cap is not None and self.rank(value) > self.rank(self.cap):
            return self.cap
        if self.floor is not None and self.rank(value) < self.rank(self.floor):
            return self.floor
        return value

    def check(self, value: object) -> T:
        """The value as it may be stored. Raises PreferenceError for another type, or beyond the bounds."""
        typed = self._typed(value)
        if self.cap is not None and self.rank(typed) > self.rank(self.cap):
            raise PreferenceError(N_("{key} can be at most {limit} here."), key=self.key, limit=_shown(self.cap))
        if self.floor is not None and self.rank(typed) < self.rank(self.floor):
            raise PreferenceError(N_("{key} must be at least {limit} here."), key=self.key, limit=_shown(self.floor))
        return typed

    def read(self, text: str) -> T:
        """The value that somebody typed: `on`, `30`, `none`, `a, b`. Raises PreferenceError."""
        word = text.strip()
        if self.nullable and word.lower() in {"none", "null", "-"}:
            return self.check(None)
        if self._kind is bool:
            return self.check(_WORDS.get(word.lower(), word))
        if self._kind is tuple:
            return self.check([item.strip() for item in word.split(",") if item.strip()])
        if self._kind is str:
            return self.check(word)
        try:
            return self.check(json.loads(word))
        except (ValueError, RecursionError):
            raise self._wrong() from None

    def _typed(self, value: object) -> T:
        if value is None and self.nullable:
            return cast("T", None)
        if isinstance(value, list):
            value = tuple(value)
        if self._kind is float and type(value) is int and abs(value) < 2**53:
            value = float(value)
        if type(value) is not self._kind or not _is_sound(value):
            raise self._wrong()
        if self.choices and value not in self.choices:
            shown = ", ".join(map(_shown, self.choices))
            raise PreferenceError(N_("{key} must be one of: {choices}."), key=self.key, choices=shown)
        return cast("T", value)

    def _wrong(self) -> PreferenceError:
        if self._kind is bool:
            return PreferenceError(N_("{key} is a switch: on or off."), key=self.key)
        if self._kind is int:
            return PreferenceError(N_("{key} must be a whole number."), key=self.key)
        if self._kind is float:
            return PreferenceError(N_("{key} must be a number."), key=self.key)
        if self._kind is tuple:
            return PreferenceError(N_("{key} must be a short list, separated by commas."), key=self.key)
        return PreferenceError(N_("{key} must be a text of at most {limit} characters."), key=self.key, limit=MAX_TEXT)


def _is_sound(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return abs(value) < 2**53
    if isinstance(value, str):
        return len(value) <= MAX_TEXT and not _UNSTORABLE.search(value)
    if isinstance(value, tuple):
        return len(value) <= MAX_ITEMS and all(isinstance(item, str) and _is_sound(item) for item in value)
    return True


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


@dataclass(frozen=True, slots=True)
class Resolved[T: Value]:
    """The value in force, and why it is that one."""

    value: T
    layer: Layer
    """Who chose it."""
    limited: bool = False
    """Whether the deployment's bounds changed what was chosen."""


def resolve[T: Value](
    preference: Preference[T], server: Mapping[str, object], person: Mapping[str, object]
) -> Resolved[T]:
    """The value in force, from the rows of a server and of a person.

    A row that its layer may not have, or whose value does not fit (any more), counts as not there.
    """
    for layer, rows in ((Layer.PERSON, person), (Layer.SERVER, server)):
        if layer not in preference.layers or preference.key not in rows:
            continue
        try:
            chosen = preference._typed(rows[preference.key])  # noqa: SLF001 - same module
        except PreferenceError:
            continue
        value = preference.bounded(chosen)
        return Resolved(value, layer, limited=value != chosen)
    return Resolved(preference.bounded(preference.default), Layer.DEPLOYMENT)


class Preferences:
    """All preferences of a deployment."""

    def __init__(self) -> None:
        self._known: dict[str, Preference[Any]] = {}

    def register(self, preference: Preference[Any]) -> None:
        """Add one. Raises ValueError when its key is taken."""
        if preference.key in self._known:
            raise ValueError(f"preference {preference.key} is registered twice")
        self._known[preference.key] = preference

    def __iter__(self) -> Iterator[Preference[Any]]:
        """By key."""
        return iter(sorted(self._known.values(), key=lambda preference: preference.key))

    def get(self, key: str) -> Preference[Any]:
        """The preference of this key. Raises PreferenceError that names the nearest one."""
        found = self._known.get(key)
        if found is not None:
            return found
        from agent.settings.validate import nearest

        near = nearest(key, self._known)
        if near is None:
            raise PreferenceError(N_("There is no setting {key}."), key=key)
        raise PreferenceError(N_("There is no setting {key}. Did you mean {nearest}?"), key=key, nearest=near)

    def in_force(self, server: Mapping[str, object], person: Mapping[str, object]) -> dict[str, Value]:
        """Every preference's value for a person in a server, by key."""
        return {key: resolve(preference, server, person).value for key, preference in self._known.items()}
