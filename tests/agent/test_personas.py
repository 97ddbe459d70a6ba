from dataclasses import dataclass

import pytest

from agent.contracts.people import DEFAULT_LINEAGE, Persona
from agent.identity.people import People
from agent.personas import Personas, called_in
from agent.store.pool import Store
from tests.agent.identity.builders import GENERAL, HOME, NOW, author


@dataclass(frozen=True)
class Defaults:
    name: str = "Isthmus"
    prompt: str = "You are {bot}."
    avatar: str | None = "https://example.org/a.png"
    triggers: tuple[str, ...] = ("robot",)


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


async def test_a_new_server_has_a_default_persona_as_the_deployment_says(store: Store) -> None:
    entrance = await People(store).enter(HOME, GENERAL, author("ana"), NOW)
    server_id = entrance.place.server.server_id
    found = await Personas(store, Defaults()).default(server_id)
    assert found == Persona(
        found.persona_id,
        server_id,
        DEFAULT_LINEAGE,
        "Isthmus",
        "You are {bot}.",
        "https://example.org/a.png",
        ("robot",),
        is_default=True,
    )
    renamed = await Personas(store, Defaults(name="Mirri")).default(server_id)
    assert (renamed.persona_id, renamed.nickname) == (found.persona_id, "Mirri")


async def test_what_a_server_has_set_stays(store: Store) -> None:
    entrance = await People(store).enter(HOME, GENERAL, author("ana"), NOW)
    server_id = entrance.place.server.server_id
    async with store.connection() as connection:
        await connection.execute("UPDATE personas SET nickname = 'Otto', triggers = '{}'")
        await connection.execute(
            "INSERT INTO personas (server_id, persona_lineage_id, nickname, prompt, triggers, created_at)"
            " VALUES ($1, 1, 'Second', '', '{}', $2)",
            server_id,
            NOW,
        )
    default, second = await Personas(store, Defaults()).for_server(server_id)
    assert (default.nickname, default.prompt, default.triggers) == ("Otto", "You are {bot}.", ())
    assert (second.nickname, second.avatar, second.is_default) == ("Second", None, False)


async def test_an_unknown_server_has_no_persona(store: Store) -> None:
    personas = Personas(store, Defaults())
    assert await personas.for_server(1) == ()
    with pytest.raises(LookupError, match="nobody has entered it"):
        await personas.default(1)
