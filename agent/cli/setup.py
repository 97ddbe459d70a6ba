"""`isthmus setup BRIDGE`: a short dialogue that ends with a bridge that can be started."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import Annotated

import typer

from agent.cli.errors import OK, CallRefused, CommandFailed
from agent.cli.options import ConfigOption, DataOption
from agent.cli.output import print_line
from agent.printing import printable


def setup(
    bridge: Annotated[str, typer.Argument(help="The bridge, such as discord.", show_default=False)],
    config: ConfigOption = None,
    data: DataOption = None,
    api_base: Annotated[
        str | None,
        typer.Option(
            "--api-base", metavar="URL", help="Of a server that speaks as the platform does.", show_default=False
        ),
    ] = None,
) -> int:
    """Set a bridge up: asks for its token, says what else is to be done, and writes plugins.toml.

    Comments and everything else in the file stay. The token goes into a file in the data directory that only its owner
    can read; it may also come as a line of standard input.
    """
    from agent.cli.opened import silence_logs
    from agent.extensions.find import BRIDGE, Unloadable, find_class
    from agent.setup import Setup, SetupFailed

    silence_logs()
    file, data_dir = _places(config, data)
    options = {} if api_base is None else {"api_base": api_base.rstrip("/")}
    given = Setup(bridge, file, data_dir, Terminal(), options)

    try:
        module = given.section().get("module")
        found = getattr(find_class(BRIDGE, bridge, module if isinstance(module, str) else None), "setup", None)
        if found is None:
            raise CallRefused(f"bridge {bridge} needs no set-up: enable it with [bridges.{bridge}] in plugins.toml")
        found(given)
    except Unloadable as error:
        raise CallRefused(f"bridge {bridge}: {error}") from None
    except SetupFailed as error:
        raise CommandFailed(str(error)) from None
    except EOFError:
        raise CommandFailed("there is nobody to answer: run it in a terminal, or give the token as a line") from None
    return OK


def _places(config: Path | None, data: Path | None) -> tuple[Path, Path]:
    from agent.settings import default_config_dir
    from agent.settings.file import FILE_NAME, find_file
    from agent.settings.load import default_data_dir

    try:
        cwd = Path.cwd()
        file = find_file(config, cwd, default_config_dir()) or cwd / FILE_NAME
        return file, default_data_dir() if data is None else cwd / data.expanduser()
    except (OSError, RuntimeError) as error:
        raise CallRefused(f"the working directory or home cannot be used: {error}") from None


class Terminal:
    """Asks where the command was started."""

    def say(self, text: str) -> None:
        """Show a line."""
        print_line(printable(text))

    def ask(self, question: str) -> str:
        """Return what is typed; without a terminal the next line of standard input.

        Raises:
            EOFError: there is nobody.
        """
        if sys.stdin is not None and sys.stdin.isatty():
            return input(question)
        return self._line()

    def ask_secret(self, question: str) -> str:
        """Return what is typed, which is not shown; without a terminal the next line of standard input.

        Raises:
            EOFError: there is nobody.
        """
        if sys.stdin is not None and sys.stdin.isatty():
            sys.stdout.flush()
            return getpass.getpass(question)
        return self._line()

    @staticmethod
    def _line() -> str:
        line = "" if sys.stdin is None else sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")
