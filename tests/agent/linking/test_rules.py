from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.people import Account, PrivacyLevel
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.linking.rules import LINKABLE, LinkRefusal, kept_user, part, why_not

PLATFORMS: Final = {
    ParticipantKind.DISCORD_USER: "discord",
    ParticipantKind.MATRIX_USER: "matrix",
    ParticipantKind.CONSOLE_USER: "console",
}


def account(number: int, kind: ParticipantKind, platform: str | None = None) -> Account:
    where = platform or PLATFORMS.get(kind, "discord")
    return Account(number, None, where, ParticipantKey(kind, str(number)), "x", None, PrivacyLevel.NONE)


DISCORD = account(1, ParticipantKind.DISCORD_USER)
MATRIX = account(2, ParticipantKind.MATRIX_USER)
CONSOLE = account(3, ParticipantKind.CONSOLE_USER)


def test_accounts_of_different_platforms_may_be_linked() -> None:
    assert why_not([DISCORD], [MATRIX]) is None
    assert why_not([DISCORD, MATRIX], [CONSOLE]) is None


def test_two_of_one_platform_may_not_even_through_a_third() -> None:
    other = account(4, ParticipantKind.DISCORD_USER)
    assert why_not([DISCORD], [other]) is LinkRefusal.SAME_PLATFORM
    assert why_not([DISCORD], [CONSOLE, other]) is LinkRefusal.SAME_PLATFORM


def test_who_is_linked_already_is_told_so() -> None:
    assert why_not([DISCORD, MATRIX], [DISCORD, MATRIX]) is LinkRefusal.LINKED


@pytest.mark.parametrize("kind", sorted(set(ParticipantKind) - LINKABLE))
def test_what_is_no_person_is_not_linked(kind: ParticipantKind) -> None:
    thing = account(9, kind, "elsewhere")
    assert why_not([DISCORD], [thing]) is LinkRefusal.KIND
    assert why_not([thing], [DISCORD]) is LinkRefusal.KIND


@given(st.none() | st.integers(1, 99), st.none() | st.integers(1, 99))
def test_the_older_user_row_is_kept_whoever_asks(first: int | None, second: int | None) -> None:
    kept = kept_user(first, second)
    assert kept == kept_user(second, first)
    assert (kept is None) == (first is None and second is None)
    assert kept in {first, second}


KIND = st.sampled_from(sorted(LINKABLE))


@given(KIND, st.lists(KIND, min_size=1, max_size=3))
def test_nobody_loses_a_row_that_they_need_when_they_part(
    leaver: ParticipantKind, others: list[ParticipantKind]
) -> None:
    leaving = account(1, leaver)
    remaining = [account(number, kind) for number, kind in enumerate(others, start=2)]
    parting = part(leaving, remaining)
    # Two sides never have one row, and somebody keeps it.
    leaver_has = parting.leaver_keeps or parting.needs_new
    assert leaver_has == leaver.owns_memories
    others_have = not parting.leaver_keeps or parting.needs_new
    if len(remaining) > 1 or any(kind.owns_memories for kind in others):
        assert others_have
