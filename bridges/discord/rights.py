"""Who may manage a guild, from roles and ownership: pure functions over nextcord's values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    import nextcord


def may_manage(guild: nextcord.Guild, user_id: int, role_ids: Iterable[Any]) -> bool:
    """Tell whether somebody manages a server: its owner, an administrator, or who has Manage Server."""
    if guild.owner_id == user_id:
        return True
    roles = (guild.get_role(int(role_id)) for role_id in (*role_ids, guild.id))
    return any(role is not None and (role.permissions.manage_guild or role.permissions.administrator) for role in roles)
