"""Builds the command line, runs one command, and turns whatever goes wrong into one or two lines and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from agent.cli import (
    backup,
    chat,
    doctor,
    migrate,
    people,
    persona,
    plugins,
    prompt,
    resolve,
    restore,
    run,
    secrets,
    setup,
    tools,
)
from agent.cli.errors import FAILED, INTERRUPTED, OK, WRONG_CALL, CallRefused, CommandFailed
from agent.cli.output import print_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAME: Final = "isthmus"
BUILT_IN: Final = frozenset(
    {
        "backup",
        "chat",
        "doctor",
        "migrate",
        "people",
        "persona",
        "plugins",
        "prompt",
        "resolve",
        "restore",
        "run",
        "secrets",
        "setup",
        "tools",
    }
)
_HELP: Final = """One chat agent for Discord and Matrix that remembers people correctly.

Begin with `isthmus chat`; `isthmus doctor` says what is well and what is not."""


def run_command(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code: 0 ok, 1 the thing failed, 2 the call was wrong."""
    _prepare_streams()
    try:
        code = _dispatch(list(arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()  # whoever read our output has gone, as `| head` does
        return FAILED
    except Exception as error:  # noqa: BLE001 - the last handler: nobody shall see a traceback
        return _report(error, arguments)
    return code


def build_app() -> typer.Typer:
    """Return the command line with the commands of the core."""
    app = typer.Typer(name=NAME, help=_HELP, add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)

    @app.callback()
    def root(
        version: bool = typer.Option(
            False, "--version", help="Show the version and leave.", is_eager=True, callback=_show_version
        ),
    ) -> None:
        pass

    add_command(app, "chat", chat.chat)
    add_command(app, "run", run.run)
    add_command(app, "setup", setup.setup)
    add_command(app, "doctor", doctor.doctor)
    add_command(app, "migrate", migrate.migrate)
    app.add_typer(people.app, name="people")
    app.add_typer(persona.app, name="persona")
    app.add_typer(plugins.app, name="plugins")
    app.add_typer(secrets.app, name="secrets")
    app.add_typer(tools.app, name="tools")
    add_command(app, "prompt", prompt.prompt)
    add_command(app, "resolve", resolve.resolve)
    add_command(app, "backup", backup.backup)
    add_command(app, "restore", restore.restore)
    return app


def add_command(app: typer.Typer, name: str, function: Callable[..., int]) -> None:
    """Add a command whose docstring is its help; the paragraphs are wrapped for the terminal, not as in the source."""
    paragraphs = (function.__doc__ or "").split("\n\n")
    app.command(name, help="\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs))(function)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        sys.stdout.write(f"{NAME} {version(NAME)}\n")
        raise typer.Exit


def _dispatch(arguments: list[str]) -> int:
    app = build_app()
    first = arguments[0] if arguments else "--help"
    if first == "--help" or (not first.startswith("-") and first not in BUILT_IN):
        from agent.cli.extension import add_plugin_commands

        add_plugin_commands(app, arguments, required=first != "--help")
    try:
        command = typer.main.get_command(app)
        code: Any = command.main(args=arguments, prog_name=NAME, standalone_mode=False)
    except typer.TyperException as error:
        _explain_call(error)
        return WRONG_CALL if error.exit_code == WRONG_CALL else FAILED
    except typer.Abort:
        return INTERRUPTED
    return code if isinstance(code, int) else OK


def _explain_call(error: typer.TyperException) -> None:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else NAME
    text = " ".join(error.format_message().split())
    if not text:
        return  # a group was called without a command, and its help has been shown
    if "--config" in text or "--data" in text:
        text += " (it stands after the command's name)"
    print_error(text)
    sys.stderr.write(f"Try `{path} --help`.\n")


def _report(error: Exception, arguments: Sequence[str]) -> int:
    if isinstance(error, CallRefused):
        print_error(str(error))
        return WRONG_CALL
    if isinstance(error, CommandFailed):
        print_error(str(error))
        return FAILED
    from agent.cli.failures import keep_detail, lines_and_code

    known = lines_and_code(error)
    if known is not None:
        lines, code = known
        for line in lines:
            print_error(line)
        return code
    print_error(keep_detail(error, arguments))
    return FAILED


def _prepare_streams() -> None:
    """Let both streams carry every character, whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def _forget_stdout() -> None:
    """Point standard output at nothing, so that flushing it at exit does not fail again."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(Path(os.devnull), os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
