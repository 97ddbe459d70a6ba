import json
import re

import pytest

from agent.contracts.people import PrivacyLevel
from agent.privacy.audit import Act, Look
from plugins.privacy.sentences import LEVELS
from tests.plugins.privacy.conftest import ANA, BACKROOM, BEN, DIRECT, DIRECT_CHANNEL, MAX, NOW, House

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts


async def code_of(house: House, **where: object) -> str:
    reply = await house.run("forget-me", **where)  # type: ignore[arg-type]
    assert reply.private
    assert reply.data is not None
    code = str(reply.data["code"])
    assert reply.text.endswith(f"/privacy forget-me {code}")
    return code


async def test_everybody_is_shown_their_level_and_what_it_means(house: House) -> None:
    reply = await house.run("show")
    assert reply.private
    assert reply.text.splitlines()[:2] == ["Your privacy level is none.", LEVELS[PrivacyLevel.NONE]]
    assert reply.data == {
        "level": "none",
        "keeps_memories": True,
        "shows_memories": True,
        "names": True,
        "reads_messages": True,
        "blacklisted": False,
        "personal_memories": True,
    }


@pytest.mark.parametrize("level", ["partial", "full"])
async def test_a_level_is_set_and_holds(house: House, level: str) -> None:
    await house.remember("{user} likes tea", "me")
    reply = await house.run("set", level=level)
    assert reply.text.splitlines()[0] == f"Your privacy level is {level}."
    assert "/privacy forget-me" in reply.text
    assert reply.data == {"level": level, "before": "none"}
    assert "likes tea" not in await house.prompt()
    result, _ = await house.remember("{user} likes coffee", "me")
    assert result.status == "memory_save_failed_privacy_restricted"
    shown = await house.run("show")
    assert shown.data is not None
    assert shown.data["level"] == level
    assert [step.options["level"] for step in shown.steps] == [each for each in PrivacyLevel if each != level]
    again = await house.run("set", level="none")
    assert "forget-me" not in again.text
    assert "likes tea" in await house.prompt()


@pytest.mark.parametrize("word", ["", "all", "NONE!", "f\0ull"])
async def test_another_word_is_no_level(house: House, word: str) -> None:
    reply = await house.run("set", level=word)
    assert (reply.ok, reply.text) == (False, "There is no such level: choose none, partial or full.")


async def test_an_export_is_a_private_file_with_everything(house: House) -> None:
    await house.remember("{user} likes tea", "me")
    reply = await house.run("export")
    assert reply.private
    assert reply.file is not None
    assert (reply.file.name, reply.file.content_type) == ("isthmus-export.json", "application/json")
    held = json.loads(reply.file.content)
    assert held["account"]["external_id"] == "ana"
    assert [memory["content"] for memory in held["plugins"]["memory"]["personal_memories"]] == ["{user} likes tea"]


async def test_forgetting_asks_back_and_takes_the_code(house: House) -> None:
    await house.remember("{user} likes tea", "me")
    code = await code_of(house)
    assert "likes tea" in await house.prompt()
    reply = await house.run("forget-me", code=f" {code[:4].lower()}-{code[4:]} ")
    assert reply.ok
    assert reply.text.startswith("Forgotten at 2026-03-01 12:00 UTC: ")
    assert "1 personal memories" in reply.text
    assert reply.data is not None
    assert reply.data["at"] == NOW.isoformat()
    assert reply.data["counts"]["personal_memories"] == 1
    assert "likes tea" not in await house.prompt()
    assert not (await house.run("forget-me", code=code)).ok


async def test_a_wrong_code_deletes_nothing_and_five_void_the_question(house: House) -> None:
    await house.remember("{user} likes tea", "me")
    code = await code_of(house)
    for _ in range(4):
        reply = await house.run("forget-me", code="AAAAAAAA")
        assert (reply.ok, "Nothing was deleted" in reply.text) == (False, True)
    assert (await house.run("forget-me", code="AAAAAAAA")).text.startswith("No open question")
    assert not (await house.run("forget-me", code=code)).ok
    assert "likes tea" in await house.prompt()


async def test_a_code_is_its_askers_and_ends_after_ten_minutes(house: House) -> None:
    code = await code_of(house)
    assert not (await house.run("forget-me", code=code, who=BEN)).ok
    house.wait(minutes=10)
    assert not (await house.run("forget-me", code=code)).ok
    second, third = await code_of(house), await code_of(house, server=DIRECT, channel=DIRECT_CHANNEL)
    assert not (await house.run("forget-me", code=second)).ok
    house.wait(minutes=9, seconds=59)
    assert (await house.run("forget-me", code=third, server=DIRECT, channel=DIRECT_CHANNEL)).ok


async def test_a_person_sees_who_looked(house: House) -> None:
    await house.meet(ANA, BEN, MAX)
    assert (await house.run("audit")).data == {"acts": []}
    ana, ben, max_ = [await house.account_id(who) for who in (ANA, BEN, MAX)]
    audit = house.agent.core.audit
    await audit.record([Look(Act.READ, "/memories list", max_, 1, about_account_id=ana, items=3)], NOW)
    await audit.record([Look(Act.EXPORTED, "isthmus privacy export", None, None, about_account_id=ana)], NOW)
    await audit.record([Look(Act.READ, "/memories list", ana, 1, about_account_id=ana)], NOW)
    await audit.record([Look(Act.EDITED, "/memories edit", max_, 1, about_account_id=ben)], NOW)
    reply = await house.run("audit", channel=BACKROOM)
    assert reply.private
    assert reply.text.splitlines() == [
        "2026-03-01 12:00 UTC · an operator · exported everything · isthmus privacy export · -",
        "2026-03-01 12:00 UTC · Max · read 3 · /memories list · home",
    ]
    await house.run("set", who=MAX, level="full")
    assert re.search("UTC · somebody · read 3", (await house.run("audit")).text)
