"""A plugin whose command offers choices and fills a form."""

from collections.abc import Sequence

from agent.commands import Choice, Command, CommandReply, Invocation, Option, Rights
from agent.hookspecs import hookimpl


async def _run(call: Invocation) -> CommandReply:
    return CommandReply(" ".join(call.command))


async def _offer(call: Invocation, typed: str) -> Sequence[Choice]:
    if typed == "boom":
        raise LookupError("no such thing")
    return [Choice(number, f"{call.account.display_name} {typed}{number}") for number in range(40)]


async def _hold(call: Invocation) -> str:
    if call.options.get("id") == 0:
        raise LookupError("no such memory")
    return f"the text of {call.options.get('id')}"


class Offering:
    name = "offering"

    @hookimpl
    def register_commands(self) -> Sequence[Command]:
        options = (Option("id", "Which.", suggest=_offer), Option("text", "What.", long=True, prefill=_hold))
        return [
            Command(("notes", "edit"), "Edit one.", _run, options, owner="offering"),
            Command(("notes", "rule"), "Edit a rule.", _run, options, Rights.MANAGE, owner="offering"),
        ]
