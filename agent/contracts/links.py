"""What plugins are told when accounts are linked or unlinked."""

from __future__ import annotations

from dataclasses import dataclass

from agent.contracts.people import Account


@dataclass(frozen=True, slots=True)
class UserMove:
    """What a user row holds goes to another one: all of it (a link), or the part of some accounts (an unlinking)."""

    from_user_id: int
    to_user_id: int | None
    """None: the accounts that go can own nothing, so what a user owns stays, and what is only about them is theirs."""
    going: tuple[Account, ...]
    """The accounts whose side goes, as they were known before."""
    staying: tuple[Account, ...]
    """The other accounts of the person: at a link those that have the new user row already."""
    is_whole: bool
    """Whether everything goes, as at a link."""
