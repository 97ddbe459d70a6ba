"""A loopback Discord: REST, gateway, interactions and webhooks, with switches for what goes wrong.

README.md says how it is used.
"""

from tests.servers.discord.asking import InteractionFailed, InteractionResult
from tests.servers.discord.choices import NotOffered
from tests.servers.discord.errors import DiscordError
from tests.servers.discord.events import Event, Intent
from tests.servers.discord.faults import Fault, Scope
from tests.servers.discord.guilds import Guild
from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.pending import Callback, Modal
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import Channel, ChannelKind, Message, Role, Upload, User, Webhook

__all__ = [
    "Callback",
    "Channel",
    "ChannelKind",
    "DiscordError",
    "Event",
    "Fault",
    "Guild",
    "Intent",
    "InteractionFailed",
    "InteractionResult",
    "LoopbackDiscord",
    "Message",
    "Modal",
    "NotOffered",
    "Permission",
    "Role",
    "Scope",
    "Upload",
    "User",
    "Webhook",
]
