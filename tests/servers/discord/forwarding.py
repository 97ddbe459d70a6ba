"""The copy of a message that a forward carries."""

from collections.abc import Mapping
from typing import Any

from tests.servers.discord import message_payloads
from tests.servers.discord.core import Core
from tests.servers.discord.records import JSON

COPIED = (
    "type",
    "content",
    "embeds",
    "attachments",
    "timestamp",
    "edited_timestamp",
    "flags",
    "mentions",
    "mention_roles",
    "components",
    "sticker_items",
)


def snapshot(core: Core, reference: Mapping[str, Any]) -> JSON:
    """The forwarded message as it was, without who wrote it."""
    found = core.world.message(int(reference["channel_id"]), int(reference["message_id"]))
    whole = message_payloads.message(core.world, found, core.cdn)
    return {"message": {key: whole[key] for key in COPIED if key in whole}}
