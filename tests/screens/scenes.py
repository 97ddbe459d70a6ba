"""What happens in the pictures: each scene has an agent of its own, and gives its pictures by their names."""

from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from typing import Any

from agent.testing.scripted_model import ScriptedCall
from tests.clocks import ManualClock
from tests.screens.console import set_up_dialogue, terminal
from tests.screens.dialogs import form, menu
from tests.screens.stage import BEGIN, SETTINGS, Stage, staged
from tests.screens.views import dialog
from tests.servers.discord.asking import InteractionResult
from tests.servers.discord.events import Intent
from tests.servers.discord.records import Message

type Scene = Callable[[str], Coroutine[Any, Any, dict[str, str]]]
"""Takes the address of an empty database."""

FACTS = (
    "Game night is every Friday at 20:00.",
    "The library closes at 18:00 on Saturdays.",
    "Ben waters the tomatoes on Mondays.",
    "The gate code is changed on the first of each month.",
    "Mara keeps the spare key.",
    "Compost goes into the green bin behind the shed.",
    "The next harvest feast is on 12 September.",
    "New members introduce themselves in #hello.",
    "Plans are written down in #planning.",
    "The hose may be used until 21:00.",
    "Seeds are swapped in spring.",
    "The shed is painted blue.",
)


def save(content: str, scope: str = "server_wide", **more: str) -> ScriptedCall:
    return ScriptedCall("create_long_term_memory", {"memory_content": content, "memory_scope": scope, **more})


def button(shown: Message, label: str) -> str:
    """The id of a button by what stands on it."""
    found = {one["label"]: one["custom_id"] for row in shown.components for one in row["components"]}
    return str(found[label])


async def press(stage: Stage, shown: Message, label: str) -> InteractionResult:
    return await stage.discord.press(stage.mara, stage.discord.now(shown), button(stage.discord.now(shown), label))


async def talking(stage: Stage) -> AsyncIterator[tuple[str, str]]:
    """A question and its answer; then a persona."""
    before = stage.say(stage.ben, "The tomatoes look thirsty again.")
    asked, [answer] = await stage.ask(
        stage.mara,
        "{bot} how much water do tomatoes want?",
        "About **two litres** for each plant, twice a week:\n"
        "- in the morning, at the roots\n"
        "- never on the leaves\n\n"
        "Ben has just said that they look thirsty, so today is a good day.",
    )
    yield "conversation", await stage.draw("Somebody mentions the agent, and it answers", before, asked, answer)
    given = {"name": "Rosa", "prompt": "You are Rosa, an old gardener."}
    await stage.discord.slash(stage.mara, stage.general, "persona create", given)
    asked, [answer] = await stage.ask(
        stage.ben, "Rosa, may I cut the roses now?", "Wait for the frost to go, dear. In **March** they thank you."
    )
    yield "persona", await stage.draw("A persona answers under her own name", asked, answer)


async def noticing(stage: Stage) -> AsyncIterator[tuple[str, str]]:
    """What is said when something is remembered, in full and in short; and the whole text of a long one."""
    asked, posted = await stage.ask(
        stage.mara,
        "{bot} remember: game night is every Friday at 20:00",
        save("Game night is every Friday at 20:00."),
        "I will remember that.",
    )
    yield "notice-full", await stage.draw("A notice in full, with buttons", asked, *posted)
    asked, posted = await stage.ask(
        stage.ben,
        "{bot} by the way, I like green tea",
        save("{user} likes green tea.", "target_user", target_user="Ben"),
        "Good to know!",
    )
    yield (
        "notice-first",
        await stage.draw("What somebody is told when something about them is first kept", asked, *posted),
    )
    await stage.show_notices("minimal")
    asked, posted = await stage.ask(
        stage.mara, "{bot} the shed is painted blue now", save("The shed is painted blue."), "Blue it is."
    )
    yield "notice-minimal", await stage.draw("A notice with its title alone", asked, *posted)
    await stage.show_notices("full")
    rules = " ".join(f"{number}. {fact}" for number, fact in enumerate(FACTS * 9, 1))
    _, posted = await stage.ask(stage.mara, "{bot} keep the rules of the garden", save(rules), "Kept.")
    [notice] = [one for one in posted if one.components]
    whole = await press(stage, notice, "Show all")
    yield (
        "notice-expanded",
        await stage.draw("The whole text of a long notice, for who pressed the button", *whole.messages),
    )


