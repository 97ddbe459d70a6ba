"""The plugins that the built-in settings name, for tests that want none of them."""

import tomllib
from importlib.resources import files

DEFAULT_PLUGINS: tuple[str, ...] = tuple(
    tomllib.loads(files("agent.settings").joinpath("defaults.toml").read_text("utf-8"))["plugins"]
)


def without_defaults(text: str = "") -> str:
    """Return settings that switch off every plugin that the text does not name."""
    return text + "".join(
        f"\n[plugins.{name}]\nenabled = false\n" for name in DEFAULT_PLUGINS if f"[plugins.{name}]" not in text
    )
