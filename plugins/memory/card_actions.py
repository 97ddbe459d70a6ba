"""What can be done with a card: each action is a command with ids only, run as whoever presses it. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agent.catalog import N_, translate
from agent.contracts.cards import ActionKind, CardAction
from agent.contracts.memory import MemoryScope
from agent.places import Audience

if TYPE_CHECKING:
    from collections.abc import Mapping

_PATHS: Final = {MemoryScope.SERVER: ("memories",), MemoryScope.PERSONAL: ("personal", "memories")}
_WIDEST: Final = {MemoryScope.SERVER: Audience.SERVER, MemoryScope.PERSONAL: Audience.OPEN}
_WORDS: Final = {
    ActionKind.UNDO: "undo",
    ActionKind.EDIT: "edit",
    ActionKind.WIDEN: "open",
    ActionKind.EXPAND: "notice",
}
_HIDDEN: Final = frozenset({"version", "instead"})
"""Options that only buttons give."""
_LABELS: Final = {ActionKind.UNDO: N_("Undo"), ActionKind.EDIT: N_("Edit"), ActionKind.EXPAND: N_("Show all")}
_WIDEN: Final = {
    MemoryScope.SERVER: N_("Tell in the whole server"),
    MemoryScope.PERSONAL: N_("Tell wherever I take part"),
}


def actions_of_saved(
    scope: MemoryScope, memory_id: int, audience: Audience, locale: str, *, forgotten_id: int | None = None
) -> tuple[CardAction, ...]:
    """Return the actions of a card that tells of a new memory, and of the one that gave way to it."""
    if forgotten_id is None:
        undo = _action(ActionKind.UNDO, scope, locale, {"ids": str(memory_id), "version": 1}, word="remove")
    else:
        undo = _action(ActionKind.UNDO, scope, locale, {"id": forgotten_id, "instead": memory_id, "version": 1})
    return (undo, *_actions_of_present(scope, (memory_id, 1), audience, locale, forgotten_id))


def actions_of_changed(
    scope: MemoryScope, memory_id: int, version: int, audience: Audience, locale: str
) -> tuple[CardAction, ...]:
    """Return the actions of a card that tells what a memory says since that version."""
    return _actions_of_present(scope, (memory_id, version), audience, locale, None)


def actions_of_deleted(scope: MemoryScope, memory_id: int, locale: str) -> tuple[CardAction, ...]:
    """Return the actions of a card that tells of a deletion."""
    given = {"id": memory_id}
    return _action(ActionKind.UNDO, scope, locale, given), _action(ActionKind.EXPAND, scope, locale, given)


def _actions_of_present(
    scope: MemoryScope, versioned: tuple[int, int], audience: Audience, locale: str, forgotten_id: int | None
) -> tuple[CardAction, ...]:
    memory_id, version = versioned
    whole = {"id": memory_id} if forgotten_id is None else {"id": memory_id, "forgotten": forgotten_id}
    actions = [_action(ActionKind.EDIT, scope, locale, {"id": memory_id})]
    if audience not in {_WIDEST[scope], Audience.OPEN}:
        actions.append(_action(ActionKind.WIDEN, scope, locale, {"id": memory_id, "version": version}))
    return (*actions, _action(ActionKind.EXPAND, scope, locale, whole))


def _action(
    kind: ActionKind,
    scope: MemoryScope,
    locale: str,
    options: Mapping[str, str | int | bool],
    *,
    word: str | None = None,
) -> CardAction:
    path = (*_PATHS[scope], word or _WORDS[kind])
    typed = " ".join(str(value) for name, value in options.items() if name not in _HIDDEN)
    rest = " TEXT" if kind is ActionKind.EDIT else ""
    label = _WIDEN[scope] if kind is ActionKind.WIDEN else _LABELS[kind]
    return CardAction(kind, translate(locale, label), path, options, f"/{' '.join(path)} {typed}{rest}")
