import pytest

from agent.identity.keys import ParticipantKey, ParticipantKind
from tests.plugins.privacy.conftest import ANA, BEN, MAX, House

pytestmark = pytest.mark.unwatched_loop  # an agent imports its model's library when it starts

MANAGERS_ONLY = "Only those who manage this server may do that."


@pytest.mark.parametrize("path", [("blacklist", "add"), ("blacklist", "remove"), ("blacklist", "list"), ("switch",)])
async def test_these_are_for_managers(house: House, path: tuple[str, ...]) -> None:
    assert (await house.run(*path, who=ANA, person=BEN.key)).text == MANAGERS_ONLY


async def test_a_blacklist_is_kept_and_holds(house: House) -> None:
    await house.meet(ANA, BEN, MAX)
    await house.remember("{user} likes tea", "me")
    assert (await house.run("blacklist", "list", who=MAX)).text == "The blacklist is empty."
    reply = await house.run("blacklist", "add", who=MAX, person=ANA.key)
    assert reply.text == "I keep and show no memories about Ana here."
    assert reply.data == {"person": {"platform": "console", "id": "ana", "name": "Ana"}, "changed": True}
    assert (await house.run("blacklist", "add", who=MAX, person=ANA.key)).data["changed"] is False  # type: ignore[index]
    assert "likes tea" not in await house.prompt()
    assert (await house.remember("{user} likes coffee", "me"))[0].status == "memory_save_failed_blacklisted"
    assert (await house.run("show")).text.splitlines()[2] == "This server wants no memories about you."
    assert (await house.run("blacklist", "list", who=MAX)).text == "Ana (console:ana)"
    assert (await house.run("blacklist", "remove", who=MAX, person=ANA.key)).text == "Ana is off the blacklist."
    again = await house.run("blacklist", "remove", who=MAX, person=ANA.key)
    assert (again.text, again.data["changed"]) == ("Ana is not on the blacklist.", False)  # type: ignore[index]
    assert "likes tea" in await house.prompt()


async def test_who_hides_is_never_named(house: House) -> None:
    await house.meet(ANA, MAX)
    await house.run("set", level="full")
    for path in (("blacklist", "add"), ("blacklist", "list"), ("blacklist", "remove")):
        reply = await house.run(*path, who=MAX, person=ANA.key)
        assert "console:ana" in reply.text
        assert "Ana" not in f"{reply.text} {reply.data}"


@pytest.mark.parametrize(
    "key",
    [
        ParticipantKey(ParticipantKind.CONSOLE_USER, "nobody"),
        ParticipantKey(ParticipantKind.DISCORD_USER, "ana"),
        ParticipantKey(ParticipantKind.CONSOLE_USER, "a\0na"),
    ],
)
async def test_only_who_was_seen_can_be_listed(house: House, key: ParticipantKey) -> None:
    await house.meet(ANA)
    reply = await house.run("blacklist", "add", who=MAX, person=key)
    assert (reply.ok, reply.text.startswith("I have not met anybody")) == (False, True)


async def test_switches_are_shown_and_set(house: House) -> None:
    reply = await house.run("switch", who=MAX)
    assert reply.data == {"switches": {"self-teaching": True, "personal-memories": True, "member-access": False}}
    assert [line.split(" - ")[0] for line in reply.text.splitlines()] == [
        "self-teaching: on",
        "personal-memories: on",
        "member-access: off",
    ]
    one = await house.run("switch", who=MAX, name="member-access", state=True)
    assert one.data == {"switches": {"member-access": True}}
    assert (await house.run("switch", who=MAX, name="member-access")).data == one.data
    wrong = await house.run("switch", who=MAX, name="everything", state=True)
    assert (wrong.ok, wrong.text) == (
        False,
        "There is no such switch: self-teaching, personal-memories, member-access.",
    )


async def test_self_teaching_off_stops_the_model(house: House) -> None:
    await house.run("switch", who=MAX, name="self-teaching", state=False)
    assert (await house.remember("a fact"))[0].status == "memory_save_failed_disabled"
    await house.run("switch", who=MAX, name="self-teaching", state=True)
    assert (await house.remember("a fact"))[0].status == "memory_saved_successfully"


async def test_personal_memories_off_neither_saves_nor_shows_them(house: House) -> None:
    await house.remember("{user} likes tea", "me")
    await house.remember("a fact")
    await house.run("switch", who=MAX, name="personal-memories", state=False)
    assert (await house.remember("{user} likes coffee", "me"))[0].status == "memory_save_failed_disabled"
    text = await house.prompt()
    assert ("likes tea" in text, "a fact" in text) == (False, True)
    assert "no personal memories of anybody" in (await house.run("show")).text
    await house.run("switch", who=MAX, name="personal-memories", state=True)
    assert "likes tea" in await house.prompt()
