"""Asking back before what cannot be undone: a code that its asker gives again, on any bridge and after a restart."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from agent.store.queries import load_queries

if TYPE_CHECKING:
    from agent.store.pool import Store

QUERIES = load_queries("agent", "confirmations.sql")

VALID: Final = timedelta(minutes=10)
ATTEMPTS: Final = 5
"""Wrong codes after which a new one must be asked for."""
LENGTH: Final = 8
_ALPHABET: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # 32 characters, none of which looks like another


class Answer(StrEnum):
    """What a code is worth."""

    CONFIRMED = "confirmed"
    WRONG = "wrong"
    """Another try is left."""
    VOID = "void"
    """Nothing was asked, the time is over, or there were too many wrong codes."""


def make_code(random: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """Return a code that nobody guesses: 8 letters and digits."""
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in random(LENGTH))


def digest(code: str) -> bytes:
    """Return what is kept of a code; small letters, spaces and hyphens make no difference."""
    plain = "".join(code.split()).replace("-", "").upper()
    return hashlib.sha256(plain.encode("utf-8", "replace")).digest()


class Confirmations:
    """What people were asked back about: one open question for each account and action."""

    def __init__(self, store: Store, make: Callable[[], str] = make_code) -> None:
        self._store = store
        self._make = make

    async def ask(self, account_id: int, action: str, now: datetime, valid: timedelta = VALID) -> str:
        """Return a code that confirms the action until `now + valid`; an earlier one is void."""
        code = self._make()
        async with self._store.connection() as conn:
            await conn.execute(QUERIES["ask"], account_id, action, digest(code), now + valid)
        return code

    async def answer(self, account_id: int, action: str, code: str, now: datetime) -> Answer:
        """Return what a code is worth; a right one is used up, and of two at once only one is right."""
        async with self._store.transaction() as conn:
            row = await conn.fetchrow(QUERIES["read"], account_id, action)
            if row is None:
                return Answer.VOID
            in_time = row["expires_at"] > now
            is_right = hmac.compare_digest(row["code_digest"], digest(code))
            if in_time and not is_right and row["attempts"] + 1 < ATTEMPTS:
                await conn.execute(QUERIES["count_attempt"], account_id, action)
                return Answer.WRONG
            await conn.execute(QUERIES["remove"], account_id, action)
        return Answer.CONFIRMED if in_time and is_right else Answer.VOID
