from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agent.app
import agent.models.make  # noqa: F401  # what is imported in a test would hold up its loop
from agent.settings import LoadedSettings, load_settings
from tests.default_plugins import without_defaults

type Read = Callable[..., LoadedSettings]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read settings from a text; without a plugin unless the text names one."""

    def read(text: str = "", environ: dict[str, str] | None = None, **options: Any) -> LoadedSettings:
        (tmp_path / "plugins.toml").write_text(without_defaults(text))
        options.setdefault("data_dir", tmp_path / "data")
        return load_settings(None, environ or {}, tmp_path, tmp_path, **options)

    return read
