"""plugins.toml and its `ISTHMUS__…` overrides, read into frozen models.

Built-in defaults < file < environment variables. `load_settings` reports every mistake in one run, each with its
line or variable, its key, what is expected, and the nearest valid name.
"""

from agent.settings.errors import Origin, Problem, SecretError, SettingsError
from agent.settings.load import default_config_dir, default_data_dir, load_settings
from agent.settings.loaded import LoadedSettings
from agent.settings.model import (
    AgentSettings,
    CostSettings,
    DatabaseSettings,
    ExtensionSettings,
    LimitSettings,
    LoggingSettings,
    MetricsSettings,
    Section,
    Settings,
)
from agent.settings.origins import Origins
from agent.settings.secrets import Secret, find_secrets
from agent.settings.validate import validate_section

__all__ = [
    "AgentSettings",
    "CostSettings",
    "DatabaseSettings",
    "ExtensionSettings",
    "LimitSettings",
    "LoadedSettings",
    "LoggingSettings",
    "MetricsSettings",
    "Origin",
    "Origins",
    "Problem",
    "Secret",
    "SecretError",
    "Section",
    "Settings",
    "SettingsError",
    "default_config_dir",
    "default_data_dir",
    "find_secrets",
    "load_settings",
    "validate_section",
]
