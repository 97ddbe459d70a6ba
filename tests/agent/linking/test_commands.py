"""`/link` and `/unlink` in a running agent on several platforms."""

from datetime import timedelta
from typing import Any

import pytest

from agent.linking.rules import ASKED_MOST, WRONG_MOST, WRONG_MOST_OF_ALL
from tests.agent.linking.conftest import World

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

ANA, ANA_M, ANA_C = "discord:ana", "matrix:@ana:home", "console:ana"


def refusal(reply: Any) -> str | None:
    assert not reply.ok
    assert reply.private
    return None if reply.data is None else reply.data["refused"]


async def code_of(world: World, who: str) -> str:
    asked = await world.link(who)
    assert asked.data is not None
    return str(asked.data["code"])


async def test_a_matrix_account_has_personal_memories_on_both_sides_once_it_is_linked(world: World) -> None:
    await world.remember(ANA, "Ana keeps bees")
    await world.remember(ANA_M, "Ana sings")
    assert await world.rows("SELECT content FROM server_memories") == [{"content": "Ana sings"}]  # the fallback
    assert "keeps bees" not in await world.prompt(ANA_M)

    done = await world.linked(ANA, ANA_M)
    assert done.ok, done.text
    assert (await world.account(ANA)).user_id == (await world.account(ANA_M)).user_id is not None
    assert "keeps bees" in await world.prompt(ANA_M)
    await world.remember(ANA_M, "Ana paints")
    assert "paints" in await world.prompt(ANA)
    assert await world.owned((await world.account(ANA)).user_id) == ["Ana keeps bees", "Ana paints"]


async def test_nothing_is_linked_before_it_is_confirmed_where_the_code_was_given(world: World) -> None:
    code = await code_of(world, ANA)
    entered = await world.link(ANA_M, code)
    assert entered.ok
    assert entered.private
    assert "discord" in entered.text
    assert "ana" not in entered.text.lower()  # whoever found the code learns nothing about whose it is
    assert (await world.account(ANA_M)).user_id is None
    assert refusal(await world.link(ANA_M, "confirm")) == "nobody_asks"

    # Who confirms without having seen who asks is shown it first.
    shown = await world.link(ANA, "confirm")
    assert "@Ana:Home (matrix:@ana:home)" in shown.text
    assert {step.path for step in shown.steps} == {("link",)}
    assert [step.options["code"] for step in shown.steps] == ["confirm", "refuse"]
    assert (await world.account(ANA_M)).user_id is None
    assert (await world.link(ANA, "confirm")).ok
    assert (await world.account(ANA_M)).user_id == (await world.account(ANA)).user_id
    assert refusal(await world.link(ANA, "confirm")) == "nobody_asks"


async def test_who_refuses_is_not_linked_and_the_code_is_void(world: World) -> None:
    code = await code_of(world, ANA)
    await world.link(ANA_M, code)
    await world.link(ANA)
    assert (await world.link(ANA, "refuse")).ok
    assert refusal(await world.link(ANA, "confirm")) == "nobody_asks"
    assert refusal(await world.link(ANA, "refuse")) == "nobody_asks"
    assert refusal(await world.link(ANA_M, code)) == "wrong"


async def test_a_code_is_eight_characters_of_which_only_a_digest_is_kept(world: World) -> None:
    code = await code_of(world, ANA)
    assert len(code) == 8
    (row,) = await world.rows(
        "SELECT link_requests::text AS text, octet_length(code_digest) AS size FROM link_requests"
    )
    assert code not in row["text"]
    assert row["size"] == 32


async def test_a_code_works_once_and_for_ten_minutes(world: World) -> None:
    code = await code_of(world, ANA)
    world.clock.advance(timedelta(minutes=10))
    assert refusal(await world.link(ANA_M, code)) == "wrong"
    code = await code_of(world, ANA)
    world.clock.advance(timedelta(minutes=9, seconds=59))
    assert (await world.link(ANA_M, f" {code[:4].lower()}-{code[4:]} ")).ok
    assert refusal(await world.link("matrix:@eve:home", code)) == "wrong"
    await world.link(ANA)
    world.clock.advance(timedelta(minutes=10))  # the question is over, too
    assert refusal(await world.link(ANA, "confirm")) == "nobody_asks"


async def test_a_new_code_voids_the_one_before(world: World) -> None:
    first, second = await code_of(world, ANA), await code_of(world, ANA)
    assert refusal(await world.link(ANA_M, first)) == "wrong"
    assert (await world.link(ANA_M, second)).ok


