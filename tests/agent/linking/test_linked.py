"""What follows when accounts are linked and part: memories, levels, blacklists, erasures, the trail."""

from typing import Any

import pytest

from agent.commands import Invocation
from agent.contracts.links import UserMove
from agent.contracts.people import PrivacyLevel
from agent.testing.scripted_model import ScriptedCall
from agent.tools import Connection
from tests.agent.linking.conftest import World

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

ANA, ANA_M, ANA_C = "discord:ana", "matrix:@ana:home", "console:ana"


def refusal(reply: Any) -> str | None:
    assert not reply.ok
    assert reply.private
    return None if reply.data is None else reply.data["refused"]


async def invocation(world: World, who: str) -> Invocation:
    platform, author = world.author(who)
    entrance = await world.agent.core.people.enter(*platform.place(), author, world.clock.now())
    persona = await world.agent.core.personas.default(entrance.place.server.server_id)
    return Invocation(
        ("unlink",), {}, entrance.place, entrance.account, persona, can_manage=False, now=world.clock.now()
    )


async def test_unlinking_says_what_stays_where_and_takes_it_there(world: World) -> None:
    await world.remember(ANA, "Ana keeps bees")
    await world.remember(ANA_C, "Ana climbs")
    assert (await world.linked(ANA, ANA_C)).ok
    await world.remember(ANA, "Ana bakes")
    await world.remember(ANA_C, "Ana swims")
    together = ["Ana keeps bees", "Ana climbs", "Ana bakes", "Ana swims"]
    assert await world.owned((await world.account(ANA)).user_id) == together

    done = await world.run(ANA_C, "unlink")
    assert done.ok
    assert done.data is not None
    assert (done.data["went"], done.data["stayed"]) == (2, 2)
    assert "2 personal memories, learned there, go with Ana (console:ana); 2 stay with Ana (discord:ana)" in done.text
    assert await world.owned((await world.account(ANA)).user_id) == ["Ana keeps bees", "Ana bakes"]
    assert await world.owned((await world.account(ANA_C)).user_id) == ["Ana climbs", "Ana swims"]
    assert "climbs" not in await world.prompt(ANA)
    assert "climbs" in await world.prompt(ANA_C)
    assert refusal(await world.run(ANA, "unlink")) is None
    assert (await world.linked(ANA_C, ANA)).ok  # and back again
    assert await world.owned((await world.account(ANA)).user_id) == together


@pytest.mark.parametrize("who", [ANA, ANA_M])
async def test_what_a_matrix_account_cannot_keep_stays_with_the_other(world: World, who: str) -> None:
    await world.linked(ANA_M, ANA)
    await world.remember(ANA, "Ana keeps bees")
    await world.remember(ANA_M, "Ana paints")
    done = await world.run(who, "unlink")
    assert done.data is not None
    assert (done.data["went"], done.data["stayed"]) == (0, 2)
    assert [each["platform"] for each in done.data["stayed_with"]] == ["discord"]
    assert "all 2 personal memories stay with Ana (discord:ana)" in done.text
    assert (await world.account(ANA_M)).user_id is None
    assert await world.owned((await world.account(ANA)).user_id) == ["Ana keeps bees", "Ana paints"]
    await world.remember(ANA_M, "Ana sings")
    assert await world.rows("SELECT content FROM server_memories") == [{"content": "Ana sings"}]
    assert "keeps bees" not in await world.prompt(ANA_M)

    # What is about the account that left is still theirs to see and to delete.
    held = await world.agent.core.hooks.collect("export_person", account=await world.account(ANA_M))
    assert [row["content"] for part in held for row in part.get("personal_memories", [])] == ["Ana paints"]
    asked = await world.run(ANA_M, "privacy", "forget-me")
    assert asked.data is not None
    assert (await world.run(ANA_M, "privacy", "forget-me", code=asked.data["code"])).ok
    assert await world.owned((await world.account(ANA)).user_id) == ["Ana keeps bees"]


