import pytest

from agent.impersonation.rules import CONSENT, Consent, Standing, consent_of, may_be_impersonated
from agent.preferences import Layer
from tests.agent.identity.builders import account

ANA = account(1, "Ana")


@pytest.mark.parametrize(
    ("choices", "consent"),
    [
        ((), Consent.MANAGERS),
        (("on",), Consent.ON),
        (("managers",), Consent.MANAGERS),
        (("on", "off"), Consent.OFF),
        (("on", "managers"), Consent.ON),
        (("nonsense",), Consent.MANAGERS),
    ],
)
def test_one_no_is_enough(choices: tuple[str, ...], consent: Consent) -> None:
    assert consent_of(choices) is consent


@pytest.mark.parametrize(
    ("consents", "by_right", "may"),
    [
        ((), True, True),
        ((), False, False),
        (("on",), False, True),
        (("off",), True, False),
        (("off",), False, False),
        (("managers",), True, True),
        (("managers",), False, False),
    ],
)
def test_who_may_be_impersonated(consents: tuple[str, ...], by_right: bool, may: bool) -> None:
    free, restricted = (Standing(ANA, restricted, frozenset(consents)) for restricted in (False, True))
    assert may_be_impersonated(free, by_right=by_right) is may
    assert not may_be_impersonated(restricted, by_right=by_right)


def test_only_the_person_chooses() -> None:
    assert CONSENT.layers == {Layer.PERSON}
    assert CONSENT.default == Consent.MANAGERS
