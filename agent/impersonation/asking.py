"""Whom somebody means by a name, if that person may be impersonated; a refusal never says why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agent.catalog import N_
from agent.identity.results import Ambiguous, BridgeUser, Resolved, Self
from agent.impersonation.rules import may_be_impersonated

if TYPE_CHECKING:
    from agent.contracts.people import Account
    from agent.core import Core
    from agent.identity.directory import Scope

NOBODY: Final = N_("There is nobody of that name here in whose style I may answer.")
SEVERAL: Final = N_("Several people here may be meant: mention the one you mean.")
MYSELF: Final = N_("That is me, and my own style is the one I answer in.")


class ImpersonationRefused(ValueError):
    """Nobody may be impersonated under that name. `translate(locale, error.msgid)` says it.

    One sentence stands for all reasons: nobody bears the name, privacy, blacklist, consent. So nothing is learned by
    asking.
    """

    def __init__(self, msgid: str) -> None:
        self.msgid = msgid
        super().__init__(msgid)


@dataclass(frozen=True, slots=True)
class Target:
    """In whose style an answer may be."""

    account: Account
    by_right: bool
    """Whether who asks needs no consent."""


async def find_target(core: Core, scope: Scope, name: str, asker: Account, *, is_manager: bool) -> Target:
    """Return in whose style an answer may be, for the account that asks.

    Raises:
        ImpersonationRefused: there is none.
    """
    match await core.resolver.resolve(name, scope):
        case Self():
            raise ImpersonationRefused(MYSELF)
        case Ambiguous():
            raise ImpersonationRefused(SEVERAL)
        case Resolved(speaker=speaker, account=account) if not speaker.is_proxied:
            pass
        case BridgeUser(account=account):
            pass
        case _:
            raise ImpersonationRefused(NOBODY)
    standing = await core.impersonations.standing(account.account_id, scope.place.server.server_id)
    by_right = is_manager or _is_same(account, asker)
    if not may_be_impersonated(standing, by_right=by_right):
        raise ImpersonationRefused(NOBODY)
    return Target(standing.account, by_right)


def _is_same(one: Account, other: Account) -> bool:
    """Tell whether two accounts are one person's."""
    return one.account_id == other.account_id or (one.user_id is not None and one.user_id == other.user_id)
