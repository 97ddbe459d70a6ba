"""Rooms of Matrix and channels of another platform as one conversation, through an application service."""

from bridges.relay.bridge import RelayBridge
from bridges.relay.settings import RelaySettings

__all__ = ["RelayBridge", "RelaySettings"]
