"""How a name becomes a person, exactly; pure, and the order of the directory never matters (identity.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from agent.contracts.people import Account, Participant, Speaker
from agent.identity.directory import Directory, Scope, is_hidden
from agent.identity.handles import SELF_WORD, base_handle, explicit_handle
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.names import fallback_label, label, normalise
from agent.identity.results import Ambiguous, BridgeUser, Candidate, NotFound, Resolution, Resolved, Self, Step

CANDIDATES: Final = 10
"""At most so many are listed where a name is ambiguous."""
BOT_WORD: Final = "{bot}"
_MENTION: Final = re.compile(r"<@!?([^<>\s]{1,255})>|(@[^@\s:]{1,255}:[^\s]{1,255})")


@dataclass(frozen=True, slots=True)
class _Owner:
    """Somebody who bears the name."""

    account: Account
    speaker: Speaker
    label: str
    participant: Participant | None
    is_shown: bool
    """Whether the conversation shows this one under the name."""


def mentioned_id(text: str) -> str | None:
    """Return the platform's id when the whole text is an explicit mention: `<@id>`, `<@!id>`, `@user:server`."""
    match = _MENTION.fullmatch(text.strip())
    return (match[1] or match[2]) if match else None


def account_speaker(account: Account) -> Speaker:
    """Return the account as the one who speaks for itself."""
    return Speaker(account.key, account.user_id, account.display_name)


def resolve(name: str, scope: Scope, directory: Directory) -> Resolution:
    """Return who is meant by `name` here.

    `directory` holds at least everybody of this server who bears that name or, for a mention, that id.
    """
    name = name.strip()
    if (identifier := mentioned_id(name)) is not None:
        return _by_id(name, identifier, scope, directory)
    return _by_handle(name, scope) or _by_name(name, scope, directory)


def _by_id(name: str, identifier: str, scope: Scope, directory: Directory) -> Resolution:
    if any(key.id == identifier for key in scope.bot_keys):
        return Self(Step.MENTION)
    owners = {
        **{entry.account.key: _entry_owner(entry.account, is_shown=False) for entry in directory.entries},
        **{person.speaker.key: _participant_owner(person, is_shown=False) for person in scope.participants},
    }
    found = [owner for key, owner in sorted(owners.items(), key=lambda item: str(item[0])) if key.id == identifier]
    if len(found) > 1:  # the same digits of two kinds
        return _ambiguous(name, found, scope, with_bot=False)
    return _person(found[0], Step.MENTION) if found else NotFound(name)


def _by_handle(name: str, scope: Scope) -> Resolution | None:
    """Resolve what can be nothing but a handle, and what always means the speaker."""
    if name == BOT_WORD:
        return Self(Step.BOT)
    handle = explicit_handle(name)
    for person in scope.participants:
        if person.handle == handle:
            return _person(_participant_owner(person, is_shown=True), Step.HANDLE)
    if scope.speaker is not None and normalise(name) in {SELF_WORD, scope.speaker.handle}:
        return _person(_participant_owner(scope.speaker, is_shown=True), Step.SPEAKER)
    return None


def _by_name(name: str, scope: Scope, directory: Directory) -> Resolution:
    handle = explicit_handle(name)
    wanted = handle if handle is not None else normalise(name)
    if not wanted:
        return NotFound(name)
    owners = _owners(wanted, scope, directory)
    if wanted in _names_of_agent(scope):
        return _ambiguous(name, owners, scope, with_bot=True) if owners else Self(Step.BOT)
    if len(owners) == 1:
        return _person(owners[0], Step.NAME)
    shown = [owner for owner in owners if owner.is_shown and (owner.participant or is_hidden(owner.account))]
    if len(shown) == 1 and shown[0].participant is not None:
        return _person(shown[0], Step.LABEL)
    return _ambiguous(name, owners, scope, with_bot=False) if owners else NotFound(name)


def _names_of_agent(scope: Scope) -> set[str]:
    names = (scope.bot_name, scope.persona.nickname)
    return {normalise(name) for name in names} | {base_handle(name) for name in names}


def _owners(wanted: str, scope: Scope, directory: Directory) -> list[_Owner]:
    """Return everybody who bears the name, from every source, each person once, by account id."""
    owners: dict[tuple[str, int], _Owner] = {}
    for owner in sorted(_bearers(wanted, scope, directory), key=_preference):
        owners.setdefault(_identity(owner), owner)
    return sorted(owners.values(), key=lambda owner: owner.account.account_id)


def _bearers(wanted: str, scope: Scope, directory: Directory) -> Iterator[_Owner]:
    present = {person.speaker.key: person for person in scope.participants}
    for entry in directory.entries:
        if entry.account.key in scope.bot_keys or not entry.bears(wanted):
            continue
        if (person := present.get(entry.account.key)) is not None:
            yield _participant_owner(person, is_shown=normalise(person.label) == wanted)
        else:
            yield _entry_owner(entry.account, is_shown=entry.is_shown_as(wanted))
    for person in scope.participants:
        if normalise(person.label) == wanted:
            yield _participant_owner(person, is_shown=True)
        elif person.handle == wanted:
            yield _participant_owner(person, is_shown=False)


def _identity(owner: _Owner) -> tuple[str, int]:
    """Return who it is: two linked accounts are one person."""
    if owner.speaker.user_id is not None:
        return ("user", owner.speaker.user_id)
    return ("account", owner.account.account_id)


def _preference(owner: _Owner) -> tuple[bool, bool, int, int]:
    """Order the accounts of one person: shown here, taking part, the stricter privacy, the elder."""
    return (not owner.is_shown, owner.participant is None, -owner.account.privacy.rank, owner.account.account_id)


def _entry_owner(account: Account, *, is_shown: bool) -> _Owner:
    shown = label(account.display_name, account.key)
    return _Owner(account, account_speaker(account), shown, participant=None, is_shown=is_shown)


def _participant_owner(person: Participant, *, is_shown: bool) -> _Owner:
    return _Owner(person.account, person.speaker, person.label, participant=person, is_shown=is_shown)


def _person(owner: _Owner, step: Step) -> Resolved | BridgeUser:
    if owner.speaker.user_id is None:
        return BridgeUser(owner.account, owner.label, bridge=None, step=step)
    handle = owner.participant.handle if owner.participant else None
    return Resolved(owner.account, owner.speaker, owner.label, handle, step)


def _ambiguous(name: str, owners: Iterable[_Owner], scope: Scope, *, with_bot: bool) -> Ambiguous:
    candidates = [_candidate(owner) for owner in owners if not is_hidden(owner.account)][:CANDIDATES]
    if with_bot:
        key = ParticipantKey(ParticipantKind.PERSONA, str(scope.persona.persona_id))
        candidates.insert(0, Candidate(key, scope.bot_name, "the agent itself", BOT_WORD))
    return Ambiguous(name, tuple(candidates))


def _candidate(owner: _Owner) -> Candidate:
    account = owner.account
    username = label(account.username, account.key) if account.username else ""
    distinction = f"username {username}" if username else f"id {fallback_label(account.key)}"
    if owner.speaker.is_proxied:
        distinction = f"proxied by {distinction}"
    handle = f"@{{{owner.participant.handle}}}" if owner.participant else None
    return Candidate(owner.speaker.key, owner.label, distinction, handle)
