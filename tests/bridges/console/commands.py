"""Commands as plugins would declare them."""

from agent.commands import Command, CommandReply, Invocation, Option, OptionKind


async def _unused(_invocation: Invocation) -> CommandReply:
    return CommandReply("unused")


ADD = Command(
    ("personal", "memories", "add"),
    "Keep a fact",
    _unused,
    (Option("tag", "One word", choices=("food", "games")), Option("content", "What to keep")),
)
LIST = Command(
    ("personal", "memories"), "Show them", _unused, (Option("page", "Which", OptionKind.INTEGER, required=False),)
)
SERVER = Command(("server", "memories"), "Of this server", _unused)
MIXED = Command(
    ("mixed",),
    "Every kind",
    _unused,
    (
        Option("who", "A person", OptionKind.PERSON),
        Option("channel", "A channel", OptionKind.CHANNEL, required=False),
        Option("loud", "Yes or no", OptionKind.BOOLEAN, required=False),
        Option("note", "A file", OptionKind.FILE, required=False),
    ),
)
STOP = Command(("stop",), "Stop the answer", _unused)
COMMANDS = (ADD, LIST, SERVER, MIXED, STOP)
