from typing import Any

import pytest

from agent.contracts.people import Denial, PrivacyLevel, Refusal
from agent.privacy.audit import Act, Audit
from plugins.memory.toolbox import MEMBER_EDITS
from tests.plugins.memory.commands.people import ANA, BEN, Counter, learned
from tests.plugins.memory.stage import BACKROOM, DIRECT, DIRECT_CHANNEL, Stage


async def test_what_is_added_by_hand_is_protected(stage: Stage, counter: Counter) -> None:
    for path, lineage in (("memories add", 1), ("personal memories add", 1), ("personal global add", 0)):
        row = await counter.row(await counter.memory(f"fact of {path}", path))
        assert (row["manually_written"], row["origin"], row["source_tool"]) == (True, "command", f"/{path}")
        assert (row["persona_lineage_id"], row["version"]) == (lineage, 1)
    assert len(stage.announced.owners) == 3


async def test_an_add_that_meets_a_near_duplicate_protects_it(stage: Stage, counter: Counter) -> None:
    for target, path in ((None, "memories add"), ("me", "personal memories add")):
        memory_id = await learned(stage, "Game night!", target)
        assert not (await counter.row(memory_id))["manually_written"]
        reply = await counter.run(path, text="game night")
        assert (reply.ok, str(memory_id) in reply.text) == (True, True)
        assert (await counter.row(memory_id))["manually_written"]


@pytest.mark.parametrize("text", ["the kettle is blue", "the kettle is red"])
@pytest.mark.parametrize("target", [None, "me"])
async def test_an_edit_protects_also_when_nothing_changes(
    stage: Stage, counter: Counter, text: str, target: str | None
) -> None:
    memory_id = await learned(stage, "the kettle is blue", target)
    group = "memories" if target is None else "personal memories"
    reply = await counter.run(f"{group} edit", id=memory_id, text=text)
    assert reply.ok, reply.text
    row = await counter.row(memory_id)
    assert (row["content"], row["manually_written"], row["version"]) == (text, True, 2)
    assert (row["origin"], row["source_message_id"]) == ("model", "m1")


@pytest.mark.parametrize("target", [None, "me"])
async def test_tags_alone_protect_too(stage: Stage, counter: Counter, target: str | None) -> None:
    memory_id = await learned(stage, "a fact", target)
    group = "memories" if target is None else "personal memories"
    assert (await counter.run(f"{group} tags", id=memory_id, tags="tea, cake,tea")).text.endswith("tea, cake")
    row = await counter.row(memory_id)
    assert (row["tags"], row["manually_written"], row["version"]) == (["tea", "cake"], True, 2)
    assert (await counter.run(f"{group} tags", id=memory_id)).text.endswith("none")
    assert not (await counter.run(f"{group} tags", id=memory_id, tags="x" * 51)).ok


async def test_an_edit_based_on_an_older_version_is_refused_with_the_present_text(counter: Counter) -> None:
    memory_id = await counter.memory("first")
    await counter.run("memories list", who=BEN)
    assert (await counter.run("memories edit", id=memory_id, text="second")).ok
    refused = await counter.run("memories edit", who=BEN, id=memory_id, text="third")
    assert (refused.ok, refused.text.endswith("It says now: second")) == (False, True)
    assert (await counter.row(memory_id))["content"] == "second"
    assert (await counter.run("memories edit", who=BEN, id=memory_id, text="third")).ok
    assert (await counter.row(memory_id))["version"] == 3
    stale = await counter.run("memories tags", id=memory_id, tags="a")
    assert (stale.ok, "third" in stale.text) == (False, True)


async def test_members_write_only_where_the_server_lets_them_and_what_is_their_own(
    stage: Stage, counter: Counter
) -> None:
    context = await stage.context(ANA)
    mine = await learned(stage, "Ana's fact")
    theirs = await learned(stage, "Ben's fact", who=BEN)
    assert not (await counter.run("memories add", text="x", manages=False)).ok
    assert not (await counter.run("memories edit", id=theirs, text="x", manages=False)).ok
    assert (await counter.run("memories edit", id=mine, text="Ana's new fact", manages=False)).ok
    assert not (await counter.run("memories open", id=mine, manages=False)).ok
    await stage.privacy.choose_for_server(context.place.server.server_id, MEMBER_EDITS, value=True)
    assert (await counter.run("memories add", text="x", manages=False)).ok
    assert (await counter.run("memories edit", id=theirs, text="x y", manages=False)).ok


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "nothing to keep"), ("{char}", "nothing to keep"), ("\u200b", "nothing to keep"), ("x" * 1001, "1001")],
)
async def test_content_is_held_to_the_same_rules(counter: Counter, text: str, said: str) -> None:
    for path in ("memories add", "personal memories add"):
        reply = await counter.run(path, text=text)
        assert (reply.ok, said in reply.text) == (False, True)


