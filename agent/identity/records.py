"""Rows of people as frozen values. Every query that reads an account gives these columns (see people.sql)."""

from __future__ import annotations

from asyncpg import Record

from agent.contracts.people import Account, PrivacyLevel
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.names import label


def account_from(row: Record) -> Account:
    """Return the account of a row."""
    key = ParticipantKey(ParticipantKind(row["kind"]), row["external_id"])
    return Account(
        account_id=row["account_id"],
        user_id=row["user_id"],
        platform=row["platform"],
        key=key,
        display_name=label(row["display_name"], key),
        username=row["username"],
        privacy=PrivacyLevel(row["privacy_level"]),
        forgotten_before=row["forgotten_before"],
    )
