"""Whether the model and the embeddings can be used."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import TYPE_CHECKING, Any, Final

from agent.hookspecs import Health
from agent.settings import SecretError

if TYPE_CHECKING:
    from agent.settings import LoadedSettings

SECONDS: Final = 10.0
"""How long a provider may take to answer."""
_NOT_FOUND: Final = 404
_REFUSED: Final = frozenset({401, 403})


async def model_health(loaded: LoadedSettings) -> list[Health]:
    """Make the model that the settings name, and ask its provider for its list of models where it has one."""
    from agent.models.errors import ModelSetupError
    from agent.models.make import make_model

    settings = loaded.settings.agent
    if settings.model == "offline":
        return [Health("model", "ok", "offline (a simple stand-in; set [agent] model for a real one)")]
    try:
        model = await asyncio.to_thread(make_model, settings, loaded.environ)
    except (ModelSetupError, SecretError) as error:
        return [Health("model", "fail", str(error), "[agent] model, api_key and base_url in plugins.toml")]
    try:
        return [await _asked(settings.model, model.model)]
    finally:
        await model.close()


async def _asked(name: str, model: Any) -> Health:
    """Ask the provider which models it has: that costs nothing and proves address and key."""
    client = getattr(model, "client", None)
    listing = getattr(getattr(client, "models", None), "list", None)
    if listing is None:
        return Health("model", "ok", f"{name} (its provider was not asked)")
    try:
        async with asyncio.timeout(SECONDS):
            page = await listing()
    except Exception as error:  # noqa: BLE001 - each provider has its own errors; every one of them is a finding
        return _failed(name, error)
    known = {str(getattr(each, "id", "")) for each in getattr(page, "data", None) or ()}
    short = name.partition(":")[2]
    if known and short not in known:
        return Health("model", "warn", f"{name}: its provider does not list it", "check the name in [agent] model")
    return Health("model", "ok", f"{name}: its provider answers")


def _failed(name: str, error: Exception) -> Health:
    status = getattr(error, "status_code", None)
    if status == _NOT_FOUND:
        return Health("model", "ok", f"{name}: its server answers (it lists no models)")
    if status in _REFUSED:
        return Health("model", "fail", f"{name}: the key was refused ({status})", "[agent] api_key in plugins.toml")
    what = f"answered {status}" if status else f"cannot be reached ({type(error).__name__})"
    return Health("model", "fail", f"{name}: its provider {what}", "[agent] base_url, or the network")


async def embedding_health(loaded: LoadedSettings) -> list[Health]:
    """Tell whether what makes embeddings is there."""
    name = loaded.settings.agent.embeddings
    if name == "off":
        return [Health("embeddings", "ok", "off: recall by words only")]
    package = {"local": "wordllama"}.get(name, name.partition(":")[0])
    if importlib.util.find_spec(package) is None:
        text = f"{name} needs the package {package}, which is not installed"
        return [Health("embeddings", "warn", text, f'pip install {package}, or set [agent] embeddings = "off"')]
    return [Health("embeddings", "ok", name)]
