"""From where somebody looks at documents, and where what they upload belongs. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.places import Audience, Place, audience_of_server_memory
from plugins.documents.document import Scope, Viewer

if TYPE_CHECKING:
    from agent.commands import Invocation
    from agent.turn.values import Turn


def channels_of(place: Place) -> tuple[str, ...]:
    """Return a channel and, for a thread, the one above it."""
    ref = place.channel.ref
    return (ref.external_id,) if ref.parent_external_id is None else (ref.external_id, ref.parent_external_id)


def viewer_of_turn(turn: Turn) -> Viewer:
    """Return what a persona may look things up in."""
    place = turn.place
    return Viewer(
        place.server.server_id, place.platform, turn.persona.lineage_id, channels_of(place), in_scope_only=True
    )


def viewer_of_command(call: Invocation) -> Viewer:
    """Return what somebody may see: members what a turn there could show, managers every scope and lineage too.

    Nobody sees here what was uploaded in another channel that not everybody reads.
    """
    place = call.place
    lineage = None if call.can_manage else call.persona.lineage_id
    return Viewer(
        place.server.server_id, place.platform, lineage, channels_of(place), in_scope_only=not call.can_manage
    )


def operator(server_id: int, platform: str) -> Viewer:
    """Return what the operator may see: everything of a server."""
    return Viewer(server_id, platform)


def scope_of_upload(place: Place, channel_ids: tuple[str, ...], lineage_id: int | None) -> Scope:
    """Return where a document belongs that is uploaded in a place."""
    return Scope(
        place.server.server_id,
        lineage_id,
        channel_ids,
        audience_of_server_memory(place),
        place.platform,
        place.channel.ref.external_id,
    )


def scope_of_operator(place: Place, channel_ids: tuple[str, ...], lineage_id: int | None) -> Scope:
    """Return where a document belongs that the operator adds.

    Named for one channel that not everybody reads, or for a direct conversation, it stays there; otherwise all of
    the server may know it.
    """
    is_narrow = place.server.is_direct or len(channel_ids) == 1
    audience = audience_of_server_memory(place) if is_narrow else Audience.SERVER
    return Scope(
        place.server.server_id, lineage_id, channel_ids, audience, place.platform, place.channel.ref.external_id
    )
