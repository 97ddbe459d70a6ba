"""Settings that have been read, with what is known about where they came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel

from agent.settings.errors import KeyPath, Origin, Problem, dotted
from agent.settings.model import ExtensionSettings, Settings
from agent.settings.origins import Origins
from agent.settings.secrets import Secret, find_secrets
from agent.settings.validate import validate_section


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, and what is known about where they came from."""

    settings: Settings
    source: Path | None
    """The file that was read; None for the built-in defaults."""
    data_dir: Path
    origins: Origins = field(default_factory=Origins)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)

    def validate_section[M: BaseModel](self, section: ExtensionSettings, model: type[M], where: str | KeyPath) -> M:
        """An extension's own settings; mistakes name the file's line or the variable. `where`: `plugins.memory`."""
        return validate_section(section.options, model, where, self.origins, self._context())

    def secrets(self) -> tuple[tuple[str, Secret], ...]:
        """Every secret in use with its dotted key: the core's, and those of extensions that are enabled."""
        return tuple((dotted(path), secret) for path, secret in self._secrets())

    def problems(self) -> tuple[Problem, ...]:
        """Secrets that cannot be read now."""
        return tuple(
            Problem(self.origins.of(path), dotted(path), reason)
            for path, secret in self._secrets()
            if (reason := secret.problem())
        )

    def warnings(self) -> tuple[Problem, ...]:
        """What works but should be mended: secrets written down in the file, or readable by others."""
        found: list[Problem] = []
        for path, secret in self._secrets():
            origin = self.origins.of(path)
            given_by_variable = secret.kind == "literal" and origin.variable
            if path != ("database", "url") and not given_by_variable and (reason := secret.warning()):
                found.append(Problem(origin, dotted(path), reason))
        if self.source is not None and not self.origins.lines:
            found.append(Problem(Origin(str(self.source)), "", "says nothing: the built-in defaults hold"))
        return tuple(found)

    def _context(self) -> dict[str, object]:
        return {"environ": self.environ, "base": self.source.absolute().parent if self.source else None}

    def _secrets(self) -> Iterator[tuple[KeyPath, Secret]]:
        base = self.source.absolute().parent if self.source else None
        for name in ("agent", "database", "logging", "metrics"):
            for path, secret in find_secrets(getattr(self.settings, name), (name,)):
                if path != ("database", "url") or secret.kind != "literal":
                    yield path, secret
        for kind, sections in (("plugins", self.settings.plugins), ("bridges", self.settings.bridges)):
            for name, section in sections.items():
                if section.enabled:
                    yield from find_secrets(section.options, (kind, name), environ=self.environ, base=base)
