"""The settings of a deployment: frozen models, one for each section of plugins.toml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from agent.settings.secrets import Secret

DEFAULT_PROMPT = """\
You are {bot}, a regular in this chat: warm, attentive and to the point.
Several people may talk at once; keep apart who said what, and never guess who somebody is.
Use what you remember about this place and its people when it helps, and say so when you do not know.
When you learn a lasting fact, preference or date, save it with the tools you have.
Answer in the language of the person you answer, as briefly as the question allows."""


class Section(BaseModel):
    """The base of every settings model, a plugin's own included: frozen, strict types, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("expected a text that is not blank")
    return text


def _known_locale(text: str) -> str:
    parts = text.replace("-", "_").split("_")
    if not (parts[0].isascii() and parts[0].isalpha() and 2 <= len(parts[0]) <= 3):  # noqa: PLR2004 - ISO 639 code
        raise ValueError('expected a language code such as "en", "de" or "pt_BR"')
    return text


def _model_name(text: str) -> str:
    provider, colon, name = text.partition(":")
    if text != "offline" and not (provider and colon and name.strip()):
        raise ValueError('expected "offline" or "provider:model", such as "openai:gpt-5-mini"')
    return text


def _embeddings_name(text: str) -> str:
    provider, colon, name = text.partition(":")
    if text not in {"local", "off"} and not (provider and colon and name.strip()):
        raise ValueError('expected "local", "off" or "provider:model", such as "openai:text-embedding-3-small"')
    return text


