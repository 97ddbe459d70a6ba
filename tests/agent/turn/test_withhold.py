from dataclasses import replace

from agent.contracts.context import ContextEntry, ContextItem, LeftOut, Role, Section, Tag
from agent.contracts.people import PrivacyLevel
from agent.privacy.hidden import NOBODY, Hidden, HiddenNames
from agent.turn.withhold import REASON, without_hidden
from tests.agent.turn.builders import a_participant


def item(tag: Tag, *texts: str) -> ContextItem:
    entries = tuple(ContextEntry(f"{tag}:{number}", text, f"ID:{number} {text}") for number, text in enumerate(texts))
    return ContextItem(tag, Role.SYSTEM, Section.PREFIX, "", entries)


SERVER = item(Tag.KNOWLEDGE_SERVER_MEMORIES, "Ben hosts", "Cleo sings", "tea")
PERSONAL = item(Tag.KNOWLEDGE_USER_MEMORIES, "ana knows Ben", "ana knows Cleo", "ana likes tea")
RECALLED = item(Tag.RECALL, "Ben and Cleo")
LORE = item(Tag.LOREBOOK, "Ben is a wizard", "the tower is old")
SAID = item(Tag.HISTORY, "Ben hosts")
HIDDEN = Hidden(HiddenNames(["ben"]), HiddenNames(["ben", "cleo"]))


async def test_nothing_changes_when_nobody_hides() -> None:
    assert await without_hidden([SERVER, SAID], NOBODY, ()) == ([SERVER, SAID], [])


async def test_what_names_who_hides_is_left_out_and_what_people_say_stays() -> None:
    kept, left_out = await without_hidden([SERVER, PERSONAL, LORE, SAID, RECALLED], HIDDEN, (a_participant("ana"),))
    assert [[entry.text for entry in each.entries] for each in kept] == [
        ["Cleo sings", "tea"],
        ["ana likes tea"],
        ["the tower is old"],
        ["Ben hosts"],
    ]
    assert left_out == [
        LeftOut(Tag.KNOWLEDGE_SERVER_MEMORIES, f"{Tag.KNOWLEDGE_SERVER_MEMORIES}:0", REASON),
        LeftOut(Tag.KNOWLEDGE_USER_MEMORIES, f"{Tag.KNOWLEDGE_USER_MEMORIES}:0", REASON),
        LeftOut(Tag.KNOWLEDGE_USER_MEMORIES, f"{Tag.KNOWLEDGE_USER_MEMORIES}:1", REASON),
        LeftOut(Tag.LOREBOOK, f"{Tag.LOREBOOK}:0", REASON),
        LeftOut(Tag.RECALL, f"{Tag.RECALL}:0", REASON),
    ]


async def test_what_is_remembered_about_a_namesake_who_takes_part_is_shown() -> None:
    twin = Hidden(HiddenNames(["ana"]), HiddenNames(["ana"]))
    kept, _ = await without_hidden([PERSONAL, item(Tag.RECALL, "ana hosts")], twin, (a_participant("ana"),))
    assert kept == [PERSONAL]
    person = a_participant("ana")
    hiding = replace(person, account=replace(person.account, privacy=PrivacyLevel.FULL))
    assert (await without_hidden([PERSONAL], twin, (hiding,)))[0] == []


async def test_long_lists_leave_the_loop_to_others() -> None:
    long = item(Tag.KNOWLEDGE_SERVER_MEMORIES, *(f"fact {number} of Ben" for number in range(1000)), "tea")
    kept, left_out = await without_hidden([long], HIDDEN, ())
    assert [entry.text for entry in kept[0].entries] == ["tea"]
    assert len(left_out) == 1000
