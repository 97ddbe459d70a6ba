"""`isthmus documents`: the same as the commands of chats, for the operator, who sees everything of a server."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from agent.cli.errors import OK, CallRefused, CommandFailed
from agent.cli.options import ConfigOption, DataOption, JsonOption, ServerOption

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from agent.app import Agent
    from agent.contracts.people import Persona
    from agent.places import Place
    from agent.settings import LoadedSettings
    from plugins.documents.document import Chunk, Document, Viewer
    from plugins.documents.library import Library
    from plugins.documents.settings import DocumentsSettings

EMBEDDING_SECONDS: Final = 120.0
"""How long a command waits for what it has added to be embedded; the rest is done by the agent."""

IdArgument = Annotated[int, typer.Argument(metavar="ID", help="The number of a document, or of a part of one.")]
ChannelsOption = Annotated[
    list[str] | None,
    typer.Option("--channel", metavar="CHANNEL", help="Known there and in its threads only; may be given again."),
]
PersonaOption = Annotated[
    str | None, typer.Option("--persona", metavar="NAME", help="The only persona that knows it.", show_default="all")
]
TitleOption = Annotated[
    str | None, typer.Option("--title", metavar="TITLE", help="What it is called.", show_default="the file's name")
]


@dataclass(frozen=True, slots=True)
class Desk:
    """A started agent, the library, and the server that is meant."""

    agent: Agent
    library: Library
    place: Place
    channels: tuple[str, ...]
    """Platform ids of the channels that were named."""
    personas: tuple[Persona, ...]
    viewer: Viewer

    async def document(self, some_id: int) -> tuple[Document, Chunk | None]:
        """Return the document that is meant, and the part if a part is.

        Raises:
            CallRefused: there is none.
        """
        document = await self.library.repository.document(self.viewer, some_id)
        if document is None:
            server = self.place.server.ref
            raise CallRefused(f"{server.platform}:{server.external_id} has no document or part {some_id}")
        if document.document_id == some_id:
            return document, None
        return document, await self.library.repository.chunk(some_id)

    def lineage(self, name: str) -> int:
        """Return the lineage of a persona.

        Raises:
            CallRefused: the server has none of that name.
        """
        from plugins.documents.listing import persona_named

        persona = persona_named(name, self.personas)
        if persona is None:
            names = ", ".join(each.nickname for each in self.personas)
            raise CallRefused(f"--persona {name}: there is none of that name here; there are: {names}")
        return persona.lineage_id


@dataclass(frozen=True, slots=True)
class Options:
    """What every command takes."""

    settings: DocumentsSettings
    config: Path | None
    data: Path | None
    server: str | None
    as_json: bool
    channels: tuple[str, ...] = ()


class DocumentsCommandLine:
    """The commands; what they do is in `cli_work`."""

    def __init__(self, settings: DocumentsSettings) -> None:
        self._settings = settings

    def app(self) -> typer.Typer:
        """Return `isthmus documents`."""
        app = typer.Typer(help="Documents that the agent looks things up in.", no_args_is_help=True)
        for command in (self.add, self.list, self.show, self.search, self.edit, self.remove):
            app.command(command.__name__)(command)
        return app

    def add(
        self,
        file: Annotated[Path, typer.Argument(metavar="FILE", help="A text, Markdown or PDF file.")],
        server: ServerOption = None,
        channel: ChannelsOption = None,
        persona: PersonaOption = None,
        title: TitleOption = None,
        config: ConfigOption = None,
        data: DataOption = None,
        as_json: JsonOption = False,
    ) -> int:
        """Give a server a document."""
        from plugins.documents import cli_work

        options = Options(self._settings, config, data, server, as_json, tuple(channel or ()))
        return _run(options, lambda desk: cli_work.add(desk, file.expanduser(), title, persona))

    def list(
        self,
        server: ServerOption = None,
        config: ConfigOption = None,
        data: DataOption = None,
        as_json: JsonOption = False,
    ) -> int:
        """Show the documents of a server."""
        from plugins.documents import cli_work

        return _run(Options(self._settings, config, data, server, as_json), cli_work.show_all)

    def show(
        self,
        some_id: IdArgument,
        server: ServerOption = None,
        config: ConfigOption = None,
        data: DataOption = None,
        as_json: JsonOption = False,
    ) -> int:
        """Show a document with all its parts, or one part."""
        from plugins.documents import cli_work

        return _run(Options(self._settings, config, data, server, as_json), lambda desk: cli_work.show(desk, some_id))

    def search(
        self,
        text: Annotated[str, typer.Argument(metavar="TEXT", help="What to look for.")],
        most: Annotated[int, typer.Option("--most", min=1, max=48, help="How many parts to show.")] = 6,
        server: ServerOption = None,
        config: ConfigOption = None,
        data: DataOption = None,
        as_json: JsonOption = False,
    ) -> int:
        """Look something up, with the scores by words and by meaning."""
        from plugins.documents import cli_work

        return _run(
            Options(self._settings, config, data, server, as_json), lambda desk: cli_work.find(desk, text, most)
        )

    def edit(
        self,
        some_id: IdArgument,
        text: Annotated[str | None, typer.Option("--text", help="The new text of a part.")] = None,
        title: TitleOption = None,
        channel: ChannelsOption = None,
        everywhere: Annotated[bool, typer.Option("--everywhere", help="Known in every channel.")] = False,
        persona: PersonaOption = None,
        every_persona: Annotated[bool, typer.Option("--every-persona", help="Known to every persona.")] = False,
        audience: Annotated[
            str | None, typer.Option("--audience", metavar="server|channel", help="Who may ever read it.")
        ] = None,
        server: ServerOption = None,
        config: ConfigOption = None,
        data: DataOption = None,
        as_json: JsonOption = False,
    ) -> int:
        """Give a part another text, or a document another title or scope."""
        from plugins.documents import cli_work

        if everywhere and channel:
            raise CallRefused("--everywhere and --channel exclude each other")
        if every_persona and persona:
            raise CallRefused("--every-persona and --persona exclude each other")
        if audience not in {None, "server", "channel"}:
            raise CallRefused(f"--audience {audience}: expected server or channel")
        changes: dict[str, Any] = {"text": text, "title": title, "persona": persona, "audience": audience}
        changes |= {"everywhere": everywhere, "every_persona": every_persona}
        options = Options(self._settings, config, data, server, as_json, tuple(channel or ()))
        return _run(options, lambda desk: cli_work.edit(desk, some_id, changes))

    def remove(
        self,
        some_id: IdArgument,
        sure: Annotated[bool, typer.Option("--yes", "-y", help="Remove a whole document without asking.")] = False,
        server: ServerOption = None,
        config: ConfigOption = None,
        data: DataOption = None,
        as_json: JsonOption = False,
    ) -> int:
        """Remove a part, or a document with all its parts."""
        from plugins.documents import cli_work

        return _run(
            Options(self._settings, config, data, server, as_json),
            lambda desk: cli_work.remove(desk, some_id, sure=sure),
        )


def _run(options: Options, work: Callable[[Desk], Awaitable[Any]]) -> int:
    """Open everything, do the work, and print what it answers: JSON, or lines."""
    from agent.cli.opened import complete, load
    from agent.cli.output import print_json, print_line
    from agent.printing import printable
    from plugins.documents.refusals import Refused

    async def run() -> int:
        try:
            async with opened_desk(loaded, options) as desk:
                lines, data = await work(desk)
        except Refused as refused:
            raise CommandFailed(str(refused)) from None
        if options.as_json:
            print_json(data)
        else:
            for line in lines:
                print_line(printable(line))
        return OK

    loaded = load(options.config, options.data)
    return complete(run())


@asynccontextmanager
async def opened_desk(loaded: LoadedSettings, options: Options) -> AsyncGenerator[Desk]:
    """Start an agent without bridges, and find the server and channels that are meant."""
    from agent.cli.opened import opened_agent
    from agent.cli.where import Asked, find_place
    from plugins.documents.library import Library
    from plugins.documents.viewing import operator

    async with opened_agent(loaded) as agent:
        core = agent.core
        names = options.channels or (None,)
        spots = [await find_place(core.store, Asked(options.server, name, None)) for name in names]
        entrances = [
            await core.people.enter(spot.server, spot.channel, spot.author, core.clock.now()) for spot in spots
        ]
        place = entrances[0].place
        channels = tuple(spot.channel.external_id for spot in spots) if options.channels else ()
        yield Desk(
            agent,
            Library(core, options.settings),
            place,
            channels,
            await core.personas.for_server(place.server.server_id),
            operator(place.server.server_id, place.platform),
        )
