"""Which accounts may be linked, and who keeps the user row when they part; pure functions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from agent.identity.keys import ParticipantKind

if TYPE_CHECKING:
    from agent.contracts.people import Account

VALID: Final = timedelta(minutes=10)
"""How long a code, and then the question whether to confirm, stands."""
COUNTED: Final = timedelta(hours=1)
"""How long what an account has tried counts."""
ASKED_MOST: Final = 5
"""Codes that one account gets within that time."""
WRONG_MOST: Final = 5
"""Wrong codes that one account may enter within that time."""
WRONG_MOST_OF_ALL: Final = 50
"""Wrong codes of all accounts together within `VALID`, after which nobody's code is looked at for a while."""
OPEN_MOST: Final = 1_000
"""Codes that may be open at once."""
LINKABLE: Final = frozenset({ParticipantKind.DISCORD_USER, ParticipantKind.MATRIX_USER, ParticipantKind.CONSOLE_USER})
"""Kinds of accounts that belong to a person: no bots, webhooks, personas or proxied identities."""


class LinkRefusal(StrEnum):
    """Why accounts are not linked."""

    KIND = "kind"
    """It is no account of a person."""
    TOO_MANY_CODES = "too_many_codes"
    TOO_MANY_WRONG = "too_many_wrong"
    BUSY = "busy"
    """Too many wrong codes came from all accounts together, or too many are open."""
    WRONG = "wrong"
    """No open request has that code: it is misspelled, used, or too old."""
    OWN_CODE = "own_code"
    LINKED = "linked"
    """The two are linked already."""
    SAME_PLATFORM = "same_platform"
    """Both people have an account on the same platform."""
    NOBODY_ASKS = "nobody_asks"
    """There is no request of another account, or it is too old."""


def why_not(first: Collection[Account], second: Collection[Account]) -> LinkRefusal | None:
    """Return why two people, each with all their accounts, may not be linked; None when they may."""
    if any(account.key.kind not in LINKABLE for account in (*first, *second)):
        return LinkRefusal.KIND
    if {account.account_id for account in first} & {account.account_id for account in second}:
        return LinkRefusal.LINKED
    if {account.platform for account in first} & {account.platform for account in second}:
        return LinkRefusal.SAME_PLATFORM
    return None


@dataclass(frozen=True, slots=True)
class Parting:
    """What becomes of the user row when one account leaves the others."""

    leaver_keeps: bool
    """Whether the account that leaves keeps the row; else the others do."""
    needs_new: bool
    """Whether the side that does not keep it gets a row of its own; else it has none, as before the link."""


def part(leaving: Account, remaining: Collection[Account]) -> Parting:
    """Return who keeps the row: the others, unless they could own nothing by themselves and the one that leaves can.

    So nothing is lost, and an account whose kind owns no memories is as it was before it was linked.
    """
    leaver_owns = leaving.key.kind.owns_memories
    others_own = len(remaining) > 1 or any(account.key.kind.owns_memories for account in remaining)
    if leaver_owns and not others_own:
        return Parting(leaver_keeps=True, needs_new=False)
    return Parting(leaver_keeps=False, needs_new=leaver_owns)


def kept_user(first: int | None, second: int | None) -> int | None:
    """Return the user row that both shall have: the older one; None when there is none yet."""
    known = [user_id for user_id in (first, second) if user_id is not None]
    return min(known, default=None)
