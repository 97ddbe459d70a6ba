import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.contracts.people import PrivacyLevel
from agent.identity.names import normalise
from agent.identity.suggestions import length_bounds, suggest
from tests.agent.identity.builders import account, entry

PEOPLE = [
    entry(account(1, "Daniel", username="dan.the.man")),
    entry(account(2, "Diana the Great")),
    entry(account(3, "Maxine")),
    entry(account(4, "Katharina", privacy=PrivacyLevel.FULL)),
    entry(account(5, "Jonathan")),
]


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("daniela", ["Daniel"]),
        ("Danile", ["Daniel"]),
        ("jonatan", ["Jonathan"]),
        ("ana", []),
        ("dianna", []),
        ("max", []),
        ("katharine", []),
        ("", []),
        ("xxxxxx", []),
    ],
)
def test_suggest(name: str, suggested: list[str]) -> None:
    assert [each.label for each in suggest(name, PEOPLE)] == suggested


def test_at_most_five_nearest_first() -> None:
    people = [entry(account(number, f"Daniel{'x' * (number % 3)}")) for number in range(1, 10)]
    found = suggest("danielx", people)
    assert len(found) == 5
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert found[0].score == 100


@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_the_bounds_of_length_leave_no_near_name_out(wanted: str, name: str) -> None:
    people = [entry(account(1, name))]
    if suggest(wanted, people):
        shortest, longest = length_bounds(normalise(wanted))
        assert shortest <= len(normalise(name)) <= longest
