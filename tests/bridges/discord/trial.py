"""A plugin whose commands have options of every kind, and answer in every way."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from agent.commands import (
    Choice,
    Command,
    CommandReply,
    GivenMessage,
    Invocation,
    Option,
    OptionKind,
    Rights,
    Step,
    StepKind,
)
from agent.files import FileRefused, ReplyFile
from agent.hookspecs import hookimpl
from agent.settings import Section

MODULE = "tests.bridges.discord.trial"
SETTINGS = {"plugins": {"trial": {"module": MODULE}}}


@dataclass
class Seen:
    """What the commands were given, and what holds the slow one back."""

    options: list[dict[str, Any]] = field(default_factory=list)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    text: str = "the old text"


SEEN = Seen()


class TrialSettings(Section):
    pass


class Plugin:
    name = "trial"
    requires = ()
    Settings = TrialSettings
    migrations = None

    def __init__(self, settings: TrialSettings) -> None:
        self.settings = settings

    @hookimpl
    def register_commands(self) -> Sequence[Command]:
        number = Option("number", "A number.", OptionKind.INTEGER, required=False, suggest=numbers)
        page = Option("page", "Which page.", OptionKind.INTEGER, required=False)
        text = Option("text", "What it says.", long=True, prefill=prefilled)
        every = (
            number,
            Option("word", "A word.", choices=("red", "green")),
            Option("many", "One of many.", required=False, choices=tuple(f"choice {each}" for each in range(40))),
            Option("yes", "Yes or no.", OptionKind.BOOLEAN, required=False),
            Option("who", "A person.", OptionKind.PERSON, required=False),
            Option("where", "A channel.", OptionKind.CHANNEL, required=False),
        )
        message = Option("message", "A message.", OptionKind.MESSAGE)
        return (
            Command(("trial", "values"), "Take values.", kept, every),
            Command(("trial", "file"), "Turn a file round.", turned, (Option("file", "It.", OptionKind.FILE),)),
            Command(("trial", "message"), "Take a message.", told, (message,), menu="Take this message"),
            Command(
                ("trial", "person"), "Take a person.", kept, (Option("who", "Whom.", OptionKind.PERSON),),
                private=True, menu="Take this person",
            ),
            Command(("trial", "write"), "Write a text.", written, (Option("name", "Whose."), text), private=True),
            Command(("trial", "slow"), "Take long.", slow, (Option("private", "For me.", OptionKind.BOOLEAN),)),
            Command(("trial", "deep", "pages"), "Turn pages.", pages, (page,)),
            Command(("trial", "long"), "Say much.", long, (Option("length", "How much.", OptionKind.INTEGER),)),
            Command(("trial", "broken"), "Fail.", broken),
            Command(("guarded",), "Only for managers.", kept, (text,), Rights.MANAGE, private=True),
        )  # fmt: skip


async def numbers(call: Invocation, typed: str) -> Sequence[Choice]:
    SEEN.options.append(dict(call.options))
    if typed == "0":
        await SEEN.go_on.wait()
    return [Choice(int(f"{typed or 0}{end}"), f"number {typed}{end} " + "x" * 200) for end in range(30)]


async def prefilled(call: Invocation) -> str:
    SEEN.options.append(dict(call.options))
    return SEEN.text


async def kept(call: Invocation) -> CommandReply:
    SEEN.options.append(dict(call.options))
    return CommandReply("kept")


async def turned(call: Invocation) -> CommandReply:
    try:
        content = await call.options["file"].read(100)
    except FileRefused as refused:
        return CommandReply(str(refused), ok=False)
    return CommandReply("", file=ReplyFile("turned.txt", content[::-1], "text/plain"))


async def told(call: Invocation) -> CommandReply:
    message: GivenMessage = call.options["message"]
    SEEN.options.append({"author": message.author, "from_agent": message.from_agent})
    return CommandReply(f"{message.author.display_name} said @everyone: {message.text}", private=True)


async def written(call: Invocation) -> CommandReply:
    SEEN.options.append(dict(call.options))
    return CommandReply(f"{call.options['name']}: {call.options['text']}", private=True)


async def slow(call: Invocation) -> CommandReply:
    SEEN.options.append(dict(call.options))
    await SEEN.go_on.wait()
    return CommandReply("at last", private=call.options["private"])


async def pages(call: Invocation) -> CommandReply:
    page = call.options.get("page", 1)
    steps = (
        Step("Back", call.command, {"page": page - 1}, StepKind.PREVIOUS),
        Step("On", call.command, {"page": page + 1}, StepKind.NEXT),
        Step("Write", ("trial", "write"), {"name": "ben"}),
        Step("Sure?", ("trial", "long"), {"length": 5}, StepKind.CONFIRM),
        Step("Too much", ("trial", "write"), {"name": "x" * 100}),
    )
    return CommandReply(f"page {page}", steps=steps)


async def long(call: Invocation) -> CommandReply:
    return CommandReply(" ".join(["word"] * call.options["length"]))


async def broken(call: Invocation) -> CommandReply:
    raise RuntimeError(f"secret of {asdict(call.place.server.ref)}")
