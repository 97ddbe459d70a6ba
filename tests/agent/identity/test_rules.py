"""The resolver's specification: names, who is there, and what comes of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.people import Account, Participant, PrivacyLevel, Speaker
from agent.identity.directory import Directory, Scope
from agent.identity.keys import ParticipantKey, ParticipantKind
from agent.identity.names import normalise
from agent.identity.results import Ambiguous, BridgeUser, NotFound, Resolution, Resolved, Self, Step
from agent.identity.rules import mentioned_id, resolve
from tests.agent.identity.builders import BOT, PERSONA, account, directory, entry, participants, place, scope

ANA = account(1, "Ana", username="ana.m")
BEN = account(2, "Ben", username="ben")
TWIN = account(3, "ana", username="ana_the_second")
EVE = account(4, "Eve", username="eve")
HIDDEN = account(5, "Zoe", username="zoe", privacy=PrivacyLevel.FULL)
MAT = account(6, "Mat", external_id="@mat:example.org", kind=ParticipantKind.MATRIX_USER, user=None)
MIRRI = account(7, "Mirri", username="mirri")
DIGITS = account(8, "2", username="digits")
ME = account(9, "me")
EVERYBODY = directory(ANA, BEN, EVE, HIDDEN, MAT, DIGITS)


def short(result: Resolution) -> str:
    """A result in one word."""
    match result:
        case Resolved(account=found, step=step):
            return f"{found.account_id} {step}"
        case Self(step=step):
            return f"self {step}"
        case BridgeUser(account=found, step=step):
            return f"bridge {found.account_id} {step}"
        case Ambiguous(candidates=candidates):
            return "ambiguous " + ",".join(str(each.key.id) for each in candidates)
        case NotFound():
            return "not found"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ana", "1 name"),
        ("ANA", "1 name"),
        ("@ana", "1 name"),
        ("ａｎａ", "1 name"),
        ("a\u200bna", "1 name"),
        ("ana.m", "1 name"),
        ("eve", "4 name"),
        ("<@4>", "4 mention"),
        ("<@!4>", "4 mention"),
        (" <@4> ", "4 mention"),
        ("<@77>", "not found"),
        ("<@999>", "self mention"),
        ("@mat:example.org", "bridge 6 mention"),
        ("Mat", "bridge 6 name"),
        ("@eve:example.org", "not found"),
        ("4", "not found"),
        ("2", "8 name"),
        ("<@2>", "2 mention"),
        ("me", "2 speaker"),
        ("@me", "2 speaker"),
        ("Me", "2 speaker"),
        ("ben", "2 speaker"),
        ("@{ben}", "2 handle"),
        ("@{ana}", "1 handle"),
        ("@{eve}", "4 name"),
        ("@{nobody}", "not found"),
        ("{bot}", "self bot"),
        ("Mirri", "self bot"),
        ("@{mirri}", "self bot"),
        ("zoe", "5 name"),
        ("everyone", "not found"),
        ("here", "not found"),
        ("", "not found"),
        ("\u200b", "not found"),
        ("@", "not found"),
        ("anna", "not found"),
        ("an", "not found"),
        ("{user}", "not found"),
    ],
)
def test_where_no_name_is_shared(name: str, expected: str) -> None:
    assert short(resolve(name, scope(BEN, ANA), EVERYBODY)) == expected


@pytest.mark.parametrize(
    ("name", "present", "members", "expected"),
    [
        # Twins: whoever of them is not singled out by the conversation is not chosen.
        ("ana", (BEN,), (BEN, ANA, TWIN), "ambiguous 1,3"),
        ("ana", (BEN, ANA, TWIN), (BEN, ANA, TWIN), "ambiguous 1,3"),
        ("ana", (BEN, ANA), (BEN, ANA, TWIN), "1 label"),
        ("ana", (BEN, TWIN), (BEN, ANA, TWIN), "3 label"),
        ("@{ana}", (BEN, ANA, TWIN), (BEN, ANA, TWIN), "1 handle"),
        ("ana~2", (BEN, ANA, TWIN), (BEN, ANA, TWIN), "3 handle"),
        ("@{ana~2}", (BEN, ANA, TWIN), (BEN, ANA, TWIN), "3 handle"),
        ("<@3>", (BEN, ANA, TWIN), (BEN, ANA, TWIN), "3 mention"),
        # The speaker's own handle works, twin or not.
        ("me", (ANA, TWIN), (ANA, TWIN), "1 speaker"),
        ("ana", (ANA, TWIN), (ANA, TWIN), "1 speaker"),
        ("ana~2", (TWIN, ANA), (ANA, TWIN), "3 handle"),
        ("ana", (TWIN, ANA), (ANA, TWIN), "ambiguous 1,3"),
        # Another's username as a nickname captures nothing.
        ("ben", (EVE,), (BEN, account(4, "ben", username="eve")), "ambiguous 2,4"),
        ("ben", (EVE,), (account(2, "Benjamin", username="ben"), account(4, "ben", username="eve")), "ambiguous 2,4"),
        ("ben", (ANA, BEN), (ANA, BEN, account(4, "ben", username="eve")), "2 label"),
        # Hidden people make a name ambiguous and are not listed.
        ("zoe", (BEN,), (BEN, HIDDEN, account(10, "Zoe")), "ambiguous 10"),
        ("zoe", (BEN, account(10, "Zoe")), (BEN, HIDDEN, account(10, "Zoe")), "ambiguous 10"),
        ("zoe", (BEN,), (account(11, "Z", username="zoe", privacy=PrivacyLevel.FULL), HIDDEN), "ambiguous "),
        ("me", (HIDDEN, BEN), (HIDDEN, BEN), "5 speaker"),
        # A human who bears the agent's name.
        ("Mirri", (BEN,), (BEN, MIRRI), "ambiguous 1,7"),
        ("Mirri", (BEN, MIRRI), (BEN, MIRRI), "ambiguous 1,7"),
        ("mirri~2", (BEN, MIRRI), (BEN, MIRRI), "7 handle"),
        ("{bot}", (BEN, MIRRI), (BEN, MIRRI), "self bot"),
        ("me", (MIRRI,), (MIRRI,), "7 speaker"),
        # A name that is a word of ours.
        ("me", (BEN, ME), (BEN, ME), "2 speaker"),
        ("me~2", (BEN, ME), (BEN, ME), "9 handle"),
        # Linked accounts are one person; the stricter one answers.
        (
            "kim",
            (BEN,),
            (account(20, "Kim", user=50), account(21, "kim", user=50, privacy=PrivacyLevel.PARTIAL)),
            "21 name",
        ),
        # A participant of another server's directory is still somebody of this conversation.
        ("eve", (BEN, EVE), (BEN,), "4 name"),
        ("<@4>", (BEN, EVE), (BEN,), "4 mention"),
        # A handle is a name like others unless it is written as a handle.
        ("ana_b", (BEN, account(30, "Ana B")), (BEN, account(31, "X", username="ana_b")), "ambiguous 30,31"),
        # The same digits of two kinds.
        (
            "<@5>",
            (BEN,),
            (account(40, "A", external_id="5"), account(41, "B", external_id="5", kind=ParticipantKind.WEBHOOK)),
            "ambiguous 5,5",
        ),
    ],
)
def test_where_names_are_shared(
    name: str, present: tuple[Account, ...], members: tuple[Account, ...], expected: str
) -> None:
    assert short(resolve(name, scope(*present), directory(*members))) == expected


def test_candidates_say_what_tells_them_apart() -> None:
    result = resolve("ana", scope(BEN, ANA, TWIN), directory(BEN, ANA, TWIN))
    assert isinstance(result, Ambiguous)
    assert [(each.label, each.distinction, each.handle) for each in result.candidates] == [
        ("Ana", "username ana.m", "@{ana}"),
        ("ana", "username ana_the_second", "@{ana~2}"),
    ]
    with_agent = resolve("Mirri", scope(BEN, MIRRI), directory(BEN, MIRRI))
    assert isinstance(with_agent, Ambiguous)
    assert [(each.distinction, each.handle) for each in with_agent.candidates] == [
        ("the agent itself", "{bot}"),
        ("username mirri", "@{mirri~2}"),
    ]


def test_nobody_speaks_when_an_operator_asks() -> None:
    assert short(resolve("me", scope(BEN, speaker=False), EVERYBODY)) == "not found"
    assert short(resolve("ben", scope(speaker=False), EVERYBODY)) == "2 name"


def test_a_proxied_identity_is_the_person_and_its_account_answers() -> None:
    key = ParticipantKey(ParticipantKind.PROXY_IDENTITY, "member-uuid")
    mira = Participant("mira", "Mira", ANA, Speaker(key, 5000, "Mira"))
    where = Scope(place(), (mira, *participants(BEN)), PERSONA, "Mirri", mira, frozenset({BOT}))
    for name in ("me", "mira", "@{mira}", "<@member-uuid>"):
        result = resolve(name, where, EVERYBODY)
        assert isinstance(result, Resolved)
        assert (result.user_id, result.account) == (5000, ANA)
    assert short(resolve("Ana", where, EVERYBODY)) == "1 name"


def test_at_most_ten_candidates_are_listed() -> None:
    result = resolve("ana", scope(BEN), directory(*(account(number, "Ana") for number in range(10, 40))))
    assert isinstance(result, Ambiguous)
    assert len(result.candidates) == 10


NAMES = st.sampled_from(["ana", "Ana", "ben", "Mirri", "me", "ana~2", "2", "1", "zoe", "аna", "", "@{ana}", "x y"])
MEMBERS = st.lists(
    st.tuples(NAMES, st.none() | NAMES, st.sampled_from(PrivacyLevel), st.booleans(), st.booleans()), max_size=6
)


def people_of(drawn: list[tuple[str, str | None, PrivacyLevel, bool, bool]]) -> list[tuple[Account, bool]]:
    return [
        (account(number, shown or "x", username=username, privacy=level, user=0 if owns else None), present)
        for number, (shown, username, level, owns, present) in enumerate(drawn, start=1)
    ]


@given(NAMES, MEMBERS, st.data())
def test_the_order_of_the_directory_never_matters(
    name: str, drawn: list[tuple[str, str | None, PrivacyLevel, bool, bool]], data: st.DataObject
) -> None:
    people = people_of(drawn)
    where = scope(*(person for person, present in people if present))
    entries = [entry(person) for person, _ in people]
    shuffled = data.draw(st.permutations(entries))
    assert resolve(name, where, Directory(tuple(entries))) == resolve(name, where, Directory(tuple(shuffled)))


@given(NAMES, MEMBERS, NAMES)
def test_another_member_never_turns_one_person_into_another(
    name: str, drawn: list[tuple[str, str | None, PrivacyLevel, bool, bool]], added: str
) -> None:
    people = people_of(drawn)
    where = scope(*(person for person, present in people if present))
    members = [person for person, _ in people]
    before = resolve(name, where, directory(*members))
    after = resolve(name, where, directory(*members, account(100, added or "x")))
    if isinstance(before, Resolved | BridgeUser) and isinstance(after, Resolved | BridgeUser):
        assert after.account == before.account


@given(NAMES, MEMBERS)
def test_whoever_is_resolved_by_name_bears_it_alone(
    name: str, drawn: list[tuple[str, str | None, PrivacyLevel, bool, bool]]
) -> None:
    people = people_of(drawn)
    where = scope(*(person for person, present in people if present), speaker=False)
    entries = [entry(person) for person, _ in people]
    result = resolve(name, where, Directory(tuple(entries)))
    if isinstance(result, Resolved | BridgeUser) and result.step is Step.NAME:
        wanted = normalise(name.strip("@{}"))
        owners = [each.account.account_id for each in entries if each.bears(wanted)]
        handles = [each.account.account_id for each in where.participants if each.handle == wanted]
        assert {*owners, *handles} == {result.account.account_id}


@given(NAMES, MEMBERS)
def test_who_is_hidden_is_never_listed(
    name: str, drawn: list[tuple[str, str | None, PrivacyLevel, bool, bool]]
) -> None:
    people = people_of(drawn)
    result = resolve(name, scope(), directory(*(person for person, _ in people)))
    if isinstance(result, Ambiguous):
        hidden = {person.key for person, _ in people if person.privacy is PrivacyLevel.FULL}
        assert not hidden & {each.key for each in result.candidates}


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("<@42>", "42"),
        ("<@!42>", "42"),
        ("<@ana>", "ana"),
        ("@ana:example.org", "@ana:example.org"),
        ("@ana:example.org:8448", "@ana:example.org:8448"),
        ("@ana", None),
        ("ana:example.org", None),
        ("<@42> and <@43>", None),
        ("hello <@42>", None),
        ("<@>", None),
        ("<#42>", None),
    ],
)
def test_mentioned_id(text: str, identifier: str | None) -> None:
    assert mentioned_id(text) == identifier
