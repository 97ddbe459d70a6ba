from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def calls(function: str) -> Iterator[tuple[str, ast.Call]]:
    """Every `metrics.<function>(…)` of the product, with its file."""
    for package in ("agent", "plugins", "bridges"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == f"metrics.{function}":
                    yield str(path.relative_to(ROOT)), node


def name_of(call: ast.Call) -> str:
    name = call.args[0]
    assert isinstance(name, ast.Constant), ast.unparse(call)
    return str(name.value)


def test_each_metric_is_declared_once_and_emitted_with_its_labels() -> None:
    declared: dict[str, set[str]] = {}
    for file, call in calls("declare"):
        assert name_of(call) not in declared, f"{file} declares {name_of(call)} a second time"
        declared[name_of(call)] = set(ast.literal_eval(call.args[2]))
    wrong = []
    for file, call in calls("emit"):
        labels = {keyword.arg for keyword in call.keywords} - {"value"}
        known = declared.get(name_of(call))
        if None in labels:
            continue  # **labels: only the run can tell
        if known is None:
            wrong.append(f"{file} emits {name_of(call)}, which nothing declares")
        elif labels != known:
            wrong.append(f"{file} emits {name_of(call)} with {sorted(map(str, labels))}, declared are {sorted(known)}")
    assert wrong == []


def test_each_declared_metric_is_emitted() -> None:
    emitted = {name_of(call) for _file, call in calls("emit")}
    assert [name_of(call) for _file, call in calls("declare") if name_of(call) not in emitted] == []
