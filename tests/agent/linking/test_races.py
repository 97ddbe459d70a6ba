"""Links against saves, privacy changes, each other and guessing: whatever the order, nothing is lost or let through."""

import asyncio
import random
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.contracts.people import PrivacyLevel
from agent.linking.rules import WRONG_MOST
from agent.privacy.erase import erase_person
from tests.agent.linking.conftest import World

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

ANA, ANA_M, ANA_C = "discord:ana", "matrix:@ana:home", "console:ana"
HOUR = timedelta(hours=1)
SAVED = {"memory_saved_successfully", "memory_already_known"}


async def ready(world: World, first: str, second: str) -> None:
    """Leave only the confirmation to be done."""
    asked = await world.link(first)
    assert asked.data is not None
    assert (await world.link(second, asked.data["code"])).ok
    assert (await world.link(first)).ok


async def test_no_memory_is_lost_while_accounts_are_linked_and_unlinked_under_saves(world: World) -> None:
    luck, saved = random.Random(4), []
    await world.account(ANA)
    await world.account(ANA_C)

    async def save(who: str, number: int) -> None:
        await asyncio.sleep(luck.random() * 0.4)
        content = f"{who} fact {number}"
        result = await world.remember(who, content)
        if result.status in SAVED:
            saved.append(content)
        else:
            assert result.status == "memory_save_failed_refused", result  # its user row was gone: nothing is kept

    async def link() -> None:
        for _ in range(2):
            assert (await world.linked(ANA, ANA_C)).ok
            await asyncio.sleep(0.05)
            assert (await world.run(ANA_C, "unlink")).ok
        assert (await world.linked(ANA_C, ANA)).ok

    async with asyncio.timeout(60):
        await asyncio.gather(link(), *(save(who, number) for who in (ANA, ANA_C) for number in range(30)))
    assert len(saved) > 10
    ana, console = await world.account(ANA), await world.account(ANA_C)
    assert ana.user_id == console.user_id
    assert sorted(await world.owned(ana.user_id)) == sorted(saved)
    await world.run(ANA, "unlink")
    for who in (ANA, ANA_C):
        owned = await world.owned((await world.account(who)).user_id)
        assert sorted(owned) == sorted(content for content in saved if content.startswith(who))


@pytest.mark.parametrize("first", [ANA, ANA_C])
async def test_a_level_set_while_a_link_is_made_holds_for_both(world: World, first: str) -> None:
    for _ in range(8):
        for who in (ANA, ANA_C):
            await world.run(who, "privacy", "set", level="none")
        await ready(world, ANA, ANA_C)
        await asyncio.gather(world.link(ANA, "confirm"), world.run(first, "privacy", "set", level="full"))
        levels = {(await world.account(who)).privacy for who in (ANA, ANA_C)}
        assert levels == {PrivacyLevel.FULL}
        await world.run(ANA, "unlink")
        world.clock.advance(HOUR)


async def test_one_request_is_confirmed_once(world: World) -> None:
    await ready(world, ANA, ANA_M)
    replies = await asyncio.gather(*(world.link(ANA, "confirm") for _ in range(8)))
    assert sum(reply.ok for reply in replies) == 1
    done = await asyncio.gather(*(world.run(who, "unlink") for who in (ANA, ANA_M) for _ in range(4)))
    assert sum(reply.ok for reply in done) == 1


async def test_one_code_is_entered_by_one(world: World) -> None:
    asked = await world.link(ANA)
    assert asked.data is not None
    code = asked.data["code"]
    replies = await asyncio.gather(*(world.link(f"matrix:@a{number}:home", code) for number in range(10)))
    assert sum(reply.ok for reply in replies) == 1


async def test_guesses_at_once_are_counted_one_by_one(world: World) -> None:
    await world.link(ANA)
    await world.account(ANA_M)
    replies = await asyncio.gather(*(world.link(ANA_M, "22222222") for _ in range(40)))
    reasons = [reply.data["refused"] for reply in replies if reply.data is not None]
    assert reasons.count("wrong") == WRONG_MOST
    assert reasons.count("too_many_wrong") == 40 - WRONG_MOST


