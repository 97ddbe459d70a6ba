from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from agent.commands import CommandReply, Rights
from agent.contracts.people import Denial, PrivacyLevel, Refusal
from agent.identity.keys import ParticipantKind
from agent.privacy.audit import Act, Audit
from agent.privacy.switches import MEMBER_ACCESS
from tests.plugins.memory.commands.people import ANA, BEN, Counter, learned
from tests.plugins.memory.embedder import WordEmbedder
from tests.plugins.memory.stage import BACKROOM, DIRECT, DIRECT_CHANNEL, Stage, author


async def run(
    stage: Stage,
    *path: str,
    who: Any = ANA,
    options: Mapping[str, Any] | None = None,
    manages: bool = True,
    **place: Any,
) -> CommandReply:
    return await Counter(stage).run(" ".join(path), who=who, manages=manages, place=place, **(options or {}))


async def test_members_list_a_servers_memories_once_managers_let_them(stage: Stage) -> None:
    commands = Counter(stage).commands
    assert all(command.private for command in commands.values())
    assert {path for path, command in commands.items() if command.rights is Rights.MANAGE} == {("memories", "settings")}
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
    assert first.text.splitlines()[0].endswith(" fact 0 [new]")
    assert first.text.splitlines()[-1] == "Page 1 of 3."
    assert [line.partition(" ")[2] for line in last.text.splitlines()] == ["fact 20 [new]", "3 of 3."]
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


async def test_a_list_tells_age_and_state(stage: Stage, counter: Counter) -> None:
    slept = await learned(stage, "slept")
    stage.clock.advance(timedelta(days=31))
    written = await counter.memory("written")
    await counter.run("memories scope", id=str(written), channels="#general")
    stage.clock.advance(timedelta(days=1))
    reply = await counter.run("memories list")
    assert reply.text.splitlines() == [
        f"ID:{slept} slept [32 days old, dormant]",
        f"ID:{written} written [1 day old, protected, #general]",
    ]
    assert reply.data is not None
    assert [(one["dormant"], one["protected"], one["channels"], one["version"]) for one in reply.data["memories"]] == [
        (True, False, [], 1),
        (False, True, ["console:general"], 2),
    ]
    assert (await counter.run("memories list", locale="de")).text.splitlines()[0].endswith("[32 Tage alt, ruht]")


def texts(reply: CommandReply) -> list[str]:
    assert reply.data is not None
    return [memory["content"] for memory in reply.data["memories"]]


async def test_a_search_by_words_finds_what_fits_best_first_and_no_more(stage: Stage, counter: Counter) -> None:
    context = await stage.context(ANA)
    for text in ("game of chess", "Game night on Friday", "a fact", "the telescope is sold", "土曜日は釣りをする"):
        await stage.create(context, text)
    await stage.create(await stage.context(ANA, channel=BACKROOM), "a game that is secret")
    assert texts(await counter.run("memories search", text="ＧＡＭＥ night")) == [
        "Game night on Friday",
        "game of chess",
    ]
    assert texts(await counter.run("memories search", text="tellescopes")) == ["the telescope is sold"]
    assert texts(await counter.run("memories search", text="釣り")) == ["土曜日は釣りをする"]
    assert "secret" not in (await counter.run("memories search", text="secret game")).text
    assert (await counter.run("memories search", text="dragons")).text.startswith("No memory fits these words.")
    assert not (await counter.run("memories search", text=" ")).ok
    await stage.create(context, "{user} plays", "me")
    assert texts(await counter.run("personal memories search", text="ana")) == ["Ana plays"]
    assert not (await counter.run("memories search", text="game", who=BEN, manages=False)).ok


async def test_a_search_by_meaning_finds_what_shares_no_word(stage: Stage) -> None:
    stage.embedder = WordEmbedder()
    counter = Counter(stage)
    for path in ("memories", "personal memories"):
        wanted = "my kitten sleeps" if path == "memories" else "the kitten purrs"
        await counter.memory(wanted, f"{path} add")
        await counter.memory("bread is baked on Monday", f"{path} add")
        assert texts(await counter.run(f"{path} search", text="cat")) == []
        await stage.embed()
        assert texts(await counter.run(f"{path} search", text="cat")) == [wanted]


async def test_a_search_works_without_pgvector(stage: Stage) -> None:
    stage.embedder = WordEmbedder()
    async with stage.store.connection() as conn:
        await conn.execute("DROP TABLE memory_embeddings")
        await conn.execute("DROP EXTENSION IF EXISTS vector CASCADE")
        await conn.execute(
            "CREATE OR REPLACE FUNCTION prepare_extension(p_name text) RETURNS boolean LANGUAGE sql AS 'SELECT false'"
        )
    counter = Counter(stage)
    await counter.memory("my kitten sleeps")
    assert texts(await counter.run("memories search", text="kitten")) == ["my kitten sleeps"]


