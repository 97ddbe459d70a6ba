"""`isthmus relay`: the registration for the homeserver, and which rooms and channels are joined."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.errors import OK, CallRefused, CommandFailed
from agent.cli.options import ConfigOption, DataOption, JsonOption
from agent.cli.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from agent.settings import LoadedSettings
    from agent.store.pool import Store
    from bridges.relay.repository import Link, Rows
    from bridges.relay.settings import RelaySettings

app = typer.Typer(help="Rooms of Matrix and channels of Discord as one conversation.", no_args_is_help=True)

RoomArgument = Annotated[str, typer.Argument(metavar="ROOM", help="The room's id, as in !abc.", show_default=False)]
ChannelArgument = Annotated[
    str, typer.Argument(metavar="CHANNEL", help="The channel's id, as in discord:123.", show_default=False)
]


@app.command("registration")
def registration(
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Where it is written; default: the data directory.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="With new tokens: the old ones count no longer.")] = False,
    config: ConfigOption = None,
    data: DataOption = None,
) -> int:
    """Write the registration file that the homeserver must be given (app_service_config_files), and its tokens.

    Run again, it writes the same tokens, so that the homeserver need not be told anew.
    """
    from agent.cli.opened import complete, load, silence_logs

    silence_logs()
    loaded = load(config, data)
    return complete(_registration(loaded, output or loaded.data_dir / "relay-registration.yaml", fresh=fresh))


@app.command("link")
def link(
    room: RoomArgument,
    channel: ChannelArgument,
    config: ConfigOption = None,
    data: DataOption = None,
) -> int:
    """Join a room and a channel; the running agent does it within seconds, and says so on both sides.

    The agent's user must be invited to a room that is not public.
    """
    from agent.cli.opened import complete, load, silence_logs

    silence_logs()
    return complete(_link(load(config, data), room, channel))


@app.command("unlink")
def unlink(
    what: Annotated[str, typer.Argument(metavar="ROOM|CHANNEL", help="Either of the two.", show_default=False)],
    config: ConfigOption = None,
    data: DataOption = None,
) -> int:
    """Let a room and a channel go their own ways again."""
    from agent.cli.opened import complete, load, silence_logs

    silence_logs()
    return complete(_unlink(load(config, data), what))


@app.command("list")
def list_links(config: ConfigOption = None, data: DataOption = None, as_json: JsonOption = False) -> int:
    """Show which rooms and channels are joined, and what the others wait for."""
    from agent.cli.opened import complete, load, silence_logs

    silence_logs()
    return complete(_list(load(config, data), as_json=as_json))


def _settings(loaded: LoadedSettings) -> RelaySettings:
    from bridges.relay.settings import RelaySettings

    section = loaded.settings.bridges.get("relay")
    if section is None:
        raise CallRefused("there is no [bridges.relay] in plugins.toml: it needs homeserver and server_name")
    checked: RelaySettings = loaded.validate_section(section, RelaySettings, "bridges.relay")
    return checked


def _rows(store: Store) -> Rows:
    from agent.clock import SystemClock
    from bridges.relay.repository import Rows

    return Rows(store, SystemClock())


async def _registration(loaded: LoadedSettings, file: Path, *, fresh: bool) -> int:
    from agent.cli.opened import opened_store
    from agent.clock import SystemClock
    from agent.secrets import open_box
    from agent.store.bridge_state import BridgeState
    from agent.store.migrate import migrate
    from agent.store.migration_sets import CORE
    from bridges.relay.names import Names
    from bridges.relay.registration import Tokens, keep_tokens, kept_tokens
    from bridges.relay.registration import registration as written

    settings = _settings(loaded)
    names = Names(settings.prefix, settings.localpart, settings.server_name)
    async with opened_store(loaded) as store:
        await migrate(store.dsn, [CORE])
        state = BridgeState(
            store, SystemClock(), "relay", lambda: open_box(loaded.data_dir, loaded.settings.agent.secret_key)
        )
        tokens = None if fresh else await kept_tokens(state)
        if tokens is None:
            tokens = Tokens.fresh()
            await keep_tokens(state, tokens)
    _write(file, written(settings, names, tokens))
    print_line(f"written: {file} (only its owner can read it: it holds secrets)")
    print_line("Give it to the homeserver, as in app_service_config_files of Synapse, and restart that.")
    print_line(f"Then invite {names.agent} to a room, and join it with a channel: isthmus relay link ROOM CHANNEL")
    return OK


def _write(file: Path, text: str) -> None:
    """Write a file that only its owner can read, from its first moment on."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise CommandFailed(f"{file} cannot be written: {error.strerror}") from None


async def _link(loaded: LoadedSettings, room: str, channel: str) -> int:
    from agent.cli.opened import opened_store
    from bridges.relay.commands import ROOM
    from bridges.relay.repository import DISCORD

    _settings(loaded)
    if not ROOM.fullmatch(room):
        raise CallRefused(f"{room!r} is no room's id: it begins with “!” and stands in the room's settings")
    channel_id = channel.removeprefix(f"{DISCORD}:")
    if not channel_id.isdecimal():
        raise CallRefused(f"{channel!r} is no channel's id of Discord: it is a number, as in discord:123")
    async with opened_store(loaded) as store:
        if not await _rows(store).ask(room, DISCORD, "", channel_id, is_agreed=True):
            raise CommandFailed("the room or the channel is joined with another one already: isthmus relay list")
    print_line("asked for: the running agent joins them within seconds; isthmus relay list tells")
    return OK


async def _unlink(loaded: LoadedSettings, what: str) -> int:
    from agent.cli.opened import opened_store

    _settings(loaded)
    async with opened_store(loaded) as store:
        rows = _rows(store)
        wanted = what.removeprefix("discord:")
        found = next((each for each in await rows.links() if wanted in {each.room_id, each.channel}), None)
        if found is None:
            raise CommandFailed(f"{what} is joined with nothing: isthmus relay list")
        await rows.end_link(found, "asked")
    print_line("asked for: the running agent parts them within seconds")
    return OK


async def _list(loaded: LoadedSettings, *, as_json: bool) -> int:
    from agent.cli.opened import opened_store

    async with opened_store(loaded) as store:
        links = await _rows(store).links()
    if as_json:
        print_json({"links": [_data(each) for each in links]})
    elif links:
        rows = [(each.room_id, f"{each.platform}:{each.channel}", _told(each)) for each in links]
        print_table(("room", "channel", "state"), rows)
    else:
        print_line("nothing is joined")
    return OK


def _told(each: Link) -> str:
    from bridges.relay.linking import REASONS

    return f"{each.state}: {REASONS.get(each.reason, each.reason)}" if each.reason else each.state


def _data(each: Link) -> dict[str, Any]:
    return {
        "room": each.room_id,
        "channel": f"{each.platform}:{each.channel}",
        "state": each.state,
        "reason": each.reason,
    }
