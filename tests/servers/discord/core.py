"""What all parts of the server share: the world, the gateway, the journal and the switches."""

import time
from collections.abc import Callable

from tests.servers.discord import message_payloads, payloads
from tests.servers.discord.changes import Changes
from tests.servers.discord.faults import Faults
from tests.servers.discord.gateway import Gateway
from tests.servers.discord.ids import Snowflakes
from tests.servers.discord.journal import Request
from tests.servers.discord.pending import Pending
from tests.servers.discord.records import JSON, Channel, Member, Message, User
from tests.servers.discord.world import World

BOT_NAME = "agent"
TOKEN = "bG9vcGJhY2s.loopback.a-token-of-the-loopback-discord"


class Core:
    """The state of one loopback Discord, with one application and its bot."""

    def __init__(self, *, bot_name: str = BOT_NAME, token: str = TOKEN, clock: Callable[[], float] = time.time) -> None:
        ids = Snowflakes(clock)
        number = ids.next()
        self.world = World(User(number, bot_name, bot=True), number, ids)
        self.changes = Changes()
        self.gateway = Gateway(self.world, self.changes, token)
        self.faults = Faults()
        self.requests: list[Request] = []
        """Every request for the API, in the order of their arrival."""
        self.pending: dict[int, Pending] = {}
        """The interactions by their ids."""
        self.deadline = 3.0
        """How many seconds an interaction waits for its first answer."""
        self.owner = User(self.world.ids.next(), "operator")
        """The person who owns the application."""
        self.world.users[self.owner.id] = self.owner
        self.shards = 1
        """How many shards the gateway recommends."""
        self.closed_to_direct: set[int] = set()
        """The people who take no direct messages from the bot."""
        self.base = ""
        """The address of the server, such as http://127.0.0.1:4711."""

    def person(self, name: str, *, global_name: str | None = None, bot: bool = False) -> User:
        made = User(self.world.ids.next(), name, global_name, bot)
        self.world.users[made.id] = made
        return made

    @property
    def cdn(self) -> str:
        return f"{self.base}/cdn"

    def shown(self, message: Message) -> JSON:
        """A message as REST shows it to the application."""
        full = message_payloads.message(self.world, message, self.cdn)
        content = bool(self.gateway.allowed & (1 << 15))
        return message_payloads.may_read(self.world, full, intent=content)

    def emit_message(self, name: str, message: Message) -> None:
        """Tell the gateway of a message, unless only one person sees it."""
        if message.ephemeral_for is None:
            data = message_payloads.message_event(self.world, message, self.cdn)
            self.gateway.emit(name, data, guild_id=message.guild_id, channel_id=message.channel_id)
        self.changes.notify()

    def emit_channel(self, name: str, channel: Channel, **more: object) -> None:
        data = payloads.channel(self.world, channel) | more
        self.gateway.emit(name, data, guild_id=channel.guild_id, channel_id=channel.id)

    def emit_member(self, name: str, member: Member) -> None:
        data = payloads.member(self.world, member) | {"guild_id": str(member.guild_id)}
        self.gateway.emit(name, data, guild_id=member.guild_id)

    def typed(self, user: User, channel: Channel) -> None:
        """Tell that somebody types."""
        data: JSON = {"channel_id": str(channel.id), "user_id": str(user.id), "timestamp": int(time.time())}
        if channel.guild_id is not None:
            data["guild_id"] = str(channel.guild_id)
            if (member := self.world.members.get((channel.guild_id, user.id))) is not None:
                data["member"] = payloads.member(self.world, member)
        self.gateway.emit("TYPING_START", data, guild_id=channel.guild_id, channel_id=channel.id)
