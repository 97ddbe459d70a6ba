"""Whether the model and the embeddings can be used."""

from __future__ import annotations

import asyncio
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
    """Embed one word with the model that the settings name."""
    from agent.models.embeddings import make_embedder, probe
    from agent.models.errors import ModelFailed, ModelSetupError

    name, remedy = "embeddings", '[agent] embeddings in plugins.toml ("off": recall by words only)'
    settings = loaded.settings.agent
    try:
        embedder = make_embedder(settings, loaded.environ)
    except (ModelSetupError, SecretError) as error:
        return [Health(name, "fail", str(error), remedy)]
    if embedder is None:
        return [Health(name, "ok", "off: recall by words only")]
    try:
        async with asyncio.timeout(SECONDS):
            return [Health(name, "ok", await probe(embedder))]
    except TimeoutError:
        return [Health(name, "warn", f"{settings.embeddings}: no answer within {SECONDS:g} s", remedy)]
    except ModelFailed as error:
        return [Health(name, "fail", f"{settings.embeddings}: {error}", remedy)]
    finally:
        await embedder.close()
