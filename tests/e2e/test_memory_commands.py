"""What people do to memories with commands, in one script of a conversation."""

from __future__ import annotations

import pytest

from tests.e2e.process import Isthmus

pytestmark = pytest.mark.timeout(240)  # each test starts processes, and the machine may be busy

SCRIPT = """\
ana: remember that game night is every Friday at 20:00
/as ana
/memories list
/memories edit 1 game night is every Saturday
/memories scope 1 #general
/memories tags 1 games, friends
/memories add the kettle is blue
/personal memories add {user} likes tea
/personal global add {user} plays the harp
/memories search saturday night
/memories why 1
/memories remove 1,2
/memories remove 2
/memories undo 2
/memories list
/personal memories list
/personal global list
/memories settings
ben: what do you know about this server
"""


def test_one_script_of_everything(isthmus: Isthmus) -> None:
    done = isthmus("chat", "--script", "-", "--json", stdin=SCRIPT)
    assert done.code == 0, done.err
    said = [record["text"] for record in done.records]
    shown = "\n".join(said)
    for expected in (
        "ID:1 game night is every Friday at 20:00 [new]",
        "Memory 1 says now: game night is every Saturday",
        "Memory 1 applies in: #general",
        "Tags of memory 1: games, friends",
        "Saved as memory 2.",
        "Saved as memory 3.",
        "Saved as memory 4.",
        "Tool: create_long_term_memory",
        "This removes 2 memories. To go on, run within 10 minutes: /memories remove 1,2 ",
        "1 memory removed: 2. Within 24 hours this brings it back: /memories undo 2",
        "Memory 2 is back.",
        "ID:3 ana likes tea [new, protected]",
        "ID:4 ana plays the harp [new, global, protected]",
        "2 of 100 places are taken.",
    ):
        assert expected in shown, f"{expected!r} is not in:\n{shown}"
    listed = [text for text in said if text.startswith("ID:1 game night is every Saturday")]
    assert listed[-1].splitlines() == [
        "ID:1 game night is every Saturday [new, protected, #general]",
        "ID:2 the kettle is blue [new, protected]",
    ]
    assert "every Saturday" in said[-1]


def test_another_process_sees_the_same(isthmus: Isthmus) -> None:
    server, personal = isthmus("memory", "stats", "--json").json
    assert (server["memories"], server["protected"], personal["memories"], personal["global"]) == (2, 2, 2, 1)
    shown = isthmus("memory", "show", "1", "--json").json
    assert (shown["content"], shown["tags"], shown["version"]) == (
        "game night is every Saturday",
        ["games", "friends"],
        4,
    )
    assert [one["content"] for one in isthmus("memory", "search", "kettle", "--json").json] == ["the kettle is blue"]