async def test_one_of_three_accounts_leaves_and_the_others_stay_linked(world: World) -> None:
    await world.linked(ANA, ANA_M)
    assert (await world.linked(ANA_C, ANA_M)).ok
    users = {(await world.account(who)).user_id for who in (ANA, ANA_M, ANA_C)}
    assert len(users) == 1
    (unlink,) = [command for command in world.agent.commands if command.path == ("unlink",)]
    suggest = unlink.options[0].suggest
    assert suggest is not None
    call = await invocation(world, ANA)
    assert [choice.value for choice in await suggest(call, "")] == ["discord", "matrix", "console"]
    assert [choice.label for choice in await suggest(call, " Mat")] == ["@Ana:Home (matrix:@ana:home)"]
    assert await suggest(await invocation(world, "discord:ben"), "") == []

    refused = await world.run(ANA, "unlink", platform="irc")
    assert not refused.ok
    assert "matrix:@ana:home" in refused.text
    assert (await world.run(ANA, "unlink", platform="Console")).ok
    assert (await world.account(ANA)).user_id == (await world.account(ANA_M)).user_id is not None
    assert (await world.account(ANA_C)).user_id not in users
    (linked,) = await world.agent.core.links.people()
    assert [account.platform for account in linked.accounts] == ["discord", "matrix"]


async def test_the_stricter_level_holds_for_both_and_stays_when_they_part(world: World) -> None:
    await world.remember(ANA, "Ana keeps bees")
    await world.run(ANA_M, "privacy", "set", level="partial")
    done = await world.linked(ANA, ANA_M)
    assert "partial" in done.text
    assert "keeps bees" not in await world.prompt(ANA)
    assert (await world.remember(ANA, "Ana bakes")).status == "memory_save_failed_privacy_restricted"
    await world.run(ANA, "unlink")
    assert [(await world.account(who)).privacy for who in (ANA, ANA_M)] == [PrivacyLevel.PARTIAL] * 2


async def test_blacklists_hold_for_both_and_stay_when_they_part(world: World) -> None:
    await world.remember(ANA, "Ana keeps bees")
    matrix = await world.account(ANA_M)
    server = (
        await world.agent.core.people.enter(
            *world.platforms["matrix"].place(), world.author(ANA_M)[1], world.clock.now()
        )
    ).place.server
    await world.agent.core.privacy.blacklist_add(
        server.server_id, (await world.account(ANA)).account_id, world.clock.now()
    )
    assert (await world.linked(ANA, ANA_M)).ok
    assert "keeps bees" not in await world.prompt(ANA_M)
    assert "keeps bees" in await world.prompt(ANA)
    assert (await world.remember(ANA_M, "Ana paints")).status == "memory_save_failed_blacklisted"
    await world.run(ANA, "unlink")
    blacklisted = await world.agent.core.privacy.blacklist(server.server_id)
    assert {account.account_id for account in blacklisted} == {matrix.account_id, (await world.account(ANA)).account_id}


async def test_forget_me_says_and_forgets_and_unlinks_all_of_the_person(world: World) -> None:
    await world.linked(ANA, ANA_C)
    await world.remember(ANA, "Ana keeps bees")
    await world.remember(ANA_C, "Ana swims")
    exported = await world.run(ANA, "privacy", "export")
    assert exported.file is not None
    assert b"keeps bees" in exported.file.content
    assert b"swims" in exported.file.content
    await world.link(ANA_C)
    asked = await world.run(ANA, "privacy", "forget-me")
    assert "Your linked accounts are forgotten and unlinked too: console:ana." in asked.text
    assert asked.data is not None
    assert (await world.run(ANA, "privacy", "forget-me", code=asked.data["code"])).ok
    assert await world.rows("SELECT FROM personal_memories") == []
    assert await world.agent.core.links.people() == ()
    assert await world.rows("SELECT FROM link_requests") == []
    first, second = await world.account(ANA), await world.account(ANA_C)
    assert first.user_id != second.user_id
    assert None not in {first.user_id, second.user_id}
    assert first.forgotten_before == second.forgotten_before is not None


