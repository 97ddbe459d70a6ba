"""docs/hooks.md says what agent/hookspecs.py says: each hook, its arguments, its mode and its deadline."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent.extensions.check import check_plugin, hook_arguments
from agent.hookspecs import HOOKS, hookimpl

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "hooks.md").read_text("utf-8")
SECTION = re.compile(r"^### `(?P<heading>[^`]*)`\n\n(?P<body>.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
FACTS = re.compile(r"\AMode: `(?P<mode>\w+)` · deadline: (?P<deadline>[\d.]+) s\n")
ARGUMENT = re.compile(r"^- `(\w+)`: .{6,}", re.MULTILINE)
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Section:
    heading: str
    body: str

    @property
    def hook(self) -> str:
        return self.heading.partition("(")[0].split()[-1]


SECTIONS = [Section(match["heading"], match["body"]) for match in SECTION.finditer(PAGE)]


def declarations() -> dict[str, str]:
    """The declaration of each hook, as it is written."""
    found = {}
    for node in ast.parse((ROOT / "agent" / "hookspecs.py").read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in HOOKS:
            word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
            result = ast.unparse(node.returns) if node.returns else "None"
            found[node.name] = f"{word} {node.name}({ast.unparse(node.args)}) -> {result}"
    return found


def problems(sections: list[Section]) -> list[str]:
    found = []
    declared = declarations()
    described = [section.hook for section in sections]
    found += [f"{hook} has {described.count(hook)} sections" for hook in HOOKS if described.count(hook) != 1]
    found += [f"there is no hook {hook}" for hook in described if hook not in HOOKS]
    for section in sections:
        hook = HOOKS.get(section.hook)
        if hook is None:
            continue
        if section.heading != declared[section.hook]:
            found.append(f"{section.heading} is declared {declared[section.hook]}")
        facts = FACTS.match(section.body)
        if facts is None or (facts["mode"], float(facts["deadline"])) != (hook.mode.value, hook.deadline):
            found.append(f"{section.hook} is {hook.mode.value} with {hook.deadline:g} s")
        if ARGUMENT.findall(section.body) != list(hook_arguments(section.hook)):
            found.append(f"{section.hook} takes {hook_arguments(section.hook)}")
    return found


def test_every_hook_is_described_as_it_is_declared() -> None:
    assert declarations().keys() == HOOKS.keys()
    assert problems(SECTIONS) == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "### `async def recall(turn: Turn, query: RecallQuery)",
            "### `async def recall(turn: Turn)",
            "recall(turn: Turn) ->",
        ),
        ("### `async def stop() -> None`", "### `async def stopp() -> None`", "stop has 0 sections"),
        ("### `async def stop() -> None`", "### `async def start() -> None`", "start has 2 sections"),
        (
            "Mode: `guard` · deadline: 0.25 s",
            "Mode: `guard` · deadline: 2 s",
            "recheck_memory_write is guard",
        ),
        ("Mode: `first` · deadline: 10 s", "Mode: `guard` · deadline: 10 s", "write_memory is first with 10 s"),
        ("- `query`: ", "- `text`: ", "recall takes ('turn', 'query')"),
        ("- `recalled`: ", "`recalled`: ", "turn_finished takes ('turn', 'recalled')"),
    ],
)
def test_a_difference_is_found(old: str, new: str, says: str) -> None:
    assert PAGE.count(old) == 1
    changed = [Section(match["heading"], match["body"]) for match in SECTION.finditer(PAGE.replace(old, new))]
    assert any(says in problem for problem in problems(changed))


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.hook)
def test_each_hook_has_an_example_that_implements_it(section: Section) -> None:
    (example,) = EXAMPLE.findall(section.body)
    written: dict[str, Any] = {"hookimpl": hookimpl}
    exec(f"from __future__ import annotations\n{example}", written)  # noqa: S102 - the page's own example
    plugin = type("Plugin", (), {"name": "example", section.hook: written[section.hook]})()
    checked = check_plugin(plugin)
    assert (checked.problems, list(checked.hooks)) == ([], [section.hook])
