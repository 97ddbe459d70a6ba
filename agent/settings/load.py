"""Finds plugins.toml, reads it and the environment, and gives frozen settings or every mistake at once."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ValidationError

from agent.settings.environment import lay_variables
from agent.settings.errors import Problem, SettingsError, in_order
from agent.settings.file import Table, find_file, merge, parse, read_text, shown_path
from agent.settings.lines import key_lines
from agent.settings.loaded import LoadedSettings
from agent.settings.model import ExtensionSettings, Settings
from agent.settings.origins import Origins
from agent.settings.validate import validate_section

type SectionModel = Callable[[str, str, ExtensionSettings], type[BaseModel] | None]
"""(`"plugins"` or `"bridges"`, name, section) → the extension's own settings model, or None where it has none."""


def default_config_dir() -> Path:
    """Where a user's own plugins.toml is looked for."""
    from platformdirs import user_config_path

    return user_config_path("isthmus", appauthor=False)


def default_data_dir() -> Path:
    """Where the embedded database and the key file live unless `--data` says otherwise."""
    from platformdirs import user_data_path

    return user_data_path("isthmus", appauthor=False)


def load_settings(
    config: Path | None,
    environ: Mapping[str, str],
    cwd: Path,
    user_config_dir: Path,
    *,
    data_dir: Path | None = None,
    section_model: SectionModel | None = None,
) -> LoadedSettings:
    """Read the settings: built-in defaults < file < `ISTHMUS__…` variables.

    Args:
        config: The file of `--config`; it must exist. None: `plugins.toml` in `cwd`, else in `user_config_dir`,
            else the built-in defaults alone.
        environ: The environment; also where `env:` secrets are read, at use.
        cwd: The working directory; a relative `config` counts from it.
        user_config_dir: See `default_config_dir`.
        data_dir: The directory of `--data`; None: `default_data_dir()`.
        section_model: Gives the settings model of each enabled extension, so that their mistakes are reported in
            the same run.

    Raises:
        SettingsError: With every mistake found.

    """
    source = find_file(config, cwd, user_config_dir)
    problems: list[Problem] = []
    data = built_in_defaults()
    lines: dict[tuple[str, ...], int] = {}
    shown = None
    if source is not None:
        shown = shown_path(source, cwd)
        text = read_text(source, shown)
        merge(data, parse(text, shown))
        lines = key_lines(text)
    variables = lay_variables(data, environ, problems)
    origins = Origins(shown, lines, variables)
    context: dict[str, object] = {"environ": environ, "base": source.absolute().parent if source else None}
    if section_model is not None:
        problems += _check_extensions(data, origins, context, section_model)
    try:
        settings = validate_section(data, Settings, "", origins, context)
    except SettingsError as error:
        raise SettingsError(in_order([*error.problems, *problems])) from None
    if problems:
        raise SettingsError(in_order(problems))
    place = data_dir if data_dir is not None else default_data_dir()
    return LoadedSettings(settings, source, place, origins, environ)


def built_in_defaults() -> Table:
    """The tables of the plugins.toml that comes with the distribution."""
    text = resources.files(__package__ or "agent.settings").joinpath("defaults.toml").read_text("utf-8")
    return tomllib.loads(text)


def _check_extensions(
    data: Table, origins: Origins, context: Mapping[str, object], section_model: SectionModel
) -> Iterator[Problem]:
    """The mistakes in the extensions' own keys; those in the host's keys are found with the whole document."""
    for kind in ("plugins", "bridges"):
        sections = data.get(kind)
        for name, table in sections.items() if isinstance(sections, dict) else ():
            section = _host_section(table)
            model = section_model(kind, name, section) if section and section.enabled else None
            if section is None or model is None:
                continue
            try:
                validate_section(section.options, model, (kind, name), origins, context)
            except SettingsError as error:
                yield from error.problems


def _host_section(table: object) -> ExtensionSettings | None:
    """The section without the host's keys that are wrong, so that its other keys can be checked all the same."""
    if not isinstance(table, dict):
        return None
    try:
        return ExtensionSettings.model_validate(table)
    except ValidationError as error:
        wrong = {detail["loc"][0] for detail in error.errors()}
        return ExtensionSettings.model_validate({key: value for key, value in table.items() if key not in wrong})
