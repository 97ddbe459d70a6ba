"""`/personal proxy …`: what everybody decides for the account that they speak with."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from agent.catalog import N_, translate
from agent.commands import Choice, Command, CommandReply, Option
from agent.confirmations import VALID
from agent.identity.names import normalise
from agent.text import one_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from agent.commands import Invocation
    from agent.contracts.people import Speaker
    from plugins.message_proxy.choosing import Choosing

SHOWN: Final = 50
"""Identities in one answer; the data holds more."""


class ProxyCommands:
    """`set`, `off`, `status` and `identities`; every answer is for the asker alone."""

    def __init__(self, choosing: Choosing, probing: Callable[[Invocation, int], None]) -> None:
        self._choosing = choosing
        self._probing = probing

    def commands(self) -> tuple[Command, ...]:
        """Return the commands."""
        name = Option("name", N_("The name of one of them."), suggest=self._names)
        code = Option("code", N_("The code of my question, to confirm."), required=False, named_only=True)
        service = Option("service", N_("The service that you speak through."), suggest=self._services)
        return (
            _command("set", N_("Tell me which service speaks for you."), self.set_service, service),
            _command("off", N_("Have me take every message as yours again."), self.off),
            _command("status", N_("Show which service speaks for you."), self.status),
            _command("identities", N_("Show whom I know from your account."), self.identities),
            _command("forget-identity", N_("Delete everything about one of them."), self.forget_identity, name, code),
            _command("forget-system", N_("Delete everything about all of them."), self.forget_system, code),
        )

    async def set_service(self, call: Invocation) -> CommandReply:
        """Let the account of whoever asks use a service."""
        instance = self._choosing.find(str(call.options["service"]))
        names = ", ".join(each.name for each in self._choosing.instances)
        if instance is None:
            text = translate(call.locale, "I know no such service. There are: {names}.", names=names)
            return CommandReply(text, private=True, ok=False)
        await self._choosing.use(call.account, instance)
        title = instance.descriptor.title
        if not instance.descriptor.attests:
            text = translate(
                call.locale,
                "{service} cannot tell me who speaks. I leave alone what it reposts for you, and keep nothing of it.",
                service=title,
            )
            return CommandReply(text, private=True, data={"service": instance.name})
        self._probing(call, instance.instance_id)
        lines = (
            translate(
                call.locale,
                "From now on I ask {service} who speaks when it reposts what you say. "
                "Each of you then has memories of their own.",
                service=title,
            ),
            translate(
                call.locale,
                "Your messages may wait for a moment until it is clear whether they are reposted. "
                "Your privacy level holds for all of you.",
            ),
        )
        return CommandReply("\n".join(lines), private=True, data={"service": instance.name})

    async def off(self, call: Invocation) -> CommandReply:
        """Let the account of whoever asks use none."""
        changed = await self._choosing.stop(call.account)
        text = (
            N_("I no longer ask any service who speaks. What I remember about each of you stays until you delete it.")
            if changed
            else N_("You speak through no service, as far as I know.")
        )
        return CommandReply(translate(call.locale, text), private=True, data={"changed": changed})

    async def status(self, call: Invocation) -> CommandReply:
        """Tell what the account of whoever asks uses."""
        used = self._choosing.used_by(call.account)
        data = {"services": [each.name for each in used]}
        if not used:
            text = translate(
                call.locale, "You speak through no service, as far as I know. To change that: /personal proxy set"
            )
            return CommandReply(text, private=True, data=data)
        names = ", ".join(f"{each.descriptor.title} ({each.name})" for each in used)
        text = translate(call.locale, "These services speak for you: {names}.", names=names)
        return CommandReply(text, private=True, data=data)

    async def identities(self, call: Invocation) -> CommandReply:
        """Show the members that the account of whoever asks hosts, also while it uses no service."""
        found = await self._choosing.identities(call.account)
        data = {
            "identities": [
                {"name": each.display_name, "system": each.system, "reference": each.key.id} for each in found
            ]
        }
        if not found:
            return CommandReply(translate(call.locale, "I know nobody from your account."), private=True, data=data)
        lines = [translate(call.locale, "I know these from your account:")]
        lines += [f"- {one_line(each.display_name)} ({each.key.id})" for each in found[:SHOWN]]
        if len(found) > SHOWN:
            lines.append(translate(call.locale, "{count} more are not shown.", count=len(found) - SHOWN))
        return CommandReply("\n".join(lines), private=True, data=data)

    async def forget_identity(self, call: Invocation) -> CommandReply:
        """Ask back; with the code of that question, forget one identity, also while proxying is off."""
        found = await self._choosing.named(call.account, str(call.options["name"]))
        if len(found) != 1:
            text = (
                N_("Several are called so. Name one by its number: {references}")
                if found
                else N_("Your account hosts nobody of this name. /personal proxy identities shows whom I know.")
            )
            references = ", ".join(each.key.id for each in found)
            return CommandReply(translate(call.locale, text, references=references), private=True, ok=False)
        return await self._forget(call, found, f"/personal proxy forget-identity name={found[0].key.id}")

    async def forget_system(self, call: Invocation) -> CommandReply:
        """Ask back; with the code of that question, forget every identity that the account hosts."""
        found = await self._choosing.identities(call.account)
        if not found:
            return CommandReply(translate(call.locale, "I know nobody from your account."), private=True, ok=False)
        return await self._forget(call, found, "/personal proxy forget-system")

    async def _forget(self, call: Invocation, found: Sequence[Speaker], command: str) -> CommandReply:
        names = ", ".join(one_line(each.display_name) for each in found)
        code = str(call.options.get("code") or "").strip()
        if not code:
            asked = await self._choosing.ask_back(call.account, found, call.now)
            text = translate(
                call.locale,
                "This deletes everything that I hold about {names}, in every server, and cannot be undone. "
                "To go on, run within {minutes} minutes: {command} code={code}",
                names=names,
                minutes=VALID // timedelta(minutes=1),
                command=command,
                code=asked,
            )
            data = {"code": asked, "identities": [each.key.id for each in found]}
            return CommandReply(text, private=True, data=data)
        counts = await self._choosing.forget(call.account, found, code, call.now)
        if counts is None:
            text = translate(call.locale, "That is not the code of an open question. Nothing was deleted.")
            return CommandReply(text, private=True, ok=False)
        text = translate(call.locale, "Everything that I held about {names} is deleted.", names=names)
        return CommandReply(text, private=True, data={"counts": counts})

    async def _names(self, call: Invocation, typed: str) -> Sequence[Choice]:
        wanted = normalise(typed)
        found = await self._choosing.identities(call.account)
        return [Choice(each.key.id, each.display_name) for each in found if wanted in normalise(each.display_name)][:25]

    async def _services(self, _call: Invocation, typed: str) -> Sequence[Choice]:
        return [
            Choice(each.name, each.descriptor.title)
            for each in self._choosing.instances
            if typed.casefold() in each.name or typed.casefold() in each.descriptor.title.casefold()
        ][:25]


def _command(
    word: str, description: str, run: Callable[[Invocation], Awaitable[CommandReply]], *options: Option
) -> Command:
    return Command(("personal", "proxy", word), description, run, options, private=True, owner="message_proxy")
