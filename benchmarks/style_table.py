"""How the source reads, in figures: `python -m benchmarks.style_table` prints them as JSON.

Counted over the packages that are shipped, without empty files. A function's lines go from its `def` to its last line,
docstring included; a function is annotated when each parameter (but self and cls) and its result has a type.
"""

import ast
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
PACKAGES = ("agent", "plugins", "bridges", "migrations")
LONG_FUNCTION = 80

type Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class StyleTable:
    """Lines are counts; shares are percentages from 0 to 100."""

    modules: int
    module_lines_median: float
    module_lines_p90: int
    module_lines_max: int
    functions: int
    function_lines_median: float
    function_lines_p95: int
    functions_over_80_lines: float
    functions_annotated: float
    public_functions_with_docstring: float
    swallowed_exceptions: int


def measure(files: Iterable[Path]) -> StyleTable:
    """Raise SyntaxError when a file is no Python, ValueError when the files hold no function."""
    sources = [text for file in files if (text := file.read_text("utf-8")).strip()]
    trees = [ast.parse(text) for text in sources]
    functions = [node for tree in trees for node in _functions(tree)]
    if not functions:
        message = "the files to measure hold no function"
        raise ValueError(message)
    modules = [text.count("\n") for text in sources]
    lengths = [(node.end_lineno or node.lineno) - node.lineno + 1 for node in functions]
    public = [node for node in functions if not node.name.startswith("_")]
    return StyleTable(
        modules=len(modules),
        module_lines_median=median(modules),
        module_lines_p90=_percentile(modules, 90),
        module_lines_max=max(modules),
        functions=len(functions),
        function_lines_median=median(lengths),
        function_lines_p95=_percentile(lengths, 95),
        functions_over_80_lines=_share(length > LONG_FUNCTION for length in lengths),
        functions_annotated=_share(_annotated(node) for node in functions),
        public_functions_with_docstring=_share(ast.get_docstring(node) is not None for node in public),
        swallowed_exceptions=sum(_swallows(node) for tree in trees for node in ast.walk(tree)),
    )


def source_files(root: Path = ROOT) -> list[Path]:
    """The Python files of the shipped packages, in order of their paths."""
    return sorted(file for package in PACKAGES for file in (root / package).rglob("*.py"))


def _functions(tree: ast.Module) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _annotated(function: Function) -> bool:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    if positional and positional[0].arg in {"self", "cls"}:
        positional = positional[1:]
    extra = [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    typed = all(argument.annotation for argument in [*positional, *arguments.kwonlyargs, *extra])
    return typed and function.returns is not None


def _swallows(node: ast.AST) -> bool:
    """Whether this handler catches every Exception and does nothing."""
    if not isinstance(node, ast.ExceptHandler):
        return False
    caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    broad = any(kind is None or ast.unparse(kind) in {"Exception", "BaseException"} for kind in caught)
    idle = all(isinstance(step, ast.Pass | ast.Continue) or _is_constant(step) for step in node.body)
    return broad and idle


def _is_constant(step: ast.stmt) -> bool:
    return isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant)


def _percentile(values: list[int], percent: int) -> int:
    return sorted(values)[ceil(len(values) * percent / 100) - 1]


def _share(flags: Iterable[bool]) -> float:
    known = list(flags)
    return round(100 * sum(known) / len(known), 1) if known else 100.0


if __name__ == "__main__":
    print(json.dumps(asdict(measure(source_files())), indent=2))
