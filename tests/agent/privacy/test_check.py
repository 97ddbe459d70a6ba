from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.memory import MemoryRead, MemoryScope, MemoryWrite, WriteKind
from agent.contracts.people import PrivacyLevel, Refusal
from agent.privacy.check import Facts, PersonFacts, check_read, check_write, consulted_accounts, consulted_users
from tests.agent.identity.builders import NOW
from tests.agent.privacy.doubles import write

NONE, PARTIAL, FULL = PrivacyLevel
LATER, EARLIER = NOW + timedelta(seconds=1), NOW - timedelta(seconds=1)


def person(
    number: int,
    privacy: PrivacyLevel = NONE,
    *,
    user: int | None = 0,
    forgotten: datetime | None = None,
    blacklisted: bool = False,
) -> PersonFacts:
    """An account whose user is its number and 100, unless another, or None, is given."""
    return PersonFacts(number, number + 100 if user == 0 else user, privacy, forgotten, blacklisted)


def refusal(asked: MemoryWrite, *people: PersonFacts, guarded: bool = False) -> Refusal | None:
    denial = check_write(asked, Facts(people, guarded))
    return denial.code if denial else None


@pytest.mark.parametrize(
    ("asked", "people", "expected"),
    [
        # About the server alone.
        (write(), (), None),
        (write(author=2), (person(2, FULL, blacklisted=True),), None),
        # The owner's level.
        (write(user=101, subject=1), (person(1),), None),
        (write(user=101), (person(1),), None),
        (write(user=101), (person(1, PARTIAL),), Refusal.PRIVACY_RESTRICTED),
        (write(user=101), (person(1, FULL),), Refusal.PRIVACY_RESTRICTED),
        # The subject's level, in a server memory too.
        (write(subject=1), (person(1, PARTIAL),), Refusal.PRIVACY_RESTRICTED),
        (write(subject=1), (person(1, FULL, user=None),), Refusal.PRIVACY_RESTRICTED),
        (write(subject_user=101), (person(1, FULL),), Refusal.PRIVACY_RESTRICTED),
        (write(subject=1), (person(1),), None),
        (write(user=101, subject=2), (person(1), person(2, FULL)), Refusal.PRIVACY_RESTRICTED),
        # The stricter of linked accounts holds.
        (write(subject=1), (person(1, user=7), person(2, FULL, user=7)), Refusal.PRIVACY_RESTRICTED),
        (write(user=7), (person(1, user=7), person(2, PARTIAL, user=7)), Refusal.PRIVACY_RESTRICTED),
        (write(subject=1), (person(1, user=None), person(2, FULL, user=None)), None),
        # Updates like creations; deletions never.
        (write(user=101, kind=WriteKind.UPDATE), (person(1, FULL),), Refusal.PRIVACY_RESTRICTED),
        (write(user=101, kind=WriteKind.DELETE), (person(1, FULL, forgotten=LATER, blacklisted=True),), None),
        # The blacklist.
        (write(user=101), (person(1, blacklisted=True),), Refusal.BLACKLISTED),
        (write(subject=1), (person(1, blacklisted=True),), Refusal.BLACKLISTED),
        (write(user=7), (person(1, user=7), person(2, user=7, blacklisted=True)), Refusal.BLACKLISTED),
        # Forgotten: the subject's, the author's, a linked account's.
        (write(subject=1), (person(1, forgotten=LATER),), Refusal.FORGOTTEN),
        (write(subject=1), (person(1, forgotten=NOW),), Refusal.FORGOTTEN),
        (write(subject=1), (person(1, forgotten=EARLIER),), None),
        (write(author=1), (person(1, forgotten=LATER),), Refusal.FORGOTTEN),
        (write(user=7), (person(1, user=7, forgotten=LATER), person(2, user=7)), Refusal.FORGOTTEN),
        # What is not known is refused.
        (write(user=101), (), Refusal.GUARD_FAILED),
        (write(subject=1), (), Refusal.GUARD_FAILED),
        (write(author=1), (), Refusal.GUARD_FAILED),
        (write(subject_user=101), (person(1, user=None),), Refusal.GUARD_FAILED),
        # Proxied identities.
        (write(user=900, proxied=True, hosts=(1,)), (person(1),), Refusal.NO_GUARD),
        (write(user=900, hosts=(1,)), (person(1),), Refusal.GUARD_FAILED),
    ],
)
def test_check_write(asked: MemoryWrite, people: tuple[PersonFacts, ...], expected: Refusal | None) -> None:
    assert refusal(asked, *people) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        (person(1), None),
        (person(1, PARTIAL), None),
        (person(1, FULL), Refusal.HOST_PROTECTED),
        (person(1, blacklisted=True), Refusal.HOST_PROTECTED),
        (person(1, forgotten=LATER), Refusal.FORGOTTEN),
    ],
)
def test_the_host_of_a_proxied_identity(host: PersonFacts, expected: Refusal | None) -> None:
    assert refusal(write(user=900, proxied=True, hosts=(1,)), host, guarded=True) == expected


