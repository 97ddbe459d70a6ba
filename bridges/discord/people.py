"""Users and members as the core names them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from nextcord.asset import Asset

from agent.events import Author
from agent.identity.keys import ParticipantKey, ParticipantKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    import nextcord


def key_of(user: Mapping[str, Any], webhook_id: str | None = None) -> ParticipantKey:
    """Return the key of a user as a payload names one; what a webhook posts is the webhook's, whatever its name."""
    if webhook_id is not None:
        return ParticipantKey(ParticipantKind.WEBHOOK, webhook_id)
    kind = ParticipantKind.BOT if user.get("bot") else ParticipantKind.DISCORD_USER
    return ParticipantKey(kind, str(user["id"]))


def shown_name(user: Mapping[str, Any], member: Mapping[str, Any] | None = None) -> str:
    """Return the name that a server shows: the nickname, else the global name, else the username."""
    nick = (member or {}).get("nick")
    return str(nick or user.get("global_name") or user.get("username") or user["id"])


def author_of(
    user: Mapping[str, Any],
    member: Mapping[str, Any] | None = None,
    *,
    webhook_id: str | None = None,
    can_manage: bool = False,
) -> Author:
    """Return who wrote a message, from its payload."""
    key = key_of(user, webhook_id)
    return Author(
        kind=key.kind,
        external_id=key.id,
        display_name=shown_name(user, member),
        username=None if webhook_id is not None else user.get("username"),
        is_bot=bool(user.get("bot")) or webhook_id is not None,
        can_manage=can_manage,
        avatar=avatar_of(user),
    )


def avatar_of(user: Mapping[str, Any]) -> str | None:
    """Return the address of a user's picture; None where there is none of the user's own."""
    return f"{Asset.BASE}/avatars/{user['id']}/{user['avatar']}.png" if user.get("avatar") else None


def guest_of(webhook_id: str, name: str) -> Author:
    """Return somebody who speaks through another bridge's webhook: known by that and the name, and never as more."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return Author(ParticipantKind.WEBHOOK, f"{webhook_id}/{digest}", name)


def author_of_member(member: nextcord.Member | nextcord.User, *, can_manage: bool = False) -> Author:
    """Return a member that nextcord knows."""
    return Author(
        kind=ParticipantKind.BOT if member.bot else ParticipantKind.DISCORD_USER,
        external_id=str(member.id),
        display_name=member.display_name,
        username=member.name,
        is_bot=member.bot,
        can_manage=can_manage,
    )
