"""Whoever manages a server and looks at or changes what is about others is shown to them, whatever the command."""

import json
from typing import Any

import pytest

from tests.plugins.privacy.conftest import ANA, BEN, DIRECT, DIRECT_CHANNEL, GENERAL, HOME, MAX, House
from tests.plugins.privacy.test_guards import Given

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts


async def about_ana(house: House, content: str = "{user} plays chess") -> int:
    """Have a memory of the server kept whose subject is ana."""
    result, _ = await house.remember(content)
    assert result.status == "memory_saved_successfully"
    return int(str(result.data["memory_id"]))


async def manage(house: House, *path: str, who: Any = MAX, **options: Any) -> Any:
    reply = await house.agent.run_command(path, options, HOME, GENERAL, who)
    assert reply.ok, reply.text
    return reply


async def seen_by_ana(house: House) -> list[tuple[str, str, str, int]]:
    reply = await house.run("audit", server=DIRECT, channel=DIRECT_CHANNEL)
    assert reply.data is not None
    return [(act["act"], act["via"], act["actor"], act["items"]) for act in reply.data["acts"]]


@pytest.mark.parametrize(
    ("path", "options", "act"),
    [
        (("memories", "list"), {}, "read"),
        (("memories", "search"), {"text": "chess"}, "read"),
        (("memories", "why"), {"id": ...}, "read"),
        (("memories", "edit"), {"id": ..., "text": "{user} plays go"}, "edited"),
        (("memories", "tags"), {"id": ..., "tags": "games"}, "edited"),
        (("memories", "scope"), {"id": ..., "channels": "everywhere"}, "edited"),
        (("memories", "remove"), {"ids": ...}, "deleted"),
        (("memories", "export"), {}, "exported"),
    ],
)
async def test_each_command_is_seen(house: House, path: tuple[str, ...], options: dict[str, Any], act: str) -> None:
    await house.meet(ANA, BEN, MAX)
    memory_id = await about_ana(house)
    given = {name: memory_id if value is ... else value for name, value in options.items()}
    if "ids" in given:
        given["ids"] = str(memory_id)
    await manage(house, *path, **given)
    assert await seen_by_ana(house) == [(act, "/" + " ".join(path), "Max", 1)]
    assert (await house.run("audit", who=BEN)).data == {"acts": []}


async def test_what_is_brought_back_and_brought_in_is_seen(house: House) -> None:
    await house.meet(ANA, MAX)
    memory_id = await about_ana(house)
    await manage(house, "memories", "remove", ids=str(memory_id))
    await manage(house, "memories", "undo", id=memory_id)
    entry = {"content": "{user} sings", "about": {"platform": "console", "id": "ana"}}
    file = {"format": "isthmus-memories", "version": 1, "server_memories": [entry]}
    await manage(house, "memories", "import", file=Given(json.dumps(file).encode()))
    assert await seen_by_ana(house) == [
        ("edited", "/memories import", "Max", 1),
        ("edited", "/memories undo", "Max", 1),
        ("deleted", "/memories remove", "Max", 1),
    ]


async def test_what_people_do_with_their_own_and_what_is_about_nobody_is_not_written_down(house: House) -> None:
    await house.meet(ANA, MAX)
    await house.remember("the club meets on friday", who=MAX)
    await manage(house, "memories", "list")
    assert await seen_by_ana(house) == []
    await manage(house, "privacy", "switch", name="member-access", state=True)
    await about_ana(house)
    await manage(house, "memories", "list", who=ANA)
    assert await seen_by_ana(house) == []