async def test_both_sides_see_in_the_trail_that_they_were_linked(world: World) -> None:
    await world.linked(ANA, ANA_M)
    await world.run(ANA_M, "unlink")
    acts = [
        (row["act"], row["via"], row["subject_account_id"]) for row in await world.rows("SELECT * FROM audit_trail")
    ]
    ana, matrix = (await world.account(ANA)).account_id, (await world.account(ANA_M)).account_id
    assert sorted(acts) == [("linked", "/link", ana), ("linked", "/link", matrix), ("unlinked", "/unlink", ana)]
    shown = await world.run(ANA, "privacy", "audit")
    assert "linked an account with this one" in shown.text
    assert "unlinked this account from others" in shown.text


async def test_who_looked_stays_with_whose_memories_they_were(world: World) -> None:
    ana, console = await world.account(ANA), await world.account(ANA_C)
    async with world.agent.core.store.connection() as conn:
        for user_id, via in ((ana.user_id, "/a"), (console.user_id, "/c")):
            await conn.execute(
                "INSERT INTO audit_trail (happened_at, act, via, by_operator, subject_user_id, items)"
                " VALUES ($1, 'read', $2, true, $3, 1)",
                world.clock.now(), via, user_id,
            )  # fmt: skip
    audit = world.agent.core.audit
    await world.linked(ANA, ANA_C)
    for account in (ana, console):
        assert {seen.via for seen in await audit.about(account.account_id)} == {"/a", "/c", "/link"}
    await world.run(ANA, "unlink")
    assert {"/a"} == {seen.via for seen in await audit.about(ana.account_id)} - {"/link", "/unlink"}
    assert {"/c"} == {seen.via for seen in await audit.about(console.account_id)} - {"/link", "/unlink"}


async def test_what_somebody_else_tells_on_matrix_is_known_on_discord(world: World) -> None:
    discord, _ = world.author(ANA)
    matrix, _ = world.author(ANA_M)
    world.author("matrix:@ben:home")
    await discord.ask("ana", "hello")
    await matrix.ask("@ana:home", "hello")
    assert (await world.linked(ANA, ANA_M)).ok

    arguments = {"memory_content": "{user} keeps bees", "memory_scope": "target_user", "target_user": "@ana:home"}
    world.model.say(ScriptedCall("create_long_term_memory", arguments), "Noted.")
    await matrix.ask("@ben:home", "remember that of ana")
    await discord.ask("ana", "what do you know of me?")
    assert "Ana keeps bees" in "\n".join(world.model.requests[-1].texts)

    await world.run(ANA_M, "unlink")  # nothing of Matrix's own: it stays, and is shown on Matrix no more
    await matrix.ask("@ana:home", "and now?")
    assert "keeps bees" not in "\n".join(world.model.requests[-1].texts)


async def test_a_plugin_that_fails_leaves_all_as_it_was(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for who in (ANA, ANA_C):
        await world.remember(who, f"{who} likes tea")
    before = {who: (await world.account(who)).user_id for who in (ANA, ANA_C)}

    async def fail(conn: Connection, move: UserMove) -> dict[str, int]:
        await conn.execute("DELETE FROM personal_memories")
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("plugins.memory.moving.move_memories", fail)
        failed = await world.linked(ANA, ANA_C)
        assert not failed.ok
        assert "disk" not in failed.text
    for who in (ANA, ANA_C):
        assert (await world.account(who)).user_id == before[who]
        assert await world.owned(before[who]) == [f"{who} likes tea"]
    assert (await world.link(ANA, "confirm")).ok  # the request stands as it was
    monkeypatch.setattr("plugins.memory.moving.move_memories", fail)
    assert not (await world.run(ANA, "unlink")).ok
    assert (await world.account(ANA)).user_id == (await world.account(ANA_C)).user_id


async def test_every_answer_is_for_the_asker_alone(world: World) -> None:
    asked = await world.run(ANA, "link", channel="general")
    assert asked.data is not None
    replies = [
        asked,
        await world.run(ANA_M, "link", channel="general", code=asked.data["code"]),
        await world.run(ANA, "link", channel="general"),
        await world.run(ANA, "link", channel="general", code="confirm"),
        await world.run(ANA, "unlink", channel="general"),
        await world.run(ANA, "unlink", channel="general"),
    ]
    assert [reply.private for reply in replies] == [True] * 6
    assert [command.private for command in world.agent.commands if command.path[0] in {"link", "unlink"}] == [True] * 2
