"""Who bears a name, and whose name looks like it; pure, and the order of the directory never matters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agent.contracts.people import Account, Participant, Speaker
from agent.identity.directory import Directory, Entry, Scope
from agent.identity.handles import explicit_handle
from agent.identity.names import label, normalise, skeletons

type Identity = tuple[str, int]
"""Who it is: two linked accounts are one person."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Somebody who bears the name."""

    account: Account
    speaker: Speaker
    label: str
    participant: Participant | None
    is_shown: bool
    """Whether the conversation, or else the server, shows this one under the name."""

    @property
    def identity(self) -> Identity:
        """Return who it is."""
        if self.speaker.user_id is not None:
            return ("user", self.speaker.user_id)
        return ("account", self.account.account_id)

    @property
    def handle(self) -> str | None:
        """Return the handle of who takes part."""
        return self.participant.handle if self.participant else None

    @property
    def preference(self) -> tuple[bool, bool, int, int]:
        """Order the accounts of one person: shown here, taking part, the stricter privacy, the elder."""
        return (not self.is_shown, self.participant is None, -self.account.privacy.rank, self.account.account_id)


def account_speaker(account: Account) -> Speaker:
    """Return the account as the one who speaks for itself."""
    return Speaker(account.key, account.user_id, account.display_name)


def member_owner(account: Account, *, is_shown: bool = False) -> Owner:
    """Return a member of the server who takes no part in the conversation."""
    return Owner(account, account_speaker(account), label(account.display_name, account.key), None, is_shown)


def entry_owner(entry: Entry, *, is_shown: bool = False) -> Owner:
    """Return somebody of the directory who takes no part in the conversation: an account, or a proxied identity."""
    who = entry.speaker
    if who is None:
        return member_owner(entry.account, is_shown=is_shown)
    return Owner(entry.account, who, label(who.display_name, who.key), None, is_shown)


def participant_owner(person: Participant, *, is_shown: bool = False) -> Owner:
    """Return somebody who takes part in the conversation."""
    return Owner(person.account, person.speaker, person.label, person, is_shown)


def owners_of(wanted: str, scope: Scope, directory: Directory) -> list[Owner]:
    """Return everybody who bears a normalised name, from every source, each person once, by account id."""
    return _each_once(_bearers(wanted, scope, directory))


def wanted_form(name: str) -> str:
    """Return the form of a name under which its bearers are found; empty where there is nothing to find."""
    handle = explicit_handle(name)
    return handle if handle is not None else normalise(name)


def looks_of(name: str, scope: Scope, directory: Directory) -> frozenset[str]:
    """Return what a name looks like as it was written, and as those write it who bear it."""
    wanted = wanted_form(name)
    written = {each.value for entry in directory.entries for each in entry.names if each.normalised == wanted}
    written |= {person.label for person in scope.participants if normalise(person.label) == wanted}
    return frozenset[str]().union(*map(skeletons, {name, wanted, *written}))


def twins_of(name: str, apart: Owner | None, scope: Scope, directory: Directory) -> list[Owner]:
    """Return everybody but one who bears another name that looks like this one, each person once, by account id."""
    looks, wanted = looks_of(name, scope, directory), wanted_form(name)
    alike = _alike(looks, wanted, apart.identity if apart else None, scope, directory)
    return [owner for owner in _each_once(alike) if apart is None or owner.identity != apart.identity]


def _each_once(owners: Iterable[Owner]) -> list[Owner]:
    found: dict[Identity, Owner] = {}
    for owner in sorted(owners, key=lambda owner: owner.preference):
        found.setdefault(owner.identity, owner)
    return sorted(found.values(), key=lambda owner: owner.account.account_id)


def _bearers(wanted: str, scope: Scope, directory: Directory) -> Iterator[Owner]:
    present = {person.speaker.key: person for person in scope.participants}
    for entry in directory.entries:
        if entry.account.key in scope.bot_keys or not entry.bears(wanted):
            continue
        if (person := present.get(entry.key)) is not None:
            yield participant_owner(person, is_shown=normalise(person.label) == wanted)
        else:
            yield entry_owner(entry, is_shown=entry.is_shown_as(wanted))
    for person in scope.participants:
        if normalise(person.label) == wanted:
            yield participant_owner(person, is_shown=True)
        elif person.handle == wanted:
            yield participant_owner(person)


def _alike(
    looks: frozenset[str], wanted: str, apart: Identity | None, scope: Scope, directory: Directory
) -> Iterator[Owner]:
    def is_alike(written: str, normalised: str) -> bool:
        return normalised != wanted and not looks.isdisjoint(skeletons(written))

    present = {person.speaker.key: person for person in scope.participants}
    for entry in directory.entries:
        person = present.get(entry.key)
        owner = entry_owner(entry) if person is None else participant_owner(person)
        if entry.account.key in scope.bot_keys or owner.identity == apart:  # looking closely costs more than this
            continue
        if any(is_alike(name.value, name.normalised) for name in entry.names):
            yield owner
    for person in scope.participants:
        if is_alike(person.label, normalise(person.label)):
            yield participant_owner(person)