def _http_url(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise ValueError("expected an address that begins with http:// or https://")
    return text


def _database_url(secret: Secret) -> Secret:
    if secret.literal is not None:
        check_database_url(secret.literal.get_secret_value())
    return secret


def check_database_url(url: str) -> str:
    """The URL itself, or ValueError that does not quote it (it may hold a password)."""
    if url != "embedded" and not url.startswith(("postgresql://", "postgres://")):
        raise ValueError('expected "embedded" or postgresql://user@host/database')
    return url


# Tables give lists; frozen models keep tuples. Strict mode refuses that one conversion, so it is allowed by name.
Texts = Annotated[tuple[str, ...], Field(strict=False)]
Text = Annotated[str, AfterValidator(_not_blank)]


class LimitSettings(Section):
    """What one message, one turn, one person and one server may use at most."""

    max_message_chars: int = Field(default=8_000, ge=1)
    """Characters of one message that the model is shown; the rest is cut off and marked so."""
    context_tokens: int = Field(default=16_000, ge=256)
    """Tokens of the whole prompt; what does not fit is left out, least recent first."""
    wire_messages: int = Field(default=60, ge=4, le=1_000)
    """Messages sent to a provider at most; older history is merged."""
    tool_calls: int = Field(default=16, ge=0)
    """Tool calls a turn."""
    turn_seconds: float = Field(default=120.0, gt=0)
    """Seconds a turn, from its start to its last delivery."""
    turn_tokens: int = Field(default=100_000, ge=1)
    """Tokens a turn, input and output, over all of its requests."""
    queue: int = Field(default=32, ge=1)
    """Messages that wait in one conversation; the next one is refused calmly."""
    cooldown_seconds: float = Field(default=0.0, ge=0)
    """Seconds between two answers to one account; 0 is no cooldown."""
    daily_answers: int | None = Field(default=None, ge=1)
    """Answers that one account gets a day (UTC), counted since the start; left out: no cap."""
    daily_spend: float | None = Field(default=None, ge=0)
    """What one server may cost a day (UTC), in the unit of `[agent.costs]`; left out: no cap."""


class CostSettings(Section):
    """What one model costs, for each million tokens, in a unit of the operator's choice."""

    input: float = Field(default=0.0, ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    """Left out: as `input`."""
    output: float = Field(default=0.0, ge=0)


class AgentSettings(Section):
    """`[agent]`: the model, the default persona, and when and how much it answers."""

    model: Annotated[str, AfterValidator(_model_name)] = "offline"
    base_url: Annotated[str, AfterValidator(_http_url)] | None = None
    """Of an OpenAI-compatible server; left out: the provider's own."""
    api_key: Secret | None = None
    embeddings: Annotated[str, AfterValidator(_embeddings_name)] = "local"
    images: Literal["auto", "on", "off"] = "auto"
    """Whether the model is shown pictures; `auto`: when it is known to take them."""
    name: Text = Field(default="Isthmus", max_length=80)
    """The default persona's name; `{bot}` in the prompt."""
    avatar: str | None = None
    """The default persona's picture: an http(s) address or a path."""
    prompt: Text = DEFAULT_PROMPT
    locale: Annotated[str, AfterValidator(_known_locale)] = "en"
    """Language of the sentences that the agent itself says, unless a server or person chose another."""
    secret_key: Secret | None = None
    """Encrypts what is kept encrypted; left out: a key file in the data directory, made at first start."""
    triggers: Texts = ()
    """Words that call the default persona, besides its name."""
    auto_channels: Texts = ()
    """Channels (`platform:id`) where every message is answered."""
    deliberate: bool = False
    """Answer only to mentions, replies and direct messages: trigger words alone are not enough."""
    request_timeout: float = Field(default=60.0, gt=0, le=3_600)
    """Seconds that one request to a model may take."""
    limits: LimitSettings = LimitSettings()
    deadlines: Mapping[str, Annotated[float, Field(gt=0, le=3_600)]] = Field(default_factory=dict)
    """Seconds that one plugin may take in a hook, by hook, where they differ from docs/hooks.md."""
    costs: Mapping[str, CostSettings] = Field(default_factory=dict)
    """Cost by model name, as it stands in `model`; a model that is not named costs nothing."""


class DatabaseSettings(Section):
    """`[database]`: the embedded PostgreSQL, or one of your own."""

    url: Annotated[Secret, AfterValidator(_database_url)] = Field(default_factory=lambda: Secret.parse("embedded"))
    """`embedded`, `postgresql://…`, or `env:`/`file:` for one with a password."""
    pool_size: int = Field(default=16, ge=2, le=500)
    statement_timeout: float = Field(default=10.0, gt=0)
    """Seconds that one statement may take."""

    @property
    def embedded(self) -> bool:
        """Whether the database is the embedded one."""
        return self.url.literal is not None and self.url.literal.get_secret_value() == "embedded"

    def resolve_url(self) -> str:
        """The URL, password included: never log it. Raises SecretError or ValueError (which does not quote it)."""
        # A literal without a password is no secret; it must not be taken out of the logs.
        return check_database_url((self.url.literal or self.url.resolve()).get_secret_value())


class LoggingSettings(Section):
    """`[logging]`: the form and the least level of log lines."""

    format: Literal["console", "json"] = "console"
    level: Literal["debug", "info", "warning", "error"] = "info"


class MetricsSettings(Section):
    """`[metrics]`: `/metrics`, `/healthz` and `/readyz` over HTTP."""

    enabled: bool = False
    host: Text = "127.0.0.1"
    port: int = Field(default=9464, ge=0, le=65_535)
    """0 takes any free port."""


class ExtensionSettings(BaseModel):
    """`[plugins.NAME]` or `[bridges.NAME]`: what the host reads; the other keys belong to the extension."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    enabled: bool = True
    optional: bool = False
    """Let the start go on when it fails to load or start."""
    module: Text | None = None
    """The module to import, for one that is neither built in nor an entry point."""

    def __repr_args__(self) -> Iterable[tuple[str | None, object]]:
        """Show the host's keys only: an extension's keys may hold secrets that nobody has declared yet."""
        yield from ((name, getattr(self, name)) for name in type(self).model_fields)
        yield "options", sorted(self.options)

    @property
    def options(self) -> Mapping[str, object]:
        """The extension's own keys, not validated yet."""
        return self.model_extra or {}


class Settings(BaseModel):
    """Everything in plugins.toml and its overrides."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    agent: AgentSettings = AgentSettings()
    database: DatabaseSettings = Field(default_factory=DatabaseSettings)
    logging: LoggingSettings = LoggingSettings()
    metrics: MetricsSettings = MetricsSettings()
    plugins: Mapping[str, ExtensionSettings] = Field(default_factory=dict)
    bridges: Mapping[str, ExtensionSettings] = Field(default_factory=dict)
