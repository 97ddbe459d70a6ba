"""What Discord's description does not say and Discord insists on."""

from collections.abc import Iterator
from typing import Any

from tests.servers.discord.drafts import CONTENT
from tests.servers.discord.hooks import FORBIDDEN, RESERVED
from tests.servers.discord.journal import Request

NONCE = 25


def broken_rules(request: Request) -> list[str]:
    if not isinstance(request.body, dict):
        return []
    return [*_content(request.body), *_webhook(request), *_nonce(request.body)]


def _content(body: dict[str, Any]) -> Iterator[str]:
    """The description says 4,000, which is for people who pay."""
    for part in (body, body.get("data"), body.get("message")):
        if isinstance(part, dict) and isinstance(part.get("content"), str) and len(part["content"]) > CONTENT:
            yield f"content has {len(part['content'])} characters; a bot may send {CONTENT}"


def _webhook(request: Request) -> Iterator[str]:
    if "webhook" not in request.template:
        return
    name = request.body.get("username", request.body.get("name"))
    if not isinstance(name, str):
        return
    if any(word in name.casefold() for word in FORBIDDEN) or name.strip().casefold() in RESERVED:
        yield f"a webhook cannot be called {name!r}"
    if not 1 <= len(name.strip()) <= 80:
        yield f"a webhook's name has 1 to 80 characters, not {len(name.strip())}"


def _nonce(body: dict[str, Any]) -> Iterator[str]:
    if body.get("enforce_nonce") and body.get("nonce") in (None, ""):
        yield "enforce_nonce needs a nonce"
    if len(str(body.get("nonce") or "")) > NONCE:
        yield f"a nonce has at most {NONCE} characters"
