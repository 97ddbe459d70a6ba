"""`/preset …`: for those who manage the server; anyone may see which one is in use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING

from agent.catalog import N_, translate
from agent.commands import Choice, Command, CommandReply, Invocation, Option, OptionKind, Rights
from agent.files import FileRefused
from plugins.presets.library import FileFaults, PresetRefused
from plugins.presets.reading import MAX_FILE
from plugins.presets.telling import preset_data, preset_line, preset_lines

if TYPE_CHECKING:
    from plugins.presets.library import Presets

type _Run = Callable[[PresetCommands, Invocation], Awaitable[CommandReply]]


def _told(run: _Run) -> _Run:
    """Let a command say what was refused."""

    @wraps(run)
    async def told(self: PresetCommands, call: Invocation) -> CommandReply:
        try:
            return await run(self, call)
        except PresetRefused as refused:
            return _refusal(translate(call.locale, refused.msgid, **refused.values))
        except FileRefused as refused:
            return _refusal(str(refused))
        except FileFaults as faults:
            first = translate(call.locale, "Nothing was imported, because of what is wrong in the file:")
            return _refusal("\n".join([first, *faults.lines]))

    return told


def _refusal(text: str) -> CommandReply:
    return CommandReply(text, private=True, ok=False)


class PresetCommands:
    """The commands."""

    def __init__(self, presets: Presets) -> None:
        self._presets = presets

    def commands(self) -> tuple[Command, ...]:
        """Return the commands."""
        name = Option("name", N_("The preset."), suggest=self.names)
        given = (
            Option("file", N_("A JSON file with a chat-completion preset."), OptionKind.FILE),
            Option("name", N_("What to call it."), required=False),
            Option("replace", N_("Replace the preset of that name."), OptionKind.BOOLEAN, required=False),
        )
        return (
            _command("list", N_("Show the presets of this server."), self.list_presets, rights=Rights.EVERYONE),
            _command("show", N_("Show the order of a preset."), self.show, (name,)),
            _command("import", N_("Take over a preset of SillyTavern."), self.import_file, given),
            _command("use", N_("Order every prompt as a preset says."), self.use, (name,)),
            _command("off", N_("Use no preset."), self.off),
            _command("remove", N_("Remove a preset."), self.remove, (name,)),
        )

    async def names(self, call: Invocation, typed: str) -> Sequence[Choice]:
        """Offer the presets whose names hold what was typed."""
        names = [preset.name for preset in await self._presets.all(call.place.server.server_id)]
        return [Choice(name, name) for name in names if typed.strip().casefold() in name.casefold()]

    @_told
    async def list_presets(self, call: Invocation) -> CommandReply:
        """Show the presets, and which one is in use."""
        presets = await self._presets.all(call.place.server.server_id)
        lines = [preset_line(preset, call.locale) for preset in presets]
        if not lines:
            lines = [translate(call.locale, "There are no presets here.")]
        data = {"presets": [{"name": preset.name, "in_use": preset.in_use} for preset in presets]}
        return CommandReply("\n".join(lines), private=True, data=data)

    @_told
    async def show(self, call: Invocation) -> CommandReply:
        """Show the order of a preset."""
        preset = await self._presets.get(call.place.server.server_id, str(call.options["name"]))
        return CommandReply("\n".join(preset_lines(preset, call.locale)), private=True, data=preset_data(preset))

    @_told
    async def import_file(self, call: Invocation) -> CommandReply:
        """Take over the preset of a file."""
        file = call.options["file"]
        imported = await self._presets.import_file(
            call.place.server.server_id,
            await file.read(MAX_FILE),
            file.name,
            name=str(call.options.get("name") or ""),
            replacing=bool(call.options.get("replace")),
        )
        preset = imported.preset
        first = translate(call.locale, "Imported “{name}”. /preset use lets it order every prompt.", name=preset.name)
        if preset.in_use:
            first = translate(call.locale, "Replaced “{name}”, which is in use.", name=preset.name)
        data = {**preset_data(preset), "replaced": imported.replaced, "notes": list(imported.notes)}
        return CommandReply("\n".join([first, *imported.notes]), private=True, data=data)

    @_told
    async def use(self, call: Invocation) -> CommandReply:
        """Let a preset order every prompt."""
        preset = await self._presets.use(call.place.server.server_id, str(call.options["name"]))
        text = translate(call.locale, "From now on “{name}” orders every prompt here.", name=preset.name)
        return CommandReply(text, private=True, data=preset_data(preset))

    @_told
    async def off(self, call: Invocation) -> CommandReply:
        """Use no preset."""
        name = await self._presets.use_none(call.place.server.server_id)
        if name is None:
            return CommandReply(translate(call.locale, "No preset is in use."), private=True)
        return CommandReply(translate(call.locale, "“{name}” is not in use any more.", name=name), private=True)

    @_told
    async def remove(self, call: Invocation) -> CommandReply:
        """Remove a preset."""
        preset = await self._presets.remove(call.place.server.server_id, str(call.options["name"]))
        text = translate(call.locale, "Removed the preset “{name}”.", name=preset.name)
        return CommandReply(text, private=True, data=preset_data(preset))


def _command(
    name: str,
    description: str,
    run: Callable[[Invocation], Awaitable[CommandReply]],
    options: tuple[Option, ...] = (),
    rights: Rights = Rights.MANAGE,
) -> Command:
    return Command(("preset", name), description, run, options, rights, private=True, owner="presets")