async def managing(stage: Stage) -> AsyncIterator[tuple[str, str]]:
    """Memories listed, explained, edited and removed with commands, and asked about in a menu."""
    discord, mara, general = stage.discord, stage.mara, stage.general
    for fact in FACTS[:-1]:
        await discord.slash(mara, general, "memories add", {"text": fact})
        stage.later(hours=20)
    asked, posted = await stage.ask(mara, "{bot} the shed is painted blue now", save(FACTS[-1]), "Blue it is.")
    [answer] = [one for one in posted if not one.embeds]
    stage.later(hours=3)
    listed = await discord.slash(mara, general, "memories list")
    yield "memories-list", await stage.draw("Memories, page by page", listed.message, asked="/memories list")
    number = len(FACTS)
    why = await discord.slash(mara, general, "memories why", {"id": number})
    yield "memories-why", await stage.draw("Where a memory comes from", why.message, asked=f"/memories why id:{number}")
    entries = ("Remember this", "Why do you know this?")
    yield "menu", menu("The menu of a message", entries, entries[1])
    because = await discord.menu(mara, answer, entries[1])
    yield (
        "menu-why",
        await stage.draw("What was learned from a message", asked, answer, because.message, asked=entries[1]),
    )
    opened = await discord.slash(mara, general, "memories edit", {"id": number})
    yield "memories-edit", form("A form in which a memory is edited", dialog(opened.modal))
    sure = await discord.slash(mara, general, "memories remove", {"ids": "2,5,9"})
    yield "memories-remove", await stage.draw("A confirmation", sure.message, asked="/memories remove ids:2,5,9")
    done = await press(stage, sure.message, "Remove 3 memories")
    yield "memories-removed", await stage.draw("What was removed", done.message, asked="/memories remove ids:2,5,9")


async def private(stage: Stage) -> AsyncIterator[tuple[str, str]]:
    """What somebody is told about their privacy."""
    await stage.ask(
        stage.ben,
        "{bot} I like green tea",
        save("{user} likes green tea.", "target_user", target_user="Ben"),
        "Good to know!",
    )
    shown = await stage.discord.slash(stage.ben, stage.general, "privacy show")
    yield "privacy-show", await stage.draw("Privacy, as it stands for who asks", shown.message, asked="/privacy show")
    forget = await stage.discord.slash(stage.ben, stage.general, "privacy forget-me")
    yield "privacy-forget", await stage.draw("Before somebody is forgotten", forget.message, asked="/privacy forget-me")


async def setting_up(stage: Stage) -> AsyncIterator[tuple[str, str]]:
    """The dialogue of the operator, before anybody sees the agent."""
    stage.discord.deny_intents(Intent.MESSAGE_CONTENT)
    yield "setup", await set_up_dialogue(stage.discord)


async def _in_discord(play: Callable[[Stage], AsyncIterator[tuple[str, str]]], database_url: str) -> dict[str, str]:
    async with staged(database_url) as stage:
        return {name: drawn async for name, drawn in play(stage)}


async def _at_a_terminal(database_url: str) -> dict[str, str]:
    return {"terminal": await terminal(database_url, SETTINGS, ManualClock(BEGIN))}


SCENES: tuple[Scene, ...] = (
    *(partial(_in_discord, play) for play in (talking, noticing, managing, private, setting_up)),
    _at_a_terminal,
)
