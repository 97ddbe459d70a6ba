"""What people, other bots and other webhooks do on the loopback Discord, beside calling commands."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.servers.discord import hooks, people, places, posting, reacting
from tests.servers.discord.choices import NotOffered
from tests.servers.discord.core import Core
from tests.servers.discord.permissions import NONE, Permission
from tests.servers.discord.records import JSON, Channel, Draft, Member, Message, Overwrite, Role, Upload, User, Webhook


class Talking:
    """A part of `LoopbackDiscord`."""

    core: Core

    # People

    def user(self, name: str, *, global_name: str | None = None, bot: bool = False) -> User:
        """A new person, or another bot."""
        return self.core.person(name, global_name=global_name, bot=bot)

    def rename(self, user: User, name: str | None = None, *, global_name: str | None = None) -> User:
        now = self.core.world.user(user.id)
        made = replace(now, name=name or now.name, global_name=global_name or now.global_name)
        people.renamed(self.core, made)
        return made

    def close_direct(self, user: User) -> None:
        """Let somebody take no direct messages from the bot."""
        self.core.closed_to_direct.add(user.id)

    def dm(self, user: User) -> Channel:
        """The direct conversation with the bot."""
        return self.core.world.dm(user.id)

    # Messages

    def say(
        self,
        user: User,
        channel: Channel,
        text: str = "",
        *,
        reply_to: Message | None = None,
        ping: bool = True,
        attachments: Sequence[Upload] = (),
        embeds: Sequence[JSON] = (),
        stickers: Sequence[JSON] = (),
        poll: Mapping[str, Any] | None = None,
        forward: Message | None = None,
        kind: int = 0,
    ) -> Message:
        """Let a person, or another bot, say something.

        Args:
            user: Who speaks.
            channel: Where; also a thread or a direct conversation.
            text: What.
            reply_to: The message that is answered; `ping` says whether its author is mentioned.
            ping: See there.
            attachments: Files.
            embeds: Embeds; only bots have them.
            stickers: What `Guild.sticker` gave.
            poll: A poll as the API takes it.
            forward: A message that is forwarded; then there is no text.
            kind: Discord's type of message when it is not an ordinary one: 6 something was pinned, 7 somebody came.

        Raises:
            NotOffered: they may not speak there.
        """
        place = self.core.world.channel(channel.id)
        held = self.core.world.permissions(user.id, place)
        needed = Permission.SEND_MESSAGES_IN_THREADS if place.is_thread else Permission.SEND_MESSAGES
        if needed not in held:
            raise NotOffered(f"{user.name} may not speak in {place.name or place.id}")
        draft = Draft(
            content=text,
            embeds=tuple(embeds),
            uploads=tuple(attachments),
            reference=_refer(reply_to, forward),
            allowed_mentions=None if ping else {"parse": ["users", "roles", "everyone"], "replied_user": False},
            sticker_ids=tuple(int(one["id"]) for one in stickers),
            poll=poll,
            kind=kind,
        )
        return posting.post(self.core, place, self.core.world.user(user.id), draft)

    def edit(self, message: Message, text: str | None = None, **body: Any) -> Message:
        """Let the author change a message; `body` holds other parts as the API takes them."""
        changes = body if text is None else {"content": text, **body}
        return posting.edit(self.core, self.now(message), changes, {})

    def preview(self, message: Message, embed: JSON) -> Message:
        """An update that nobody made: Discord found a preview for a link."""
        made = replace(self.now(message), embeds=(embed,))
        posting.store(self.core, made)
        self.core.emit_message("MESSAGE_UPDATE", made)
        return made

    def delete(self, message: Message) -> None:
        posting.delete(self.core, message)

    def bulk_delete(self, channel: Channel, messages: Sequence[Message]) -> None:
        posting.bulk_delete(self.core, channel, [one.id for one in messages])

    def react(self, user: User, message: Message, emoji: str) -> None:
        reacting.react(self.core, self.now(message), emoji, user.id)

    def unreact(self, user: User, message: Message, emoji: str) -> None:
        reacting.unreact(self.core, self.now(message), emoji, user.id)

    def type(self, user: User, channel: Channel) -> None:
        self.core.typed(user, channel)

    def now(self, message: Message) -> Message:
        """The message as it stands now.

        Raises:
            DiscordError: it is gone.
        """
        if message.id in self.core.world.ephemeral:
            return self.core.world.ephemeral[message.id]
        return self.core.world.message(message.channel_id, message.id)

    def messages(self, channel: Channel) -> list[Message]:
        """What everybody sees in a channel, the oldest first."""
        held = self.core.world.messages.get(channel.id, {})
        return sorted(held.values(), key=lambda one: one.id)

    # Other webhooks

    def webhook(
        self, channel: Channel, name: str, *, application_id: int | None = None, user: User | None = None
    ) -> Webhook:
        """A webhook that is not the bot's: of another application, or of a person."""
        creator = user or self.core.world.users[self.core.world.guilds[channel.guild_id or 0].owner_id]
        return hooks.made_webhook(self.core, channel, name, creator.id, application_id)

    def post(
        self,
        webhook: Webhook,
        text: str = "",
        *,
        username: str | None = None,
        avatar: str | None = None,
        thread: Channel | None = None,
        embeds: Sequence[JSON] = (),
        components: Sequence[JSON] = (),
        attachments: Sequence[Upload] = (),
        flags: int = 0,
    ) -> Message:
        """Let a webhook say something."""
        place = self.core.world.channel((thread or self.core.world.channel(webhook.channel_id)).id)
        draft = Draft(
            text, tuple({"type": "rich", **one} for one in embeds), tuple(components), tuple(attachments), flags=flags
        )
        looks = {"username": username, "avatar_url": avatar}
        return hooks.execute(self.core, webhook, place, draft, looks=looks)

    def webhooks(self, channel: Channel) -> list[Webhook]:
        """All webhooks of a channel, the bot's too."""
        return [one for one in self.core.world.webhooks.values() if one.channel_id == channel.id]

    def remove_webhook(self, webhook: Webhook) -> None:
        """Let a person delete a webhook; what it said stays."""
        del self.core.world.webhooks[webhook.id]
        hooks.told(self.core, webhook)

    def forget_nonces(self) -> None:
        """Let the few minutes pass in which Discord knows a nonce again."""
        self.core.world.nonces.clear()

    # Places

    def rename_channel(self, channel: Channel, name: str) -> Channel:
        return places.changed(self.core, replace(self.core.world.channel(channel.id), name=name))

    def delete_channel(self, channel: Channel) -> None:
        places.deleted(self.core, self.core.world.channel(channel.id))

    def archive(self, thread: Channel, *, locked: bool = False) -> Channel:
        return places.changed(self.core, replace(self.core.world.channel(thread.id), archived=True, locked=locked))

    def overwrite(
        self,
        channel: Channel,
        who: Role | User,
        *,
        allow: Permission = NONE,
        deny: Permission = NONE,
    ) -> Channel:
        """Set what a role or person may in a channel."""
        rule = Overwrite(who.id, places.kind_of(self.core, who.id), allow, deny)
        return places.ruled(self.core, self.core.world.channel(channel.id), rule, who.id)

    def follow(self, thread: Channel, user: User, *, follows: bool = True) -> Channel:
        """Let somebody into a thread, or out of it."""
        return places.followed(self.core, self.core.world.channel(thread.id), user.id, follows=follows)

    def permissions(self, user: User, channel: Channel) -> Permission:
        return self.core.world.permissions(user.id, channel)

    def readers(self, channel: Channel) -> set[int]:
        """The ids of everybody who can see a channel."""
        place = self.core.world.channel(channel.id)
        if place.guild_id is None:
            return set(place.recipients)
        everybody: list[Member] = self.core.world.guild_members(place.guild_id)
        seeing = Permission.VIEW_CHANNEL
        return {one.user_id for one in everybody if seeing in self.core.world.permissions(one.user_id, place)}


def _refer(reply_to: Message | None, forward: Message | None) -> JSON | None:
    if forward is not None:
        return {"type": 1, "message_id": str(forward.id), "channel_id": str(forward.channel_id)}
    if reply_to is not None:
        return {"message_id": str(reply_to.id), "channel_id": str(reply_to.channel_id), "fail_if_not_exists": False}
    return None
