"""Who is meant, as a specification: for each cast of people, what each name comes to.

A result reads `1 name` (account 1, decided by the name), `bridge 6 mention relay`, `self bot`, `not found`, or
`ambiguous 1,3`: who is listed, first those who bear the name, then those whose name looks like it. Who stands in `here`
takes part in the conversation, and the first of them speaks.
"""

import pytest

from tests.agent.identity.cases_of_names import NAMES
from tests.agent.identity.cases_of_people import PEOPLE
from tests.agent.identity.casts import Cast, short

CASES = [
    (title, cast, name, expected)
    for title, (cast, names) in {**NAMES, **PEOPLE}.items()
    for name, expected in names.items()
]


def test_the_table_is_long() -> None:
    assert len(CASES) >= 400
    assert not NAMES.keys() & PEOPLE.keys()


@pytest.mark.parametrize(
    ("cast", "name", "expected"),
    [pytest.param(*case[1:], id=f"{case[0]}: {case[2][:40]!a}-{number}") for number, case in enumerate(CASES)],
)
def test_resolution(cast: Cast, name: str, expected: str) -> None:
    assert short(cast.resolve(name)) == expected