def test_a_personal_write_names_its_owner() -> None:
    assert refusal(replace(write(user=1), user_id=None)) is Refusal.GUARD_FAILED


def test_what_is_consulted() -> None:
    asked = write(user=8, subject=5, subject_user=9, author=3, hosts=(7, 3))
    assert consulted_accounts(asked) == (3, 5, 7)
    assert consulted_users(asked) == (8, 9)
    assert consulted_accounts(write()) == ()


def read(user: int | None = 101, *, scope: MemoryScope = MemoryScope.PERSONAL, proxied: bool = False) -> MemoryRead:
    return MemoryRead(scope, 1, user, 1, reader_account_id=None, about_proxy_identity=proxied)


@pytest.mark.parametrize(
    ("asked", "people", "guarded", "expected"),
    [
        (read(), (person(1),), False, None),
        (read(), (person(1, PARTIAL),), False, Refusal.PRIVACY_RESTRICTED),
        (read(), (person(1, FULL),), False, Refusal.PRIVACY_RESTRICTED),
        (read(), (person(1, blacklisted=True),), False, Refusal.BLACKLISTED),
        (read(7), (person(1, user=7), person(2, FULL, user=7)), False, Refusal.PRIVACY_RESTRICTED),
        (read(), (), False, Refusal.GUARD_FAILED),
        (read(900, proxied=True), (), False, Refusal.NO_GUARD),
        (read(900, proxied=True), (), True, None),
        (read(None, scope=MemoryScope.SERVER), (), False, None),
    ],
)
def test_check_read(
    asked: MemoryRead, people: tuple[PersonFacts, ...], guarded: bool, expected: Refusal | None
) -> None:
    denial = check_read(asked, Facts(people, guarded))
    assert (denial.code if denial else None) == expected


PEOPLE = st.lists(
    st.builds(
        PersonFacts,
        account_id=st.integers(1, 4),
        user_id=st.none() | st.integers(101, 104),
        privacy=st.sampled_from(PrivacyLevel),
        forgotten_before=st.sampled_from([None, EARLIER, LATER]),
        blacklisted=st.booleans(),
    ),
    unique_by=lambda facts: facts.account_id,
    max_size=4,
)
WRITES = st.builds(
    write,
    user=st.none() | st.integers(101, 104),
    subject=st.none() | st.integers(1, 4),
    subject_user=st.none() | st.integers(101, 104),
    author=st.none() | st.integers(1, 4),
    proxied=st.booleans(),
)


@given(WRITES, PEOPLE, st.booleans())
def test_what_passes_is_about_nobody_who_forbids_it(
    asked: MemoryWrite, people: list[PersonFacts], guarded: bool
) -> None:
    if refusal(asked, *people, guarded=guarded) is not None:
        return
    users = {asked.user_id, asked.subject_user_id} - {None}
    users |= {each.user_id for each in people if each.account_id == asked.subject_account_id} - {None}
    for each in people:
        if each.account_id == asked.subject_account_id or each.user_id in users:
            assert each.privacy is NONE
            assert not each.blacklisted
            assert each.forgotten_before in {None, EARLIER}


@given(WRITES, PEOPLE, st.data())
def test_a_stricter_fact_never_opens_what_was_refused(
    asked: MemoryWrite, people: list[PersonFacts], data: st.DataObject
) -> None:
    before = refusal(asked, *people)
    if not people or before is None:
        return
    number = data.draw(st.integers(0, len(people) - 1))
    old = people[number]
    people[number] = PersonFacts(old.account_id, old.user_id, FULL, LATER, blacklisted=True)
    assert refusal(asked, *people) is not None
