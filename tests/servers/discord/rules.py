"""What Discord's description does not say and Discord insists on."""

from collections.abc import Iterator
from typing import Any

from tests.servers.discord.drafts import CONTENT
from tests.servers.discord.hooks import FORBIDDEN, RESERVED
from tests.servers.discord.journal import Request

NONCE = 25
DESCRIPTION = 4096
TOGETHER = 6000


def broken_rules(request: Request) -> list[str]:
    if not isinstance(request.body, dict):
        return []
    return [*_content(request.body), *_webhook(request), *_nonce(request.body), *_embeds(request.body)]


def _content(body: dict[str, Any]) -> Iterator[str]:
    """The description says 4,000, which is for people who pay."""
    for part in (body, body.get("data"), body.get("message")):
        if isinstance(part, dict) and isinstance(part.get("content"), str) and len(part["content"]) > CONTENT:
            yield f"content has {len(part['content'])} characters; a bot may send {CONTENT}"


def _embeds(body: dict[str, Any]) -> Iterator[str]:
    """The description has the limit of one embed's text; that of all together it has not."""
    embeds = [each for each in body.get("embeds") or () if isinstance(each, dict)]
    for number, embed in enumerate(embeds):
        if len(str(embed.get("description") or "")) > DESCRIPTION:
            yield f"embeds.{number}: a description has at most {DESCRIPTION} characters"
    length = sum(len(text) for embed in embeds for text in _texts_of(embed))
    if length > TOGETHER:
        yield f"the embeds of one message have at most {TOGETHER} characters, not {length}"


def _texts_of(embed: dict[str, Any]) -> Iterator[str]:
    yield from (str(embed.get(name) or "") for name in ("title", "description"))
    yield str((embed.get("footer") or {}).get("text") or "")
    yield str((embed.get("author") or {}).get("name") or "")
    for field in embed.get("fields") or ():
        yield from (str(field.get(name) or "") for name in ("name", "value"))


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
