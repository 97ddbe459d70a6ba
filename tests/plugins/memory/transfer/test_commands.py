"""The commands, as people run them."""

import json
from typing import Any

import pytest

from agent.commands import CommandReply, Invocation, OptionKind, Rights
from agent.contracts.cards import CardKind
from agent.identity.keys import ParticipantKind
from plugins.memory.transfer.commands import TransferCommands
from tests.plugins.memory.stage import BACKROOM, DIRECT, DIRECT_CHANNEL, Stage, author
from tests.plugins.memory.transfer.traffic import GivenBytes, Traffic, file_of

ANA, BEN = author("Ana"), author("Ben")
PERSONAL = ("personal", "memories")


async def run(traffic: Traffic, *path: str, who: Any = ANA, place: Any = None, **options: Any) -> CommandReply:
    commands = {command.path: command for command in TransferCommands(traffic.transfers).commands()}
    context = await traffic.stage.context(who, **(place or {}))
    given = (context.place, context.account, context.persona)
    return await commands[path].run(Invocation(path, options, *given, can_manage=True, now=context.now))


def given(data: Any) -> GivenBytes:
    return GivenBytes(data if isinstance(data, bytes) else json.dumps(data).encode())


def test_who_may_run_them(traffic: Traffic) -> None:
    commands = TransferCommands(traffic.transfers).commands()
    assert {command.path: command.rights for command in commands} == {
        ("memories", "export"): Rights.MANAGE,
        ("memories", "import"): Rights.MANAGE,
        (*PERSONAL, "export"): Rights.EVERYONE,
        (*PERSONAL, "import"): Rights.EVERYONE,
    }
    assert all(command.private and command.owner == "memory" for command in commands)
    assert commands[1].options[0].kind is OptionKind.FILE


async def test_a_server_there_and_back(traffic: Traffic, stage: Stage) -> None:
    await stage.create(await stage.context(ANA), "Game night is Friday.")
    await stage.create(await stage.context(ANA, channel=BACKROOM), "a secret")
    reply = await run(traffic, "memories", "export")
    assert reply.text == "1 memory is in the file.\n1 that only some members may read is not (all_audiences=yes)."
    assert reply.private
    assert reply.file is not None
    assert reply.file.name == "memories.json"
    taken = await run(traffic, "memories", "import", file=GivenBytes(reply.file.content))
    assert taken.ok
    first, line = taken.text.splitlines()
    assert first == "0 saved, 1 already known, 0 left out."
    assert line.startswith("entry 1 (server_memories[0]) “Game night is Friday.”: already known as ")
    every = await run(traffic, "memories", "export", all_audiences=True, persona="isthmus")
    assert every.data == {"server_memories": 2, "personal_memories": 0, "narrower": 0, "withheld": 0}


async def test_a_replacement_asks_back(traffic: Traffic, stage: Stage) -> None:
    await stage.create(await stage.context(ANA), "old")
    file = given(file_of({"content": "new"}))
    asked = await run(traffic, "memories", "import", file=file, mode="replace")
    assert asked.text.splitlines()[:2] == [
        "Nothing has changed yet: this would remove 1 memories. Say it again with sure=yes.",
        "1 saved, 0 already known, 0 left out.",
    ]
    assert not asked.ok
    assert [row["content"] for row in await stage.rows("SELECT content FROM server_memories")] == ["old"]
    done = await run(traffic, "memories", "import", file=file, mode="replace", sure=True)
    assert done.ok
    [row] = await stage.rows("SELECT content, author_account_id IS NULL AS nobody FROM server_memories")
    assert row == {"content": "new", "nobody": False}
    traffic.configure(max_server_memories=1)
    two = given(file_of({"content": "a"}, {"content": "b"}))
    full = await run(traffic, "memories", "import", file=two, mode="replace", sure=True)
    assert not full.ok
    assert full.text.startswith("Nothing has changed: what is in the file cannot take the place of what is here.")


async def test_what_is_wrong_is_said_line_by_line(traffic: Traffic) -> None:
    reply = await run(traffic, "memories", "import", file=given(file_of({"content": 1}, {"content": 2})))
    assert not reply.ok
    assert reply.text.splitlines() == [
        "Nothing was imported, because of what is wrong in the file:",
        "entry 1 (server_memories[0]): content: a text is expected, this is a number",
        "entry 2 (server_memories[1]): content: a text is expected, this is a number",
    ]
    many = await run(traffic, "memories", "import", file=given(file_of(*({"content": 1} for _ in range(50)))))
    assert many.text.splitlines()[-1] == "… and 10 more"
    assert many.data is not None
    assert len(many.data["faults"]) == 50


