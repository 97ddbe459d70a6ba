"""Takes secrets out of texts that go into logs. A net below the rule that they never go there."""

from __future__ import annotations

import re

HIDDEN = "**********"
MIN_REMEMBERED = 8
MAX_REMEMBERED = 256

_NAME_HINTS = ("token", "secret", "password", "passphrase", "api_key", "apikey", "credential", "private_key")
_EXACT_NAMES = frozenset({"authorization", "cookie", "set-cookie"})

# One expression, so that a text is read once. Group "keep" stays, what follows it goes.
_PATTERN = re.compile(
    r"""
      (?P<keep>/(?:webhooks|interactions)/\d+/)[\w-]+                   # a webhook's or interaction's token
    | (?P<keep_scheme>\b(?:Bearer|Bot|Basic)\s+)[\w.~+/=-]{8,}          # an Authorization header's value
    | (?P<keep_header>\bAuthorization['"]?\s*[:=]\s*['"]?)(?:(?:Bearer|Bot|Basic)\s+)?[^\s'",}]+
    | (?P<keep_query>\b(?:access_token|api_key|token|password)=)[^\s&'"]+
    | (?P<keep_url>\b[a-z0-9+.-]{1,30}://[^\s/@:]{0,200}:)[^\s/@]{1,500}(?=@)  # the password in an address
    | \b[MNO][\w-]{23,27}\.[\w-]{6,7}\.[\w-]{27,}                       # a Discord bot's token
    | \bsk-[\w-]{16,}                                                   # a model provider's key
    | \b(?:syt|mat|mct)_[\w-]{8,400}                       # a Matrix access token
    """,
    re.VERBOSE | re.IGNORECASE,
)

_remembered: dict[str, None] = {}


def names_a_secret(key: str) -> bool:
    """Whether a key's name says that its value is a secret (`api_key`, `bot_token`, `PASSWORD`)."""
    lowered = key.lower()
    if lowered in _EXACT_NAMES:
        return True
    # `tokens` counts (context_tokens, turn_tokens): a limit, not a secret.
    return any(hint in lowered for hint in _NAME_HINTS) and not lowered.endswith("tokens")


def remember_secret(value: str) -> None:
    """Take this value out of every text from now on.

    Values shorter than 8 characters are not remembered: they would tear holes into ordinary words. Only the 256
    latest values are kept.
    """
    if len(value) < MIN_REMEMBERED:
        return
    _remembered.pop(value, None)
    _remembered[value] = None
    while len(_remembered) > MAX_REMEMBERED:
        del _remembered[next(iter(_remembered))]


def forget_secrets() -> None:
    """Forget every remembered value (for tests)."""
    _remembered.clear()


def redact(text: str) -> str:
    """The text with asterisks for what is, or looks like, a secret."""
    for value in tuple(_remembered):
        if value in text:
            text = text.replace(value, HIDDEN)
    return _PATTERN.sub(_hide, text)


def _hide(match: re.Match[str]) -> str:
    kept = match[match.lastgroup] if match.lastgroup else ""
    return f"{kept}{HIDDEN}"
