"""Who may be impersonated, and by whose wish; pure functions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from agent.catalog import N_
from agent.preferences import Layer, Preference

if TYPE_CHECKING:
    from agent.contracts.people import Account

LASTS: Final = timedelta(minutes=15)
"""How long a wish waits for the next answer."""


class Consent(StrEnum):
    """Who may have the agent speak in a person's style."""

    OFF = "off"
    """Nobody."""
    MANAGERS = "managers"
    """Those who manage the server, and the person: what holds for who has not chosen."""
    ON = "on"
    """Everybody in the server."""


CONSENT: Final = Preference(
    key="impersonation.consent",
    default=Consent.MANAGERS.value,
    description=N_("Who may have the agent answer in your style: nobody, those who manage the server, or everybody."),
    layers=frozenset({Layer.PERSON}),
    choices=tuple(consent.value for consent in Consent),
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What counts for somebody now: the account, and what its person has chosen under any account."""

    account: Account
    restricted: bool
    """Whether privacy or the server's blacklist forbids to personalise one of the person's accounts."""
    consents: frozenset[str] = frozenset()
    """The choices that the person's accounts have made."""


def consent_of(choices: Collection[str]) -> Consent:
    """Return what holds for a person whose accounts have chosen so: one `off` is enough."""
    for consent in (Consent.OFF, Consent.ON):
        if consent in choices:
            return consent
    return Consent.MANAGERS


def may_be_impersonated(standing: Standing, *, by_right: bool) -> bool:
    """Tell whether the agent may answer in somebody's style now.

    `by_right`: it was asked by somebody who manages the server, or by the person.
    """
    if standing.restricted:
        return False
    match consent_of(standing.consents):
        case Consent.OFF:
            return False
        case Consent.ON:
            return True
        case Consent.MANAGERS:
            return by_right
