from agent.commands import Rights
from plugins.memory.commands.choices import SWITCHES
from tests.plugins.memory.commands.people import ANA, Counter, learned
from tests.plugins.memory.stage import Stage


async def test_settings_show_how_much_is_taken_and_every_switch(stage: Stage, counter: Counter) -> None:
    await learned(stage, "a fact")
    lines = (await counter.run("memories settings")).text.splitlines()
    assert lines[:3] == [
        "1 of 100 places are taken.",
        "A memory has at most 1000 characters.",
        "Memories sleep after 30 days.",
    ]
    assert [line.partition(":")[0] for line in lines[3:]] == list(SWITCHES)
    stage.configure(decay={"enabled": False})
    assert "Memories never sleep." in (await Counter(stage).run("memories settings")).text


async def test_a_switch_takes_effect(stage: Stage, counter: Counter) -> None:
    assert counter.commands["memories", "settings"].rights is Rights.MANAGE
    assert not (await counter.run("memories add", text="x", manages=False)).ok
    reply = await counter.run("memories settings", name="member-edits", state=True)
    assert reply.text.startswith("member-edits: on")
    assert (await counter.run("memories add", text="x", manages=False)).ok
    off = await counter.run("memories settings", name="self-teaching", state=False, locale="de")
    assert off.text.startswith("self-teaching: aus")
    assert (await stage.create(await stage.context(ANA), "y")).status.endswith("disabled")
    assert not (await counter.run("memories settings", name="nothing")).ok
