from collections.abc import Mapping
from typing import Any

import pytest

from agent.commands import Command, CommandReply, Invocation, Rights
from agent.contracts.people import Denial, PrivacyLevel, Refusal
from agent.identity.keys import ParticipantKind
from agent.privacy.audit import Act, Audit
from agent.privacy.switches import MEMBER_ACCESS
from plugins.memory.commands import MemoryCommands
from tests.plugins.memory.stage import BACKROOM, DIRECT, DIRECT_CHANNEL, Stage, author

ANA, BEN = author("Ana"), author("Ben")


def commands_of(stage: Stage) -> tuple[Command, ...]:
    return MemoryCommands(stage.repository, stage.guards, stage.privacy, Audit(stage.store)).commands()


async def run(
    stage: Stage,
    *path: str,
    who: Any = ANA,
    options: Mapping[str, Any] | None = None,
    manages: bool = True,
    **place: Any,
) -> CommandReply:
    commands = {command.path: command for command in commands_of(stage)}
    context = await stage.context(who, **place)
    return await commands[path].run(
        Invocation(
            path, options or {}, context.place, context.account, context.persona, can_manage=manages, now=context.now
        )
    )


async def test_members_list_a_servers_memories_once_managers_let_them(stage: Stage) -> None:
    assert {command.path: (command.rights, command.private) for command in commands_of(stage)} == {
        ("memories", "list"): (Rights.EVERYONE, True),
        ("personal", "memories", "list"): (Rights.EVERYONE, True),
    }
    context = await stage.context(ANA)
    await stage.create(context, "a fact")
    refused = await run(stage, "memories", "list", manages=False)
    assert (refused.ok, refused.text) == (False, "Only those who manage this server may do that.")
    await stage.privacy.choose_for_server(context.place.server.server_id, MEMBER_ACCESS, value=True)
    assert "a fact" in (await run(stage, "memories", "list", manages=False)).text


async def test_whoever_sees_what_is_about_others_stands_in_the_audit_trail(stage: Stage) -> None:
    context = await stage.context(ANA)
    for text in ("{user} hosts", "{user} sings", "a fact"):
        await stage.create(context, text)
    await run(stage, "memories", "list", who=BEN)
    await run(stage, "memories", "list", who=ANA)
    (seen,) = await Audit(stage.store).about(context.account.account_id)
    assert (seen.actor, seen.act, seen.via, seen.items, seen.server) == ("Ben", Act.READ, "/memories list", 2, "home")


async def test_no_list_names_who_hides(stage: Stage) -> None:
    context = await stage.context(ANA, BEN)
    await stage.create(context, "ben brings the cake")
    await stage.create(context, "{user} works with Ben", "me")
    await stage.create(context, "{user} likes benches", "me")
    assert "cake" in (await run(stage, "memories", "list")).text
    await stage.set_privacy(BEN, PrivacyLevel.FULL)
    assert (await run(stage, "memories", "list")).text.splitlines() == [
        "I remember nothing here.",
        "1 more cannot be shown in this place.",
    ]
    personal = (await run(stage, "personal", "memories", "list")).text
    assert ("works" in personal, "benches" in personal) == (False, True)
    await stage.set_privacy(BEN, PrivacyLevel.PARTIAL)
    assert "cake" in (await run(stage, "memories", "list")).text


async def test_lists_are_paged(stage: Stage) -> None:
    context = await stage.context(ANA)
    for number in range(21):
        await stage.create(context, f"fact {number}")
    first, last = await run(stage, "memories", "list"), await run(stage, "memories", "list", options={"page": 99})
    assert len(first.text.splitlines()) == 11
    assert first.text.splitlines()[0].endswith(" fact 0")
    assert first.text.splitlines()[-1] == "Page 1 of 3."
    assert [line.partition(" ")[2] for line in last.text.splitlines()] == ["fact 20", "3 of 3."]
    assert last.data is not None
    assert (last.data["page"], last.data["pages"], last.data["memories"][0]["content"]) == (3, 3, "fact 20")


async def test_an_empty_list_says_so(stage: Stage) -> None:
    assert (await run(stage, "memories", "list")).text == "I remember nothing here."
    assert (await run(stage, "personal", "memories", "list")).text == "I remember nothing here."


async def test_a_list_shows_what_may_be_known_where_it_is_asked(stage: Stage) -> None:
    await stage.create(await stage.context(ANA, channel=BACKROOM), "a secret")
    await stage.create(await stage.context(ANA, server=DIRECT, channel=DIRECT_CHANNEL), "{user} is shy", "me")
    await stage.create(await stage.context(ANA), "{user} likes tea", "me")
    assert "secret" not in (await run(stage, "memories", "list")).text
    assert "secret" in (await run(stage, "memories", "list", channel=BACKROOM)).text
    personal = (await run(stage, "personal", "memories", "list")).text
    assert "Ana likes tea" in personal
    assert "shy" not in personal
    assert personal.splitlines()[-1] == "1 more cannot be shown in this place."
    direct = await run(stage, "personal", "memories", "list", server=DIRECT, channel=DIRECT_CHANNEL)
    assert "Ana is shy" in direct.text
    assert "likes tea" not in (await run(stage, "personal", "memories", "list", who=BEN)).text


@pytest.mark.parametrize("level", [PrivacyLevel.PARTIAL, PrivacyLevel.FULL])
async def test_privacy_hides_from_the_managers_and_not_from_the_person(stage: Stage, level: PrivacyLevel) -> None:
    context = await stage.context(ANA)
    await stage.create(context, "{user} hosts")
    await stage.create(context, "likes tea", "me")
    await stage.set_privacy(ANA, level)
    assert "hosts" not in (await run(stage, "memories", "list", who=BEN)).text
    assert "likes tea" in (await run(stage, "personal", "memories", "list")).text


async def test_a_guard_hides_a_servers_memories(stage: Stage) -> None:
    await stage.create(await stage.context(ANA), "a fact")
    stage.hooks.denials["guard_memory_read"] = Denial(Refusal.OTHER, "no")
    reply = await run(stage, "memories", "list")
    assert (reply.ok, "a fact" in reply.text) == (False, False)


async def test_who_owns_no_memories_is_told(stage: Stage) -> None:
    reply = await run(stage, "personal", "memories", "list", who=author("Mati", ParticipantKind.MATRIX_USER))
    assert "linked account" in reply.text
