from pathlib import Path

import pytest

from benchmarks.style_table import measure, source_files

SAMPLE = '''
def typed(a: int, *rest: str, key: bool = False, **more: object) -> None:
    """Say so."""


class Thing:
    async def method(self, a: int) -> None:
        try:
            pass
        except (ValueError, Exception):
            """Nothing."""

    def _bare(self, a, *, b: int) -> None:
        try:
            pass
        except ValueError:
            pass
        except:
            raise
'''


def test_the_figures_of_a_known_source(tmp_path: Path) -> None:
    (tmp_path / "sample.py").write_text(SAMPLE)
    (tmp_path / "long.py").write_text("def long() -> None:\n" + "    print()\n" * 80)
    (tmp_path / "empty.py").touch()
    table = measure(tmp_path.glob("*.py"))
    assert (table.modules, table.module_lines_max, table.module_lines_median) == (2, 81, 50)
    assert (table.functions, table.function_lines_p95, table.functions_over_80_lines) == (4, 81, 25.0)
    assert table.functions_annotated == 75.0
    assert table.public_functions_with_docstring == 33.3
    assert table.swallowed_exceptions == 1


def test_nothing_to_measure_is_an_error() -> None:
    with pytest.raises(ValueError, match="no function"):
        measure([])


def test_the_source_reads_as_well_as_the_clearest_of_its_kind() -> None:
    """The band is that of starlette, structlog, pluggy, procrastinate and mautrix."""
    table = measure(source_files())
    assert table.module_lines_median <= 250
    assert table.module_lines_p90 <= 300
    assert table.module_lines_max <= 400
    assert table.function_lines_p95 <= 47
    assert table.functions_over_80_lines <= 1
    assert table.functions_annotated == 100
    assert table.swallowed_exceptions == 0
