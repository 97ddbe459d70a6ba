"""The commands, as people run them on a running agent."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from agent.app import Agent
from agent.contracts.context import Section
from agent.files import LocalFile
from plugins.lorebook.reading import MAX_FILE
from tests.plugins.lorebook.files import as_json, card, card_entry, in_base64, png, st_book, st_entry
from tests.plugins.lorebook.talk import AWAY, BEN, CAVE, GENERAL, THREAD, GivenBytes, Talk

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts


async def add(talk: Talk, keys: str, content: str, book: str = "lore") -> int:
    text = await talk.say("add", book=book, keys=keys, content=content)
    found = re.search(r"\d+", text)
    assert found
    return int(found[0])


async def test_from_the_first_entry_to_the_last(talk: Talk) -> None:
    assert await talk.say("list") == "There are no lorebooks here."
    dragon = await add(talk, "dragon, /wyrms?/i", "The dragon of {{char}} sleeps; {{user}} woke it.")
    always = await add(talk, "-", "The realm is called Fen.")
    assert await talk.say("list") == "lore: 2 entries"
    assert await talk.lines("hello") == ["The realm is called Fen."]
    standing, called = await talk.lore("two Wyrms")
    assert (standing.section, called.section) == (Section.PREFIX, Section.TAIL)
    assert called.render() == ("## Lore that this conversation calls up\nThe dragon of Isthmus sleeps; Ana woke it.")
    assert await talk.say("show", target="lore") == (
        f"“lore”: 2 entries\n{dragon} dragon: dragon, /wyrms?/i\n{always} The realm is called Fen.: always"
    )
    assert await talk.say("edit", target=str(dragon), field="enabled", value="off") == (
        f"Changed entry {dragon} of “lore”."
    )
    assert await talk.lines("dragon") == ["The realm is called Fen."]
    assert await talk.say("remove", target=str(always)) == f"Removed entry {always} of “lore”."
    assert await talk.lines("dragon") == []


async def test_an_entry_is_shown_with_what_is_not_as_usual(talk: Talk) -> None:
    number = await add(talk, "king", "Long live the king.")
    for field, value in {
        "name": "King",
        "secondary": "red, blue",
        "logic": "not any",
        "order": "7",
        "depth": "2",
        "whole-words": "off",
        "case-sensitive": "on",
        "probability": "50",
        "exclude-recursion": "on",
        "prevent-recursion": "yes",
        "delay-until-recursion": "true",
    }.items():
        await talk.say("edit", target=f"#{number}", field=field, value=value)
    assert (await talk.say("show", target=str(number))).splitlines() == [
        f"Entry {number} of “lore”: King",
        "keys: king",
        "secondary: red, blue",
        "logic: not_any",
        "order: 7",
        "depth: 2",
        "whole-words: off",
        "case-sensitive: on",
        "probability: 50",
        "exclude-recursion: on",
        "prevent-recursion: on",
        "delay-until-recursion: on",
        "",
        "Long live the king.",
    ]


async def test_a_lorebook_applies_where_it_is_said_to(talk: Talk) -> None:
    await add(talk, "dragon", "It sleeps.")
    await talk.say("edit", target="LORE", field="channels", value="here", at=CAVE)
    assert await talk.lines("dragon") == []
    assert await talk.lines("dragon", at=CAVE) == ["It sleeps."]
    assert await talk.lines("dragon", at=THREAD) == ["It sleeps."]
    assert await talk.lines("dragon", on=AWAY) == []
    assert await talk.say("list") == "lore: 1 entry, in 1 channel"
    await talk.say("edit", target="lore", field="channels", value="all")
    assert await talk.lines("dragon") == ["It sleeps."]
    await talk.say("edit", target="lore", field="persona", value="isthmus")
    assert await talk.say("list") == "lore: 1 entry, for one persona only"
    assert await talk.lines("dragon") == ["It sleeps."]
    await talk.say("edit", target="lore", field="enabled", value="off")
    assert await talk.lines("dragon") == []
    reply = await talk.run("edit", target="lore", field="persona", value="Nobody")
    assert (reply.ok, reply.text) == (False, "There is no persona “nobody” here.")


async def test_members_see_what_applies_here_and_change_nothing(talk: Talk) -> None:
    number = await add(talk, "dragon", "It sleeps.")
    assert (await talk.run("list", BEN)).text == "lore: 1 entry"
    assert (await talk.run("show", BEN, target=str(number))).ok
    await talk.say("edit", target="lore", field="channels", value="here", at=CAVE)
    assert (await talk.run("list", BEN)).text == "There are no lorebooks here."
    for target in (str(number), "lore"):
        reply = await talk.run("show", BEN, target=target)
        assert not reply.ok
        assert "It sleeps" not in reply.text
    assert (await talk.run("show", BEN, at=CAVE, target="lore")).ok
    for command in ("add", "edit", "remove", "import", "export"):
        assert (await talk.run(command, BEN)).text == "Only those who manage this server may do that."


async def test_what_a_message_would_call_up(talk: Talk) -> None:
    first = await add(talk, "dragon", "It guards a hoard.")
    second = await add(talk, "hoard", "Gold.")
    await talk.say("edit", target=str(second), field="probability", value="10")
    reply = await talk.run("test", BEN, text="a dragon")
    assert reply.text.splitlines() == [
        "2 entries join the prompt:",
        f"{first} dragon (lore): “dragon”",
        f"{second} hoard (lore): “hoard”, in what another entry says, 10 %",
    ]
    assert reply.data is not None
    assert [hit["step"] for hit in reply.data["active"]] == [0, 1]
    assert await talk.say("test", text="nothing") == "This calls up nothing."
    await talk.say("edit", target="lore", field="budget", value="3")
    assert (await talk.say("test", text="dragon")).splitlines() == [
        "0 entries join the prompt:",
        "Left out, because the budget is spent:",
        f"{first} dragon (lore): “dragon”",
    ]


async def test_a_pattern_that_takes_too_long_is_told(talk: Talk) -> None:
    await add(talk, r"/(\w+\s?)*!/", "never")
    assert await talk.say("test", text="a" * 40 + "b c" * 2_000 + "?!") == (
        "This calls up nothing.\nThis pattern took too long: /(\\w+\\s?)*!/"
    )
    assert await talk.lines("a" * 40 + "b c" * 2_000 + "?!") == []


async def test_a_file_is_taken_over_and_given_back(talk: Talk) -> None:
    content = st_book(st_entry(0, comment="Dragon", sticky=2), st_entry(1, key=["king"], order=3))
    file = GivenBytes(content, "My realm.json")
    assert (await talk.say("import", file=file)).splitlines() == [
        "Imported “My realm” with 2 entries.",
        "sticky: kept for the export, not used (in entry 0 (Dragon))",
    ]
    assert file.asked == [MAX_FILE]
    reply = await talk.run("export", book="my realm")
    assert reply.file is not None
    assert reply.file.name == "My realm.json"
    entries = json.loads(reply.file.content)["entries"]
    assert (entries["0"]["sticky"], entries["1"]["order"]) == (2, 3)
    again = await talk.run("import", file=GivenBytes(reply.file.content), name="Second")
    assert again.text.startswith("Imported “Second” with 2 entries.")
    other = await talk.run("export", book="Second", form="card")
    assert other.file is not None
    assert json.loads(other.file.content)["spec"] == "lorebook_v3"


async def test_a_card_in_a_picture_is_taken_over_for_one_place(talk: Talk) -> None:
    picture = png(ccv3=in_base64(card(card_entry(1), spec="chara_card_v3")))
    text = await talk.say("import", file=GivenBytes(picture, "fern.png"), channel="console:cave", persona="Isthmus")
    assert text == "Imported “Fern's lorebook” with 1 entry."
    assert await talk.lines("dragon") == []
    assert await talk.lines("dragon", at=THREAD) == ["The dragon sleeps."]


async def test_a_lorebook_is_replaced_only_when_it_is_said(talk: Talk) -> None:
    await talk.say("import", file=GivenBytes(st_book(st_entry(0))), name="Realm", channel="console:cave")
    await talk.say("edit", target="Realm", field="enabled", value="off")
    changed = GivenBytes(st_book(st_entry(0, content="Awake."), st_entry(1)))
    reply = await talk.run("import", file=changed, name="realm")
    assert (reply.ok, "already" in reply.text) == (False, True)
    assert (await talk.run("import", file=changed, name="realm", replace=True)).ok
    assert await talk.say("list") == "realm: 2 entries, off, in 1 channel"
    await talk.say("edit", target="realm", field="enabled", value="on")
    assert await talk.lines("dragon", at=CAVE) == ["Awake.", "The dragon sleeps."]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"nonsense", "lore.json: this is no JSON"),
        (as_json({"entries": {"0": st_entry(0, key=5)}}), "entry 0: key: a list of texts is expected"),
        (st_book(st_entry(0), st_entry(1, key=["/(a|a)*b/"])), "takes too long"),
        (st_book(*(st_entry(n) for n in range(31))), "it has 31 entries; at most 30"),
        (st_book(*(st_entry(n, content="x" * 15_000) for n in range(3))), "at most 30000 characters"),
    ],
)
async def test_a_bad_file_is_said_and_nothing_of_it_is_taken(talk: Talk, content: bytes, says: str) -> None:
    reply = await talk.run("import", file=GivenBytes(content))
    assert not reply.ok
    assert says in reply.text
    assert await talk.say("list") == "There are no lorebooks here."


async def test_what_cannot_be_done_is_said_in_one_sentence(talk: Talk) -> None:
    number = await add(talk, "dragon", "It sleeps.")
    refused: dict[str, tuple[str, dict[str, Any]]] = {
        "There is no lorebook “Atlantis” here.": ("show", {"target": "Atlantis"}),
        "There is no entry 999999 here.": ("show", {"target": "999999"}),
        "That is on or off, not “maybe”.": ("edit", {"target": f"{number}", "field": "enabled", "value": "maybe"}),
        "That is a number from 0 to 100, not “many”.": (
            "edit",
            {"target": f"{number}", "field": "probability", "value": "many"},
        ),
        "An entry needs a text.": ("add", {"book": "lore", "keys": "x", "content": "  "}),
        "That key cannot be used: /(/ is no usable pattern: a ( is not closed.": (
            "add",
            {"book": "lore", "keys": "/(/", "content": "x"},
        ),
        "A lorebook needs a name.": ("edit", {"target": "lore", "field": "name", "value": " "}),
        "This would remove “lore” with 1 entry. Say it again with sure=yes.": ("remove", {"target": "lore"}),
    }
    for text, (command, options) in refused.items():
        reply = await talk.run(command, **options)
        assert (reply.ok, reply.text) == (False, text)
    for field in ("budget", "made-up"):
        assert "An entry has name, content" in (await talk.run("edit", target=str(number), field=field, value="1")).text
    assert "A lorebook has name" in (await talk.run("edit", target="lore", field="logic", value="x")).text
    assert await talk.say("remove", target="lore", sure=True) == "Removed “lore” with 1 entry."


async def test_a_server_has_room_for_so_much(talk: Talk) -> None:
    for number in range(4):
        await add(talk, "x", "y", book=f"book {number}")
    reply = await talk.run("add", book="one more", keys="x", content="y")
    assert reply.text == "A server has at most 4 lorebooks; these would be 5."
    await talk.say("edit", target="book 1", field="name", value="renamed")
    reply = await talk.run("edit", target="book 0", field="name", value="RENAMED")
    assert reply.text == "There is a lorebook “renamed” already."
    for number in range(26):
        await add(talk, f"k{number}", "y", book="book 0")
    reply = await talk.run("add", book="book 0", keys="x", content="y")
    assert reply.text == "The lorebooks of a server have at most 30 entries; these would be 31."
    assert len((await talk.say("show", target="book 0", page=2)).splitlines()) == 12
    assert (await talk.say("show", target="book 0", page=99)).endswith("Page 3 of 3.")


async def test_other_servers_have_other_lorebooks(talk: Talk, agent: Agent) -> None:
    number = await add(talk, "dragon", "It sleeps.")
    for command in ("show", "remove"):
        assert not (await talk.run(command, on=AWAY, target=str(number))).ok
        assert not (await talk.run(command, on=AWAY, target="lore", sure=True)).ok
    assert not (await talk.run("edit", on=AWAY, target=str(number), field="order", value="1")).ok
    assert await talk.lines("dragon") == ["It sleeps."]


async def test_a_file_of_this_machine_can_be_given(talk: Talk, tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "realm.json"
    path.write_bytes(st_book(st_entry(0)))
    assert await talk.say("import", file=LocalFile(path)) == "Imported “realm” with 1 entry."
    reply = await talk.run("import", file=LocalFile(path.with_name("none.json")))
    assert "there is no such file" in reply.text


async def test_the_commands_are_declared_for_every_bridge(agent: Agent) -> None:
    mine = [command for command in agent.commands if command.path[0] == "lorebook"]
    assert [command.path[1] for command in mine] == [
        "add",
        "edit",
        "export",
        "import",
        "list",
        "remove",
        "show",
        "test",
    ]
    assert all(command.private and command.owner == "lorebook" for command in mine)
    assert GENERAL.parent_external_id is None
