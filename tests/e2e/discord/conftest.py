"""The loopback Discord of the bridge's own tests."""

from tests.bridges.discord.conftest import _identify_at_once, _own_bases, discord

__all__ = ["_identify_at_once", "_own_bases", "discord"]