async def test_crossing_links_do_not_wait_for_each_other_for_ever(world: World) -> None:
    await ready(world, ANA, ANA_C)
    await ready(world, ANA_C, ANA_M)
    await ready(world, ANA_M, ANA)
    async with asyncio.timeout(30):
        await asyncio.gather(*(world.link(who, "confirm") for who in (ANA, ANA_C, ANA_M)))
    users = {(await world.account(who)).user_id for who in (ANA, ANA_C, ANA_M)}
    assert len(users) == 1


async def test_forgetting_while_a_link_is_made_forgets_all_or_one(world: World) -> None:
    core = world.agent.core
    for _ in range(4):
        for who in (ANA, ANA_C):
            await world.remember(who, f"{who} likes tea")
        await ready(world, ANA, ANA_C)
        account = (await world.account(ANA)).account_id
        reply, receipt = await asyncio.gather(
            world.link(ANA, "confirm"), erase_person(core.store, core.hooks, account, world.clock.now())
        )
        first, second = await world.account(ANA), await world.account(ANA_C)
        left = [row["content"] for row in await world.rows("SELECT content FROM personal_memories")]
        if len(receipt.account_ids) > 1:
            assert left == []  # linked, then forgotten
            assert first.user_id != second.user_id
        else:
            assert left == [f"{ANA_C} likes tea"]  # its request was forgotten, too
            assert not reply.ok
        await core.privacy.set_level(second.account_id, PrivacyLevel.NONE)
        await erase_person(core.store, core.hooks, second.account_id, world.clock.now())
        world.clock.advance(HOUR)


@dataclass
class Expected:
    """Who is linked with whom, and the level of each."""

    groups: dict[str, set[str]]
    levels: dict[str, PrivacyLevel] = field(
        default_factory=lambda: dict.fromkeys((ANA, ANA_M, ANA_C), PrivacyLevel.NONE)
    )


STEP = st.tuples(
    st.sampled_from(["link", "unlink", "save", "full", "none", "forget"]),
    st.sampled_from([ANA, ANA_M, ANA_C]),
    st.sampled_from([ANA, ANA_M, ANA_C]),
)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(steps=st.lists(STEP, min_size=3, max_size=10))
async def test_after_any_steps_a_memory_belongs_to_whom_it_is_about(
    world: World, steps: list[tuple[str, str, str]]
) -> None:
    core = world.agent.core
    for who in (ANA, ANA_M, ANA_C):
        account = await world.account(who)
        await core.links.unlink(account.account_id, world.clock.now())
        await erase_person(core.store, core.hooks, account.account_id, world.clock.now())
        await core.privacy.set_level(account.account_id, PrivacyLevel.NONE)
    expected = Expected({who: {who} for who in (ANA, ANA_M, ANA_C)})
    model = expected.groups
    for number, step in enumerate(steps):
        world.clock.advance(HOUR)
        await _take(world, step, f"fact {number}", expected)
        for each, group in model.items():
            user_id = (await world.account(each)).user_id
            assert (await world.account(each)).privacy is expected.levels[each]
            assert {one for one in model if (await world.account(one)).user_id == user_id} == group or user_id is None
            assert (user_id is None) == (group == {ANA_M})
        orphans = await world.rows(
            "SELECT FROM personal_memories m WHERE NOT EXISTS (SELECT FROM accounts a WHERE a.user_id = m.user_id)"
        )
        assert orphans == []


async def _take(world: World, asked: tuple[str, str, str], content: str, expected: Expected) -> None:
    step, who, other = asked
    model, levels = expected.groups, expected.levels
    core, now = world.agent.core, world.clock.now()
    account = (await world.account(who)).account_id
    match step:
        case "link":
            may = who != other and other not in model[who]
            if may:
                assert (await world.linked(who, other)).ok
                group = model[who] | model[other]
                strict = PrivacyLevel.FULL if PrivacyLevel.FULL in {levels[one] for one in group} else PrivacyLevel.NONE
                for one in group:
                    model[one], levels[one] = group, strict
        case "unlink":
            done = await core.links.unlink(account, now)
            assert (done is not None) == (len(model[who]) > 1)
            for one in model[who] - {who}:
                model[one] = model[one] - {who}
            model[who] = {who}
        case "save":
            await world.remember(who, content)
        case "forget":
            await erase_person(core.store, core.hooks, account, now)
            for one in list(model[who]):
                model[one] = {one}
        case level:
            await core.privacy.set_level(account, PrivacyLevel(level))
            for one in model[who]:
                levels[one] = PrivacyLevel(level)
