"""`isthmus doctor`: what is well, what is not, and what mends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agent.cli.errors import FAILED, OK
from agent.cli.options import ConfigOption, DataOption, JsonOption
from agent.cli.output import print_json, print_line
from agent.printing import printable
from agent.text import one_line

if TYPE_CHECKING:
    from agent.hookspecs import Health

_STYLES: Final = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def doctor(config: ConfigOption = None, data: DataOption = None, as_json: JsonOption = False) -> int:
    """Check settings, secrets, database, model, plugins and bridges; say what mends what is not well.

    Exit code 1 when something fails; warnings alone leave it 0.
    """
    from agent.cli.opened import complete, load, silence_logs

    silence_logs()

    async def look() -> int:
        from agent.doctor import examine

        lines = await examine(lambda: load(config, data))
        _show(lines, as_json=as_json)
        return FAILED if any(line.state == "fail" for line in lines) else OK

    return complete(look())


def _show(lines: list[Health], *, as_json: bool) -> None:
    if as_json:
        print_json([_as_data(line) for line in lines])
        return
    import sys

    if not sys.stdout.isatty():
        for line in lines:
            print_line(f"{line.state:<5}{_text(line)}")
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(markup=False, highlight=False, emoji=False)
    for line in lines:
        console.print(Text.assemble((f"{line.state:<5}", _STYLES[line.state]), _text(line)), soft_wrap=True)


def _as_data(line: Health) -> dict[str, Any]:
    return {"name": line.name, "state": line.state, "text": line.text, "remedy": line.remedy}


def _text(line: Health) -> str:
    text = f"{line.name}: {line.text}"
    return one_line(printable(f"{text} → {line.remedy}" if line.state != "ok" else text))
