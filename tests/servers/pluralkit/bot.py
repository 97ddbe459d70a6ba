"""A bot that reposts for its members on the loopback Discord, step by step, in whatever order a test wants."""

from dataclasses import dataclass
from typing import Any

from tests.servers.discord.loopback import LoopbackDiscord
from tests.servers.discord.records import Channel, Message, User, Webhook
from tests.servers.pluralkit.records import Member
from tests.servers.pluralkit.server import PluralKitServer

APPLICATION = 987654321098765432


@dataclass
class ProxyBot:
    """Its webhooks, and what it does with one message."""

    discord: LoopbackDiscord
    pluralkit: PluralKitServer
    application_id: int = APPLICATION

    def __post_init__(self) -> None:
        self._webhooks: dict[int, Webhook] = {}

    def webhook(self, channel: Channel) -> Webhook:
        if channel.id not in self._webhooks:
            self._webhooks[channel.id] = self.discord.webhook(
                channel, "PluralKit Proxy Webhook", application_id=self.application_id
            )
        return self._webhooks[channel.id]

    def repost(
        self, original: Message, channel: Channel, member: Member, text: str | None = None, **more: Any
    ) -> Message:
        """Post through the webhook; nothing is committed yet, and the original is still there."""
        said = original.content if text is None else text
        return self.discord.post(self.webhook(channel), said, username=member.display_name or member.name, **more)

    def commit(self, reposted: Message, original: Message, member: Member, sender: str | None = None) -> None:
        """Commit the row that look-ups find."""
        self.pluralkit.store(
            str(reposted.id),
            str(original.id),
            sender or str(original.author.id),
            str(reposted.channel_id),
            member=member,
            guild=str(reposted.guild_id),
        )

    def proxy(
        self, person: User, channel: Channel, member: Member, text: str, *, reply_to: Message | None = None
    ) -> tuple[Message, Message]:
        """Do all of it at once, in the service's own order: original, webhook, row, deletion."""
        original = self.discord.say(person, channel, text, reply_to=reply_to)
        reposted = self.repost(original, channel, member)
        self.commit(reposted, original, member)
        self.discord.delete(original)
        return original, reposted
