"""`/persona …`: what managers do to the personas of their server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agent.catalog import N_, translate
from agent.commands import Choice, Command, CommandReply, Invocation, Option, Rights
from agent.identity.directory import is_hidden
from agent.identity.names import normalise
from agent.personas.changes import Changed, PersonaChanges
from agent.personas.keeping import kept_in, kept_text
from agent.personas.rules import Draft, PersonaRefused, find, split_words
from agent.personas.showing import as_data, details, headline, sharers

if TYPE_CHECKING:
    from agent.contracts.people import Persona
    from agent.core import Core

type Run = Callable[[Invocation], Awaitable[CommandReply]]

_NAME: Final = Option("name", N_("The name of a persona."))
_NEW_NAME: Final = Option("new_name", N_("Its new name."))
_PROMPT: Final = Option(
    "prompt", N_("Who the persona is and how it speaks; {bot} stands for its name."), required=False
)
_NEW_PROMPT: Final = Option("prompt", N_("Who the persona is and how it speaks; {bot} stands for its name."), long=True)
_WITH: Final = Option(
    "with", N_("The persona whose memories it shall share; left out: memories of its own again."), required=False
)
_AVATAR: Final = Option("address", N_("The address of a picture, or none; left out: it is shown."), required=False)
_TRIGGERS: Final = Option(
    "triggers", N_("Words that call it, with commas between them, or none; left out: they are shown."), required=False
)
_AFFIXES: Final = Option(
    "affixes",
    N_("What it puts before or behind names, as master or -chan, with commas, or none; left out: it is shown."),
    required=False,
)


class PersonaCommands:
    """The commands; all of them need the right to manage."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._changes = PersonaChanges.of(core)

    def commands(self) -> tuple[Command, ...]:
        """Return the commands."""
        name, other = replace(_NAME, suggest=self.names), replace(_WITH, suggest=self.names)
        prompt = replace(_NEW_PROMPT, prefill=self.prompt)
        return (
            self._command("list", N_("Show the personas of this server."), self.list_all),
            self._command("show", N_("Show a persona with its prompt."), self.show, name),
            self._command("create", N_("Make a persona with memories of its own."), self.create, _NAME, _PROMPT),
            self._command("edit", N_("Give a persona another prompt."), self.edit, name, prompt),
            self._command("rename", N_("Give a persona another name."), self.rename, name, _NEW_NAME),
            self._command("default", N_("Make a persona the one that answers by default."), self.default, name),
            self._command(
                "share-lineage", N_("Let a persona share the memories of another one."), self.share, name, other
            ),
            self._command("avatar", N_("Show or change the picture of a persona."), self.avatar, name, _AVATAR),
            self._command(
                "triggers", N_("Show or change the words that call a persona."), self.triggers, name, _TRIGGERS
            ),
            self._command(
                "affixes", N_("Show or change what a persona puts around names."), self.affixes, name, _AFFIXES
            ),
            self._command("reset", N_("Make the default persona what the operator has set."), self.reset),
            self._command("delete", N_("Delete a persona; its memories stay with its lineage."), self.delete, name),
        )

    def _command(self, word: str, description: str, run: Run, *options: Option) -> Command:
        async def guarded(call: Invocation) -> CommandReply:
            try:
                return await run(call)
            except PersonaRefused as refused:
                text = translate(call.locale, refused.msgid, **refused.values)
                return CommandReply(text, private=True, ok=False)

        return Command(("persona", word), description, guarded, options, Rights.MANAGE, private=True)

    async def names(self, call: Invocation, typed: str) -> Sequence[Choice]:
        """Offer the personas of the server whose names hold what was typed."""
        words = normalise(typed)
        names = [persona.nickname for persona in await self._personas(call)]
        return [Choice(name, name) for name in names if words in normalise(name)]

    async def prompt(self, call: Invocation) -> str:
        """Return the present prompt of a persona; empty when there is none of that name."""
        try:
            return find(await self._personas(call), call.options["name"]).prompt
        except PersonaRefused:
            return ""

    async def list_all(self, call: Invocation) -> CommandReply:
        """Show every persona in a line."""
        personas = await self._personas(call)
        lines = [headline(persona, personas, call.locale) for persona in personas]
        return CommandReply("\n".join(lines), private=True, data={"personas": [as_data(each) for each in personas]})

    async def show(self, call: Invocation) -> CommandReply:
        """Show one persona."""
        personas = await self._personas(call)
        persona = find(personas, call.options["name"])
        return CommandReply(details(persona, personas, call.locale), private=True, data=as_data(persona))

    async def create(self, call: Invocation) -> CommandReply:
        """Make a persona."""
        draft = Draft(call.options["name"], call.options.get("prompt"))
        persona = await self._changes.create(_server(call), draft)
        text = translate(call.locale, "{name} is here, with memories of its own.", name=persona.nickname)
        return await self._reply(call, persona, text, is_named=True)

    async def edit(self, call: Invocation) -> CommandReply:
        """Change a prompt."""
        changed = await self._changes.set_prompt(_server(call), call.options["name"], call.options["prompt"])
        text = translate(call.locale, "{name} has a new prompt.", name=changed.after.nickname)
        return await self._reply(call, changed.after, text)

    async def rename(self, call: Invocation) -> CommandReply:
        """Change a name."""
        changed = await self._changes.rename(_server(call), call.options["name"], call.options["new_name"])
        before, after = changed.before.nickname, changed.after.nickname
        text = translate(call.locale, "{before} is called {after} now.", before=before, after=after)
        return await self._reply(call, changed.after, text, is_named=True)

    async def default(self, call: Invocation) -> CommandReply:
        """Make another persona the default one."""
        changed = await self._changes.make_default(_server(call), call.options["name"])
        text = translate(call.locale, "{name} answers by default now.", name=changed.after.nickname)
        if changed.before.lineage_id != changed.after.lineage_id:
            told = translate(
                call.locale,
                "What {before} remembers stays with {before}; /persona share-lineage lets them share it.",
                before=changed.before.nickname,
            )
            text = f"{text} {told}"
        return await self._reply(call, changed.after, text)

    async def share(self, call: Invocation) -> CommandReply:
        """Let a persona share the memories of another one of this server, or have its own again."""
        name, other = call.options["name"], call.options.get("with")
        if other is None:
            changed = await self._changes.part(_server(call), name)
            text = translate(call.locale, "{name} has memories of its own again.", name=changed.after.nickname)
        else:
            changed = await self._changes.share_with(_server(call), name, other)
            text = translate(
                call.locale,
                "{name} shares the memories of {other} now.",
                name=changed.after.nickname,
                other=find(await self._personas(call), other).nickname,
            )
        return await self._reply(call, changed.after, f"{text}{await self._left(call, changed)}")

    async def avatar(self, call: Invocation) -> CommandReply:
        """Show or change a picture."""
        address = call.options.get("address")
        if address is None:
            persona = find(await self._personas(call), call.options["name"])
        else:
            persona = (await self._changes.set_avatar(_server(call), call.options["name"], address)).after
        if persona.avatar is None:
            return await self._reply(
                call, persona, translate(call.locale, "{name} has no picture.", name=persona.nickname)
            )
        text = translate(call.locale, "The picture of {name}: {avatar}", name=persona.nickname, avatar=persona.avatar)
        return await self._reply(call, persona, text)

    async def triggers(self, call: Invocation) -> CommandReply:
        """Show or change triggers."""
        typed = call.options.get("triggers")
        if typed is None:
            persona = find(await self._personas(call), call.options["name"])
        else:
            given = split_words(typed)
            persona = (await self._changes.set_triggers(_server(call), call.options["name"], given)).after
        if not persona.triggers:
            text = translate(call.locale, "Nothing but its name calls {name}.", name=persona.nickname)
        else:
            words = ", ".join(persona.triggers)
            text = translate(
                call.locale, "{name} is called by its name and by {triggers}.", name=persona.nickname, triggers=words
            )
        return await self._reply(call, persona, text)

    async def affixes(self, call: Invocation) -> CommandReply:
        """Show or change what stands around people's names when the persona says them."""
        typed = call.options.get("affixes")
        if typed is None:
            persona = find(await self._personas(call), call.options["name"])
        else:
            given = split_words(typed)
            persona = (await self._changes.set_affixes(_server(call), call.options["name"], given)).after
        if not persona.affixes:
            text = translate(call.locale, "{name} puts nothing around names.", name=persona.nickname)
        else:
            words = ", ".join(persona.affixes)
            text = translate(
                call.locale,
                "{name} puts around names: {affixes}",
                name=persona.nickname,
                affixes=words,
            )
        return await self._reply(call, persona, text)

    async def reset(self, call: Invocation) -> CommandReply:
        """Make the default persona what the deployment has set."""
        changed = await self._changes.reset(_server(call))
        text = translate(call.locale, "{name} is again as the operator has set it.", name=changed.after.nickname)
        return await self._reply(call, changed.after, text)

    async def delete(self, call: Invocation) -> CommandReply:
        """Delete a persona, and say what stays."""
        persona = await self._changes.delete(_server(call), call.options["name"])
        kept = await kept_in(self._core.hooks, persona)
        sharing = sharers(persona, await self._personas(call))
        text = translate(call.locale, "{name} is gone.", name=persona.nickname)
        if not kept:
            told = translate(call.locale, "It had learned nothing here.")
        elif sharing:
            told = translate(
                call.locale,
                "What it remembers stays with {names} ({counts}).",
                names=", ".join(sharing),
                counts=kept_text(kept, call.locale),
            )
        else:
            told = translate(
                call.locale,
                "What it remembers stays with lineage {lineage} ({counts}). To have it back, make a new persona and "
                "ask the operator to run: isthmus persona share-lineage NAME --lineage {lineage}",
                lineage=persona.lineage_id,
                counts=kept_text(kept, call.locale),
            )
        text = f"{text} {told}"
        return CommandReply(text, private=True, data={**as_data(persona), "kept": kept})

    async def _left(self, call: Invocation, changed: Changed) -> str:
        """Say what stays behind in the lineage that a persona has left."""
        if changed.before.lineage_id == changed.after.lineage_id:
            return ""
        kept = await kept_in(self._core.hooks, changed.before)
        if not kept:
            return ""
        told = translate(
            call.locale,
            "What it has learned until now stays with lineage {lineage} ({counts}).",
            lineage=changed.before.lineage_id,
            counts=kept_text(kept, call.locale),
        )
        return f" {told}"

    async def _reply(self, call: Invocation, persona: Persona, text: str, *, is_named: bool = False) -> CommandReply:
        if is_named and await is_name_of_member(self._core, persona):
            warning = translate(
                call.locale,
                "Somebody here bears that name too: where only the name is written, nobody is taken to be meant.",
            )
            text = f"{text}\n{warning}"
        return CommandReply(text, private=True, data=as_data(persona))

    async def _personas(self, call: Invocation) -> tuple[Persona, ...]:
        return await self._core.personas.for_server(_server(call))


async def is_name_of_member(core: Core, persona: Persona) -> bool:
    """Tell whether somebody of the server bears a persona's name; who must not be named does not count."""
    bearers = await core.people.bearers(persona.server_id, persona.nickname)
    return any(not is_hidden(entry.account) for entry in bearers.entries)


def _server(call: Invocation) -> int:
    return call.place.server.server_id
