"""Whether privacy and blacklist let a memory be written or shown: pure, and closed where something is not known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from agent.contracts.memory import MemoryRead, MemoryScope, MemoryWrite, WriteKind
from agent.contracts.people import Denial, PrivacyLevel, Refusal
from agent.privacy.levels import RULES, strictest

FORGOTTEN: Final = Denial(Refusal.FORGOTTEN, "What was said before somebody asked to be forgotten is not kept.")
RESTRICTED: Final = Denial(Refusal.PRIVACY_RESTRICTED, "This person's privacy setting does not allow it.")
BLACKLISTED: Final = Denial(Refusal.BLACKLISTED, "This server does not want memories about this person.")
DISABLED: Final = Denial(Refusal.DISABLED, "This server wants no personal memories.")
HOST_PROTECTED: Final = Denial(Refusal.HOST_PROTECTED, "The account behind this identity does not allow it.")
NO_GUARD: Final = Denial(Refusal.NO_GUARD, "Nothing that guards proxied identities is loaded, so it was refused.")
UNKNOWN: Final = Denial(Refusal.GUARD_FAILED, "Whom it is about could not be checked, so it was refused.")


@dataclass(frozen=True, slots=True)
class PersonFacts:
    """What counts for one account now."""

    account_id: int
    user_id: int | None
    privacy: PrivacyLevel
    forgotten_before: datetime | None
    blacklisted: bool
    """On the server of the write or read; a linked account's entry counts."""
    personal_off: bool = False
    """Whether that server wants no personal memories, of anybody."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The accounts that a write or read rests on, with every account that is linked to them."""

    people: tuple[PersonFacts, ...]
    guards_proxied: bool
    """Whether a started plugin guards proxied identities."""

    @property
    def personal_off(self) -> bool:
        """Tell whether the server wants no personal memories, as far as these facts know."""
        return any(person.personal_off for person in self.people)

    def of_account(self, account_id: int) -> tuple[PersonFacts, ...]:
        """Return the facts of an account and of those linked to it; none when there is no such account."""
        found = [person for person in self.people if person.account_id == account_id]
        users = {person.user_id for person in found} - {None}
        return tuple(person for person in self.people if person in found or person.user_id in users)

    def of_user(self, user_id: int) -> tuple[PersonFacts, ...]:
        """Return the facts of the accounts of a user; none for a proxied identity."""
        return tuple(person for person in self.people if person.user_id == user_id)


def consulted_accounts(write: MemoryWrite) -> tuple[int, ...]:
    """Return the accounts whose facts a write rests on, by ascending id: subject, author, hosts."""
    ids = {write.subject_account_id, write.source.author_account_id, *write.host_account_ids}
    return tuple(sorted(each for each in ids if each is not None))


def consulted_users(write: MemoryWrite) -> tuple[int, ...]:
    """Return the users whose accounts a write rests on, by ascending id: owner and subject."""
    return tuple(sorted({each for each in (write.user_id, write.subject_user_id) if each is not None}))


def check_write(write: MemoryWrite, facts: Facts) -> Denial | None:
    """Return why a memory may not be created or updated. A deletion is never refused."""
    if write.kind is WriteKind.DELETE:
        return None
    if (denial := _known(write, facts)) is not None:
        return denial
    if write.scope is MemoryScope.PERSONAL and facts.personal_off:
        return DISABLED
    about = _about(write, facts)
    author = write.source.author_account_id
    sources = about if author is None else (*about, *facts.of_account(author))
    if any(_is_forgotten(person, write.source.occurred_at) for person in sources):
        return FORGOTTEN
    if (denial := _check_people(about, keeps=True)) is not None:
        return denial
    hosts = [person for host in write.host_account_ids for person in facts.of_account(host)]
    if any(not RULES[person.privacy].names or person.blacklisted for person in hosts):
        return HOST_PROTECTED
    if any(_is_forgotten(person, write.source.occurred_at) for person in hosts):
        return FORGOTTEN
    return None


def check_read(read: MemoryRead, facts: Facts) -> Denial | None:
    """Return why what is remembered about an owner may not be shown, the model included."""
    if read.about_proxy_identity and not facts.guards_proxied:
        return NO_GUARD
    if read.scope is not MemoryScope.PERSONAL or read.user_id is None:
        return None
    if facts.personal_off:
        return DISABLED
    people = facts.of_user(read.user_id)
    if not people and not read.about_proxy_identity:
        return UNKNOWN
    return _check_people(people, keeps=False)


def _known(write: MemoryWrite, facts: Facts) -> Denial | None:
    """Refuse a write about somebody of whom nothing is known: then nothing can be checked."""
    if write.scope is MemoryScope.PERSONAL and write.user_id is None:
        return UNKNOWN
    if write.about_proxy_identity and not facts.guards_proxied:
        return NO_GUARD
    if any(not facts.of_account(account) for account in consulted_accounts(write)):
        return UNKNOWN
    if any(not facts.of_user(user) for user in consulted_users(write)) and not write.about_proxy_identity:
        return UNKNOWN
    return None


def _about(write: MemoryWrite, facts: Facts) -> tuple[PersonFacts, ...]:
    """Return the accounts of whoever it is about: a personal memory's owner, and the subject of either kind."""
    found: list[PersonFacts] = []
    if write.scope is MemoryScope.PERSONAL and write.user_id is not None:
        found += facts.of_user(write.user_id)
    if write.subject_user_id is not None:
        found += facts.of_user(write.subject_user_id)
    if write.subject_account_id is not None:
        found += facts.of_account(write.subject_account_id)
    return tuple(dict.fromkeys(found))


def _check_people(people: Iterable[PersonFacts], *, keeps: bool) -> Denial | None:
    people = tuple(people)
    rules = RULES[strictest(person.privacy for person in people)]
    if not (rules.keeps_memories if keeps else rules.shows_memories):
        return RESTRICTED
    return BLACKLISTED if any(person.blacklisted for person in people) else None


def _is_forgotten(person: PersonFacts, occurred_at: datetime) -> bool:
    return person.forgotten_before is not None and occurred_at <= person.forgotten_before