async def test_what_is_about_somebody_who_is_named_comes_first(stage: Stage, counter: Counter) -> None:
    await learned(stage, "{user} drinks tea with Ben and more tea", who=ANA)
    await learned(stage, "{user} drinks tea", who=BEN)
    assert texts(await counter.run("memories search", text="what tea does Ben drink?"))[0] == "Ben drinks tea"


async def test_a_search_is_paged_and_of_one_persona(stage: Stage, counter: Counter) -> None:
    for number in range(12):
        await counter.memory(f"game {number}")
    first = await counter.run("memories search", text="game")
    second = await counter.run("memories search", text="game", page=2)
    assert (len(texts(first)), len(texts(second))) == (10, 2)
    assert len({*texts(first), *texts(second)}) == 12
    assert "Page 2 of 2." in second.text
    assert not (await counter.run("memories search", text="game", persona="nobody")).ok


async def test_why_tells_who_where_when_which_message_and_which_tool(stage: Stage, counter: Counter) -> None:
    memory_id = await learned(stage, "{user} hosts")
    reply = await counter.run("memories why", who=BEN, id=memory_id)
    assert reply.text.splitlines()[1:] == [
        "How: learned in a conversation",
        "Who: Ana",
        "Where: #general (home)",
        "When: 2026-03-01 12:00 UTC",
        "Message: m1",
        "Tool: create_long_term_memory",
        "About: Ana",
        "Told: in this server",
        "Version: 1",
    ]
    assert reply.data is not None
    assert (reply.data["message_id"], reply.data["turn_id"], reply.data["channel"]) == ("m1", "t1", "general")
    (seen,) = await Audit(stage.store).about((await stage.context(ANA)).account.account_id)
    assert (seen.actor, seen.act, seen.via) == ("Ben", Act.READ, "/memories why")


async def test_what_is_about_nobody_is_about_the_server(stage: Stage, counter: Counter) -> None:
    memory_id = await learned(stage, "game night is on Friday")
    assert "About: home" in (await counter.run("memories why", id=memory_id)).text.splitlines()


async def test_why_names_nobody_who_hides(stage: Stage, counter: Counter) -> None:
    memory_id = await learned(stage, "a fact", who=BEN)
    await stage.set_privacy(BEN, PrivacyLevel.FULL)
    reply = await counter.run("memories why", id=memory_id)
    assert "Who: not known" in reply.text
    assert "Ben" not in reply.text


@pytest.mark.parametrize("memory_id", [0, -1, 2**63, 2**80, 404])
async def test_an_id_that_is_none_is_answered_in_one_sentence(counter: Counter, memory_id: int) -> None:
    for path in ("memories why", "personal memories why", "memories undo"):
        reply = await counter.run(path, id=memory_id)
        assert (reply.ok, len(reply.text.splitlines())) == (False, 1)


async def test_the_global_page(stage: Stage, counter: Counter) -> None:
    await counter.memory("likes tea", "personal memories add")
    everywhere = await counter.memory("plays the harp", "personal global add")
    assert (await counter.row(everywhere))["persona_lineage_id"] == 0
    assert (await counter.run("personal global list")).text.splitlines() == [
        f"ID:{everywhere} plays the harp [new, global, protected]"
    ]
    assert len((await counter.run("personal memories list")).text.splitlines()) == 2
    assert "harp" not in (await counter.run("personal global list", who=BEN)).text


async def test_a_list_of_another_persona(counter: Counter) -> None:
    reply = await counter.run("memories list", persona="Nobody")
    assert (reply.ok, "Nobody" in reply.text) == (False, True)
    assert (await counter.run("memories list", persona="Isthmus")).ok


async def test_a_mention_is_shown_as_the_name_of_whom_it_means(stage: Stage, counter: Counter) -> None:
    await stage.enter(BEN)
    await counter.memory("ask <@console:ben>")
    await counter.memory("works with <@console:ben>", "personal memories add")
    assert "ask @Ben [" in (await counter.run("memories list")).text
    assert "works with @Ben [" in (await counter.run("personal memories list")).text
    await stage.set_privacy(BEN, PrivacyLevel.FULL)
    assert "Ben" not in (await counter.run("memories list")).text


async def test_why_names_no_channel_where_none_is_known(stage: Stage, counter: Counter) -> None:
    memory_id = await learned(stage, "a fact")
    async with stage.store.connection() as conn:
        await conn.execute("UPDATE server_memories SET source_channel_id = NULL, origin = 'import'")
    assert "Where: home" in (await counter.run("memories why", id=memory_id)).text.splitlines()
