"""What holds for every name and every cast of people."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.people import Account, PrivacyLevel
from agent.identity.directory import Directory
from agent.identity.names import are_twins, normalise
from agent.identity.owners import wanted_form
from agent.identity.results import Ambiguous, BridgeUser, Resolution, Resolved, Self, Step
from agent.identity.rules import resolve
from agent.identity.suggestions import suggest
from tests.agent.identity.builders import account
from tests.agent.identity.casts import Cast, short

BEN = account(2, "Ben", username="ben_b")
FULL = PrivacyLevel.FULL
LETTERS = st.sampled_from("anAN\u0430\u0410\u0391mrnIl1ij0oO\u200b @.")
NAMES = st.one_of(
    st.text(LETTERS, max_size=4),
    st.sampled_from(
        ["ana", "Ana", "\u0410na", "Mirri", "M\u0456rri", "me", "ana~2", "<@3>", "3", "@{ana}", "(Ana)", "everyone"]
    ),
)
PEOPLE = st.lists(
    st.tuples(
        NAMES,
        st.none() | NAMES,
        st.sampled_from(PrivacyLevel),
        st.sampled_from(["user", "bridge", "linked"]),
        st.booleans(),
    ),
    max_size=6,
)
type Drawn = list[tuple[str, str | None, PrivacyLevel, str, bool]]


def cast_of(drawn: Drawn, *, speaker: bool = True, affixes: tuple[str, ...] = ()) -> Cast:
    users = {"user": 0, "bridge": None, "linked": 7777}
    people = [
        (account(number, name, username=username, privacy=level, user=users[kind]), present)
        for number, (name, username, level, kind, present) in enumerate(drawn, start=1)
    ]
    here = tuple(person for person, present in people if present)
    return Cast(here, tuple(person for person, present in people if not present), (), speaker, affixes)


def person(result: Resolution) -> tuple[str, int] | None:
    """Return who it is; linked accounts are one person."""
    match result:
        case Resolved(user_id=int() as number):
            return ("user", number)
        case BridgeUser(account=found):
            return ("account", found.account_id)
        case _:
            return None


@given(NAMES, PEOPLE, st.data())
def test_the_order_of_the_directory_never_changes_the_result(name: str, drawn: Drawn, data: st.DataObject) -> None:
    cast = cast_of(drawn, affixes=("a",))
    shuffled = Directory(tuple(data.draw(st.permutations(cast.entries))))
    assert resolve(name, cast.scope, shuffled) == cast.resolve(name)


@given(NAMES, PEOPLE, NAMES, st.sampled_from(PrivacyLevel))
def test_another_member_never_turns_one_person_into_another(
    name: str, drawn: Drawn, added: str, level: PrivacyLevel
) -> None:
    cast = cast_of(drawn)
    before = person(cast.resolve(name))
    joined = replace(cast, elsewhere=(*cast.elsewhere, account(100, added, privacy=level)))
    after = person(joined.resolve(name))
    if before is not None:
        assert after in {before, None}


@given(NAMES, PEOPLE)
def test_whoever_is_resolved_by_name_bears_it_and_has_no_twin(name: str, drawn: Drawn) -> None:
    cast = cast_of(drawn, speaker=False)
    result = cast.resolve(name)
    if not isinstance(result, Resolved | BridgeUser) or result.step not in {Step.NAME, Step.LABEL}:
        return
    wanted = wanted_form(name.strip())
    mine = [each for each in cast.entries if same_person(each.account, result.account)]
    assert any(each.bears(wanted) for each in mine) or wanted in {each.handle for each in cast.scope.participants}
    written = {each.value for one in mine for each in one.names if each.normalised == wanted} or {name}
    for other in cast.entries:
        for theirs in other.names:
            if same_person(other.account, result.account) or not any(are_twins(theirs.value, each) for each in written):
                continue
            # Who bears the very name and is not shown under it gives way to the one who is; a twin does not.
            assert result.step is Step.LABEL
            assert theirs.normalised == wanted


def same_person(one: Account, other: Account) -> bool:
    return one.account_id == other.account_id or (one.user_id is not None and one.user_id == other.user_id)


@given(NAMES, st.sampled_from("aeopcxyABEHKMOPT"), st.integers(0, 3))
def test_neither_of_two_twins_is_ever_meant_by_name(name: str, letter: str, place_of: int) -> None:
    cyrillic = dict(zip("aeopcxyABEHKMOPT", "аеорсхуАВЕНКМОРТ", strict=True))
    first = f"{name[:place_of]}{letter}{name[place_of:]}x"
    second = f"{name[:place_of]}{cyrillic[letter]}{name[place_of:]}x"
    cast = Cast((BEN,), (account(50, first), account(51, second)))
    for written in (first, second, first.upper(), second.upper(), first.lower(), second.lower()):
        assert person(cast.resolve(written)) not in {("user", 1050), ("user", 1051)}
    for number in (50, 51):
        assert person(cast.resolve(f"<@{number}>")) == ("user", number + 1000)


@given(NAMES, PEOPLE)
def test_who_is_hidden_is_never_listed_or_suggested(name: str, drawn: Drawn) -> None:
    cast = cast_of(drawn)
    hidden = {each.account.key for each in cast.entries if each.account.privacy is FULL}
    result = cast.resolve(name)
    if isinstance(result, Ambiguous):
        assert not hidden & {each.key for each in result.candidates}
        for each in result.candidates:
            again = cast.resolve(each.reference)
            assert isinstance(again, Resolved | BridgeUser | Self)
    assert not hidden & {each.key for each in suggest(name, cast.entries)}


@given(st.text(max_size=60), PEOPLE)
def test_no_text_breaks_it(name: str, drawn: Drawn) -> None:
    short(cast_of(drawn, affixes=("master", "\u200b", "-")).resolve(name))


@given(st.text(max_size=300))
def test_normalising_twice_changes_nothing(name: str) -> None:
    assert normalise(normalise(name)) == normalise(name)
