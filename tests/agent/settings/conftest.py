from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.settings import LoadedSettings, SettingsError, load_settings
from agent.settings.load import SectionModel


class World:
    """A working directory, a user's config directory and an environment of one test."""

    def __init__(self, root: Path) -> None:
        self.cwd = root / "work"
        self.config_dir = root / "config"
        self.data = root / "data"
        self.environ: dict[str, str] = {}
        for directory in (self.cwd, self.config_dir, self.data):
            directory.mkdir()

    @property
    def file(self) -> Path:
        return self.cwd / "plugins.toml"

    def write(self, text: str | bytes) -> None:
        self.file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def load(
        self,
        text: str | bytes | None = None,
        environ: Mapping[str, str] | None = None,
        *,
        config: Path | None = None,
        section_model: SectionModel | None = None,
    ) -> LoadedSettings:
        if text is not None:
            self.write(text)
        self.environ.update(environ or {})
        return load_settings(
            config, self.environ, self.cwd, self.config_dir, data_dir=self.data, section_model=section_model
        )

    def mistakes(
        self,
        text: str | bytes | None = None,
        environ: Mapping[str, str] | None = None,
        *,
        config: Path | None = None,
        section_model: SectionModel | None = None,
    ) -> list[str]:
        with pytest.raises(SettingsError) as caught:
            self.load(text, environ, config=config, section_model=section_model)
        return str(caught.value).splitlines()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)
