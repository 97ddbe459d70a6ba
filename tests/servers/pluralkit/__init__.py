"""A PluralKit on the loopback interface: its API as it behaves, and a bot that reposts on the loopback Discord."""

from tests.servers.pluralkit.bot import ProxyBot
from tests.servers.pluralkit.records import Member, System
from tests.servers.pluralkit.server import Behaviour, PluralKitServer

__all__ = ["Behaviour", "Member", "PluralKitServer", "ProxyBot", "System"]
