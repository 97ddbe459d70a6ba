"""Makes the chat model that the settings name; a provider is imported only when it is the one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, cast
from urllib.parse import urlsplit

from agent.models.chat import ChatModel, preload
from agent.models.errors import ModelSetupError
from agent.models.offline import NAME as OFFLINE
from agent.models.offline import make_offline

if TYPE_CHECKING:
    from pydantic_ai.providers import Provider
    from pydantic_ai.settings import ModelSettings

    from agent.settings.model import AgentSettings

IDLE_SECONDS: Final = 30.0
"""Longest silence within a streamed answer, once it has begun."""
OPENAI_HOSTS: Final = frozenset({"api.openai.com"})
SEEING: Final = (
    "anthropic:claude-3",
    "anthropic:claude-opus",
    "anthropic:claude-sonnet",
    "anthropic:claude-haiku",
    "google:gemini",
    "google-gla:gemini",
    "google-vertex:gemini",
    "openai:gpt-4o",
    "openai:gpt-4.1",
    "openai:gpt-5",
)
"""How the names of models begin that take pictures, as they stand in `[agent] model`."""
NO_KEY: Final = "none"
"""Sent to a server of one's own that wants no key; the client insists on some text."""


def make_model(settings: AgentSettings, environ: Mapping[str, str] = os.environ) -> ChatModel:
    """Return the model of `[agent] model`.

    Without `[agent] api_key` the provider's usual variable is read from `environ`.

    Raises:
        ModelSetupError: it cannot be made; the message says what to set or install.
        agent.settings.errors.SecretError: its key cannot be read.
    """
    preload()
    return replace(
        _make(settings, environ),
        request_seconds=settings.request_timeout,
        idle_seconds=min(IDLE_SECONDS, settings.request_timeout),
        takes_images=takes_images(settings.model, settings.images),
    )


def takes_images(model: str, choice: Literal["auto", "on", "off"] = "auto") -> bool:
    """Tell whether a model is shown pictures; `auto` knows the families that have always taken them.

    A model that does not take them refuses the whole request, so one that is not known is not shown any.
    """
    return choice == "on" or (choice == "auto" and model.startswith(SEEING))


def _make(settings: AgentSettings, environ: Mapping[str, str]) -> ChatModel:
    if settings.model == OFFLINE:
        return make_offline()
    provider, _, name = settings.model.partition(":")
    key = settings.api_key.resolve().get_secret_value() if settings.api_key else None
    try:
        match provider:
            case "openai":
                return _openai(settings, name, key or environ.get("OPENAI_API_KEY"))
            case "anthropic":
                return _anthropic(settings, name, key or environ.get("ANTHROPIC_API_KEY"))
        return _other(settings, provider, key)
    except ImportError as error:
        raise ModelSetupError(
            f"model {settings.model!r} needs a package that is not installed: "
            f"pip install 'pydantic-ai-slim[{provider}]' ({error.name or 'missing'})"
        ) from error


def _needed(settings: AgentSettings, key: str | None, variable: str) -> str:
    if key:
        return key
    raise ModelSetupError(
        f'model {settings.model!r} needs a key: set [agent] api_key = "env:{variable}" in plugins.toml '
        f"and export {variable}"
    )


def _openai(settings: AgentSettings, name: str, key: str | None) -> ChatModel:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles import merge_profile
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    own = settings.base_url is None or urlsplit(settings.base_url).hostname in OPENAI_HOSTS
    client = AsyncOpenAI(
        api_key=_needed(settings, key, "OPENAI_API_KEY") if own else key or NO_KEY,
        base_url=settings.base_url,
        max_retries=0,
        timeout=settings.request_timeout,
    )
    # A stream that ends without a finish reason was cut off; foreign servers do not know strict schemas.
    ours = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    if own:
        provider: Provider[AsyncOpenAI] = OpenAIProvider(openai_client=client)
        profile = merge_profile(OpenAIProvider.model_profile(name), ours)
    else:
        provider = OpenAICompatibleProvider("openai-compatible", openai_client=client)
        ours = OpenAIModelProfile(**ours, openai_supports_strict_tool_definition=False)
        profile = merge_profile(provider.model_profile(name), ours)
    model = OpenAIChatModel(name, provider=provider, profile=profile)
    return ChatModel(settings.model, model, close=client.close)


def _anthropic(settings: AgentSettings, name: str, key: str | None) -> ChatModel:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        api_key=_needed(settings, key, "ANTHROPIC_API_KEY"),
        base_url=settings.base_url,
        max_retries=0,
        timeout=settings.request_timeout,
    )
    model = AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))
    cached = AnthropicModelSettings(anthropic_cache_instructions=True, anthropic_cache_tool_definitions=True)
    return ChatModel(
        settings.model,
        model,
        cast("ModelSettings", cached),
        cache_point=True,
        close=client.close,
    )


def _other(settings: AgentSettings, provider: str, key: str | None) -> ChatModel:
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model
    from pydantic_ai.providers import infer_provider_class

    given = {name: value for name, value in (("api_key", key), ("base_url", settings.base_url)) if value}

    def make_provider(provider_name: str) -> Provider[Any]:
        return infer_provider_class(provider_name)(**given)

    try:
        model = infer_model(settings.model, make_provider)
    except (UserError, ValueError) as error:
        raise ModelSetupError(
            f'model {settings.model!r} cannot be used: {error}; set [agent] model to "offline", "openai:MODEL" '
            '(with base_url for any compatible server), "anthropic:MODEL" or another provider that pydantic-ai knows'
        ) from error
    except TypeError as error:
        raise ModelSetupError(
            f"provider {provider!r} takes no {' or '.join(given)}: leave it out of [agent] ({error})"
        ) from error
    return ChatModel(settings.model, model, {"max_retries": 0})
