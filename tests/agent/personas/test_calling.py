import pytest

from agent.contracts.people import Persona
from agent.personas.calling import called_in, default_of, named


def persona(number: int, nickname: str, *triggers: str) -> Persona:
    return Persona(number, 1, 1, nickname, "", None, triggers, is_default=number == 1)


MIRRI, OTTO = persona(1, "Mirri", "master mirri", "🦊"), persona(2, "Otto", "captain")


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("hey Mirri!", "Mirri"),
        ("hey MIRRI, otto", "Mirri"),
        ("otto and mirri", "Otto"),
        ("Captain?", "Otto"),
        ("master  Mirri", "Mirri"),
        ("@mirri hello", "Mirri"),
        ("look🦊here", "Mirri"),
        ("mirrigold", None),
        ("ottoman", None),
        ("x" * 100_000 + " mirri", "Mirri"),
        ("", None),
    ],
)
def test_who_is_called(text: str, called: str | None) -> None:
    found = called_in(text, (MIRRI, OTTO))
    assert (found.persona.nickname if found else None) == called


def test_the_longer_trigger_is_named() -> None:
    found = called_in("master mirri", (persona(1, "master"), MIRRI))
    assert found is not None
    assert (found.persona, found.trigger) == (MIRRI, "master mirri")


@pytest.mark.parametrize(("name", "found"), [("otto", OTTO), (" ＯＴＴＯ ", OTTO), ("captain", None), ("", None)])
def test_a_persona_is_found_by_its_name_alone(name: str, found: Persona | None) -> None:
    assert named((MIRRI, OTTO), name) == found


def test_the_default_persona() -> None:
    assert default_of((OTTO, MIRRI)) == MIRRI
    with pytest.raises(LookupError, match="nobody has entered"):
        default_of((OTTO,))