async def test_ones_own_there_and_back(traffic: Traffic, stage: Stage) -> None:
    direct: dict[str, Any] = {"server": DIRECT, "channel": DIRECT_CHANNEL}
    await stage.create(await stage.context(ANA), "{user} likes tea", "me")
    await stage.create(await stage.context(ANA, **direct), "{user} is shy", "me")
    here = await run(traffic, *PERSONAL, "export")
    assert here.text == "1 memory is in the file.\n1 more cannot be shown in this place."
    assert here.file is not None
    assert b"shy" not in here.file.content
    whole = await run(traffic, *PERSONAL, "export", place=direct)
    assert whole.file is not None
    assert b"shy" in whole.file.content
    await stage.rows("DELETE FROM personal_memories")
    back = await run(traffic, *PERSONAL, "import", file=GivenBytes(whole.file.content))
    assert back.text.splitlines()[0] == "2 saved, 0 already known, 0 left out."
    again = await run(traffic, *PERSONAL, "export", place=direct)
    assert again.data == {"server_memories": 0, "personal_memories": 2, "narrower": 0, "withheld": 0}
    stolen = await run(traffic, *PERSONAL, "import", who=BEN, file=GivenBytes(whole.file.content))
    assert not stolen.ok
    assert "and the import is for somebody else" in stolen.text


@pytest.mark.parametrize("command", ["export", "import"])
async def test_who_has_no_user_row_has_none(traffic: Traffic, command: str) -> None:
    bridged = author("Mati", ParticipantKind.MATRIX_USER)
    reply = await run(traffic, *PERSONAL, command, who=bridged, file=given({}))
    assert (reply.ok, reply.text) == (False, "You have no personal memories: only a linked account can own them.")


async def test_whoever_imports_about_themselves_is_told_once(traffic: Traffic, stage: Stage) -> None:
    async with stage.store.connection() as conn:
        await conn.execute("UPDATE accounts SET disclosed_at = NULL")
    file = [{"id": "a", "memory": "likes tea", "user_id": "ana"}]
    first = await run(traffic, *PERSONAL, "import", file=given(file))
    assert (first.ok, "Ana: I keep what" in first.text) == (True, True)
    assert "/privacy forget-me" in first.text
    assert "I keep what" not in (await run(traffic, *PERSONAL, "import", file=given(file))).text
    refused = await run(traffic, *PERSONAL, "import", who=BEN, file=given([{"memory": ""}]))
    assert (refused.ok, "I keep what" in refused.text) == (False, False)
    await stage.create(await stage.context(ANA), "{user} likes cake", "me")
    assert [card.kind for card in stage.effects.cards] == [CardKind.SAVED]


async def test_an_import_by_others_leaves_it_to_the_next_save_to_tell(traffic: Traffic, stage: Stage) -> None:
    await stage.enter(BEN)
    about = {"platform": "console", "id": BEN.key.id, "name": "Ben"}
    taken = await run(traffic, "memories", "import", file=given(file_of({"content": "{user} hosts", "about": about})))
    assert (taken.ok, "I keep what" in taken.text) == (True, False)
    await stage.create(await stage.context(ANA, BEN), "{user} likes cake", "Ben")
    assert [card.kind for card in stage.effects.cards] == [CardKind.SAVED, CardKind.DISCLOSURE]


async def test_what_was_only_tried_has_no_ids(traffic: Traffic, stage: Stage) -> None:
    await stage.create(await stage.context(ANA), "old")
    twice = given(file_of({"content": "new"}, {"content": "new!"}))
    asked = await run(traffic, "memories", "import", file=twice, mode="replace")
    assert "sure=yes" in asked.text
    assert asked.text.splitlines()[-1].endswith("“new”: would be saved")
    assert asked.text.splitlines()[-2].endswith("“new!”: says the same as an entry before it")
    assert asked.data is not None
    assert [entry["memory_id"] for entry in asked.data["entries"]] == [None, None]
    done = await run(traffic, "memories", "import", file=twice, mode="replace", sure=True)
    assert "“new”: saved as " in done.text