async def test_who_has_entered_a_code_cannot_be_replaced_behind_the_back_of_who_saw_them(world: World) -> None:
    await world.link(ANA_M, await code_of(world, ANA))
    await world.link(ANA)
    assert (await world.link(ANA, "refuse")).ok
    await world.link("matrix:@eve:home", await code_of(world, ANA))
    shown = await world.link(ANA, "confirm")  # eve was not shown yet
    assert "@eve:home" in shown.text
    assert (await world.account("matrix:@eve:home")).user_id is None


async def test_an_account_does_not_enter_its_own_code_nor_one_of_its_platform(world: World) -> None:
    code = await code_of(world, ANA)
    assert refusal(await world.link(ANA, code)) == "own_code"
    assert refusal(await world.link("discord:second", code)) == "same_platform"
    assert (await world.linked(ANA_C, "discord:second")).ok
    assert refusal(await world.link(ANA_C, code)) == "same_platform"
    assert (await world.link(ANA_M, code)).ok  # it was not used up by what was refused


async def test_linked_accounts_are_not_linked_again(world: World) -> None:
    await world.linked(ANA, ANA_M)
    assert refusal(await world.link(ANA_M, await code_of(world, ANA))) == "linked"


async def test_a_platform_taken_meanwhile_is_noticed_when_it_is_confirmed(world: World) -> None:
    await world.link(ANA_M, await code_of(world, ANA))
    await world.link(ANA)
    assert (await world.linked(ANA_M, ANA_C)).ok
    assert (await world.linked("discord:second", "matrix:@other:home")).ok
    async with world.agent.core.store.connection() as conn:  # as if both had been linked in the meantime
        second = (await world.account("discord:second")).user_id
        await conn.execute(
            "UPDATE accounts SET user_id = $1 WHERE account_id = $2", second, (await world.account(ANA_C)).account_id
        )
        await conn.execute(
            "UPDATE accounts SET user_id = $1 WHERE account_id = $2", second, (await world.account(ANA_M)).account_id
        )
        await conn.execute(
            "INSERT INTO link_requests (account_id, other_account_id, is_shown, expires_at) VALUES ($1, $2, true, $3)"
            " ON CONFLICT (account_id) DO UPDATE SET other_account_id = $2, is_shown = true, code_digest = NULL",
            (await world.account(ANA)).account_id,
            (await world.account(ANA_M)).account_id,
            world.clock.now() + timedelta(minutes=1),
        )
    assert refusal(await world.link(ANA, "confirm")) == "same_platform"


@pytest.mark.parametrize("code", ["", " "])
async def test_an_empty_code_asks_for_one(world: World, code: str) -> None:
    assert (await world.link(ANA, code)).data is not None


@pytest.mark.parametrize("code", ["ABCDEFGH", "x" * 5000, "💥", "\x00", "' OR 1=1", "confirm me", "\ud800"])
async def test_what_is_no_code_is_wrong(world: World, code: str) -> None:
    await code_of(world, ANA)
    assert refusal(await world.link(ANA_M, code)) == "wrong"


async def test_guessing_ends_after_a_few_tries_even_with_the_right_code(world: World) -> None:
    code = await code_of(world, ANA)
    for _ in range(WRONG_MOST):
        assert refusal(await world.link(ANA_M, "22222222")) == "wrong"
    assert refusal(await world.link(ANA_M, code)) == "too_many_wrong"
    world.clock.advance(timedelta(hours=1))
    assert (await world.link(ANA_M, await code_of(world, ANA))).ok


async def test_many_guessers_together_are_stopped(world: World) -> None:
    code = await code_of(world, ANA)
    for number in range(WRONG_MOST_OF_ALL):
        assert refusal(await world.link(f"matrix:@bot{number // WRONG_MOST}:home", "22222222")) == "wrong"
    assert refusal(await world.link("matrix:@fresh:home", code)) == "busy"
    world.clock.advance(timedelta(minutes=10))
    assert (await world.link(ANA_M, await code_of(world, ANA))).ok


async def test_codes_are_not_asked_for_without_end(world: World) -> None:
    for _ in range(ASKED_MOST):
        await code_of(world, ANA)
    assert refusal(await world.link(ANA)) == "too_many_codes"
    world.clock.advance(timedelta(hours=1))
    assert await code_of(world, ANA)