async def test_privacy_and_guards_refuse_as_they_do_for_tools(stage: Stage, counter: Counter) -> None:
    memory_id = await counter.memory("likes tea", "personal memories add")
    about = await learned(stage, "{user} hosts")
    await stage.set_privacy(ANA, PrivacyLevel.PARTIAL)
    cases: list[tuple[str, dict[str, Any]]] = [
        ("personal memories add", {"text": "likes cake"}),
        ("personal memories edit", {"id": memory_id, "text": "likes cake"}),
        ("memories edit", {"id": about, "text": "hosts no more"}),
    ]
    for path, options in cases:
        reply = await counter.run(path, **options)
        assert not reply.ok, path
    assert (await counter.row(memory_id))["content"] == "likes tea"
    await stage.set_privacy(ANA, PrivacyLevel.NONE)
    stage.hooks.denials["recheck_memory_write"] = Denial(Refusal.OTHER, "no")
    assert (await counter.run("memories add", text="x")).text == "This may not be kept now."
    assert not (await counter.run("memories edit", id=about, text="x")).ok


async def test_a_full_shelf_says_so(stage: Stage) -> None:
    stage.configure(max_server_memories=1, max_personal_memories=1)
    counter = Counter(stage)
    for path in ("memories add", "personal memories add"):
        await counter.memory("one", path)
        reply = await counter.run(path, text="two")
        assert (reply.ok, "(1)" in reply.text) == (False, True)
    assert not (await counter.run("personal global add", text="three")).ok


async def test_what_is_elsewhere_cannot_be_changed_here(stage: Stage, counter: Counter) -> None:
    secret = await counter.memory("a secret", place={"channel": BACKROOM})
    cases: list[tuple[str, dict[str, Any]]] = [
        ("edit", {"text": "x"}),
        ("tags", {"tags": "x"}),
        ("why", {}),
        ("open", {}),
    ]
    for path, options in cases:
        reply = await counter.run(f"memories {path}", id=secret, **options)
        assert reply.text == (await counter.run(f"memories {path}", id=404, **options)).text.replace("404", str(secret))
    opened = await counter.run("memories open", id=secret, place={"channel": BACKROOM})
    assert opened.ok, opened.text
    assert "a secret" in (await counter.run("memories list")).text


async def test_a_person_opens_what_was_said_in_private(counter: Counter) -> None:
    direct = {"server": DIRECT, "channel": DIRECT_CHANNEL}
    memory_id = await counter.memory("is shy", "personal memories add", place=direct)
    assert (await counter.row(memory_id))["audience"] == "person"
    assert not (await counter.run("personal memories open", id=memory_id)).ok
    assert (await counter.run("personal memories open", id=memory_id, place=direct)).ok
    assert "is shy" in (await counter.run("personal memories list")).text
    assert not (await counter.run("personal memories open", id=memory_id, place=direct)).ok


async def test_nobody_changes_what_is_about_somebody_else(counter: Counter) -> None:
    memory_id = await counter.memory("likes tea", "personal memories add")
    cases: list[tuple[str, dict[str, Any]]] = [("edit", {"text": "x"}), ("tags", {}), ("why", {}), ("open", {})]
    for path, options in cases:
        assert not (await counter.run(f"personal memories {path}", who=BEN, id=memory_id, **options)).ok


async def test_changes_of_what_is_about_somebody_stand_in_their_trail(stage: Stage, counter: Counter) -> None:
    context = await stage.context(ANA)
    memory_id = await learned(stage, "{user} hosts")
    await counter.run("memories edit", who=BEN, id=memory_id, text="{user} hosts on Friday")
    await counter.run("memories tags", who=BEN, id=memory_id, tags="a")
    acts = await Audit(stage.store).about(context.account.account_id)
    assert [(seen.act, seen.via) for seen in acts] == [(Act.EDITED, "/memories tags"), (Act.EDITED, "/memories edit")]
