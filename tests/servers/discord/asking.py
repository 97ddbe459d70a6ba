"""What people do with an application: commands, menus, buttons, selects, modals; and what they see of the answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.servers.discord import message_payloads, payloads
from tests.servers.discord.choices import Filled, NotOffered, filled_modal
from tests.servers.discord.core import Core
from tests.servers.discord.drafts import walk
from tests.servers.discord.pending import Asked, Callback, Modal, Pending
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import JSON, Channel, Message, User

BUTTON, STRING_SELECT, USER_SELECT, ROLE_SELECT, MENTIONABLE_SELECT, CHANNEL_SELECT = 2, 3, 5, 6, 7, 8
SELECTS = {STRING_SELECT, USER_SELECT, ROLE_SELECT, MENTIONABLE_SELECT, CHANNEL_SELECT}
LINK = 5
CHAT, ON_USER, ON_MESSAGE = 1, 2, 3
SETTLE = 10.0


class InteractionFailed(Exception):
    """The application did not answer in time: people see "The application did not respond"."""


class InteractionResult:
    """What the person who asked sees, as it stands now."""

    def __init__(self, core: Core, pending: Pending) -> None:
        self._core = core
        self.pending = pending

    @property
    def callback(self) -> Callback | None:
        """The kind of the first answer."""
        return self.pending.callback

    @property
    def messages(self) -> list[Message]:
        """The messages in answer that are there, ephemeral or not; also the one that was updated."""
        world, place = self._core.world, self._core.world.messages.get(self.pending.channel.id, {})
        found = [world.ephemeral.get(one) or place.get(one) for one in self.pending.message_ids]
        return [one for one in found if one is not None]

    @property
    def message(self) -> Message:
        """The first of the messages.

        Raises:
            LookupError: there is none.
        """
        if not self.messages:
            raise LookupError(f"the answer ({self.callback!r}) holds no message")
        return self.messages[0]

    @property
    def text(self) -> str:
        return self.message.content

    @property
    def ephemeral(self) -> bool:
        return self.message.ephemeral_for is not None

    @property
    def modal(self) -> Modal:
        """The modal that was shown.

        Raises:
            LookupError: there is none.
        """
        if self.pending.modal is None:
            raise LookupError(f"the answer ({self.callback!r}) is no modal")
        return self.pending.modal

    @property
    def choices(self) -> list[JSON]:
        """What autocompletion offers."""
        return self.pending.choices or []

    def expire(self) -> None:
        """Let the token be as one that is older than 15 minutes."""
        self.pending.expired = True

    async def until[T](self, look: Callable[["InteractionResult"], T], timeout: float = SETTLE) -> T:
        """Wait until `look` at this result gives something true."""
        return await self._core.changes.until(lambda: look(self), timeout, "such answer to the interaction")


class Asking:
    """Starts interactions."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def command(self, user: User, channel: Channel, name: str, kind: int) -> JSON:
        """The command of that name as the person is offered it.

        Raises:
            NotOffered: there is none here, or the person lacks its permissions.
        """
        world = self._core.world
        local = world.commands.get(channel.guild_id, {}) if channel.guild_id is not None else {}
        every = [*local.values(), *world.commands[None].values()]
        found = next((one for one in every if one["name"] == name and one["type"] == kind), None)
        if found is None:
            raise NotOffered(f"there is no command {name!r}; there are {sorted(one['name'] for one in every)}")
        if channel.guild_id is None:
            contexts = found.get("contexts")
            if found.get("dm_permission") is False or (contexts is not None and 1 not in contexts):
                raise NotOffered(f"{name!r} is not offered in direct conversations")
            return found
        held = world.permissions(user.id, channel)
        needed = found.get("default_member_permissions")
        fence = Permission(int(needed)) if needed is not None else Permission(0)
        hidden = fence not in held or (needed == "0" and Permission.ADMINISTRATOR not in held)
        if hidden or Permission.USE_APPLICATION_COMMANDS not in held:
            raise NotOffered(f"{name!r} is hidden from {user.name}, who lacks {fence & ~held!r}")
        return found

    def slash(
        self, user: User, channel: Channel, path: Sequence[str], values: Mapping[str, Any], focused: str | None = None
    ) -> Pending:
        name, *rest = path
        command = self.command(user, channel, name, CHAT)
        filled = Filled(self._core, channel)
        options = filled.options(command, rest, values, focused)
        data = _command_data(command) | {"options": options}
        if filled.resolved:
            data["resolved"] = filled.resolved
        kind = Asked.COMMAND if focused is None else Asked.AUTOCOMPLETE
        return self.start(Pending(self._core.world.ids.next(), kind, user, channel, command=command), data)

    def menu(self, user: User, channel: Channel, target: User | Message, name: str) -> Pending:
        world = self._core.world
        kind = ON_USER if isinstance(target, User) else ON_MESSAGE
        command = self.command(user, channel, name, kind)
        data = _command_data(command) | {"target_id": str(target.id)}
        if isinstance(target, User):
            data["resolved"] = {"users": {str(target.id): payloads.user(world.user(target.id))}}
            if (member := world.members.get((channel.guild_id or 0, target.id))) is not None:
                data["resolved"]["members"] = {str(target.id): payloads.bare_member(member)}
        else:
            now = world.message(target.channel_id, target.id)
            shown = message_payloads.message(world, now, self._core.cdn)
            data["resolved"] = {"messages": {str(target.id): shown}}
        return self.start(Pending(world.ids.next(), Asked.COMMAND, user, channel, command=command), data)

    def press(self, user: User, message: Message, custom_id: str) -> Pending:
        source = self.seen(user, message)
        part = component(source, custom_id, {BUTTON})
        return self._used(user, source, {"custom_id": custom_id, "component_type": part["type"], "id": part["id"]})

    def select(self, user: User, message: Message, custom_id: str, values: Sequence[Any]) -> Pending:
        source = self.seen(user, message)
        part = component(source, custom_id, SELECTS)
        low, high = part.get("min_values", 1), part.get("max_values", 1)
        if not low <= len(values) <= high:
            raise NotOffered(f"{custom_id!r} takes {low} to {high} values, not {len(values)}")
        data: JSON = {"custom_id": custom_id, "component_type": part["type"], "id": part["id"]}
        if part["type"] == STRING_SELECT:
            offered = [one["value"] for one in part["options"]]
            if unknown := [one for one in values if one not in offered]:
                raise NotOffered(f"{custom_id!r} offers {offered}, not {unknown}")
            data["values"] = list(values)
        else:
            filled = Filled(self._core, self._core.world.channel(source.channel_id))
            data["values"] = [filled._resolve(custom_id, one) for one in values]
            data["resolved"] = filled.resolved
        return self._used(user, source, data)

    def submit(self, modal: Modal, values: Mapping[str, Any]) -> Pending:
        data: JSON = {"custom_id": modal.custom_id, "components": filled_modal(modal, values)}
        source = modal.source and self.seen(modal.user, modal.source)
        number = self._core.world.ids.next()
        return self.start(Pending(number, Asked.MODAL, modal.user, modal.channel, source=source), data)

    def seen(self, user: User, message: Message) -> Message:
        """The message as it stands now, when the person can see it."""
        world = self._core.world
        found = world.ephemeral.get(message.id) or world.messages.get(message.channel_id, {}).get(message.id)
        if found is None:
            raise NotOffered(f"the message {message.id} is gone")
        if found.ephemeral_for not in {None, user.id}:
            raise NotOffered(f"{user.name} does not see the message {message.id}")
        if Permission.VIEW_CHANNEL not in world.permissions(user.id, world.channel(found.channel_id)):
            raise NotOffered(f"{user.name} does not see the channel")
        return found

    def _used(self, user: User, source: Message, data: JSON) -> Pending:
        world = self._core.world
        channel = world.channel(source.channel_id)
        return self.start(Pending(world.ids.next(), Asked.COMPONENT, user, channel, source=source), data)

    def start(self, pending: Pending, data: JSON) -> Pending:
        """Tell the application of an interaction."""
        self._core.pending[pending.id] = pending
        guild_id = pending.channel.guild_id
        self._core.gateway.emit("INTERACTION_CREATE", self._whole(pending, data), guild_id=guild_id)
        return pending

    def _whole(self, pending: Pending, data: JSON) -> JSON:
        world, channel, user = self._core.world, pending.channel, pending.user
        made: JSON = {
            "id": str(pending.id),
            "application_id": str(world.application_id),
            "type": int(pending.kind),
            "token": pending.token,
            "version": 1,
            "data": data,
            "channel_id": str(channel.id),
            "channel": payloads.channel(world, world.channel(channel.id)),
            "locale": "en-US",
            "app_permissions": str(int(world.permissions(world.bot.id, channel))),
            "entitlements": [],
            "attachment_size_limit": 10 * 1024 * 1024,
        }
        if pending.source is not None:
            made["message"] = message_payloads.message(world, pending.source, self._core.cdn)
        if channel.guild_id is None:
            owners = {"0": "0"}
            return made | {"user": payloads.user(user), "context": 1, "authorizing_integration_owners": owners}
        held = world.permissions(user.id, channel)
        member = payloads.member(world, world.member(channel.guild_id, user.id)) | {"permissions": str(int(held))}
        guild = {"guild_id": str(channel.guild_id), "guild_locale": world.guilds[channel.guild_id].locale}
        owners = {"0": str(channel.guild_id)}
        return made | guild | {"member": member, "context": 0, "authorizing_integration_owners": owners}

    async def answered(self, pending: Pending, *, settle: bool, timeout: float) -> InteractionResult:
        """Wait for the first answer, and of a deferred one for its text.

        Raises:
            InteractionFailed: there was none within three seconds.
            TimeoutError: a deferred answer stayed without a text.
        """
        changes = self._core.changes
        try:
            await changes.until(lambda: pending.callback is not None, self._core.deadline)
        except TimeoutError as error:
            raise InteractionFailed(f"no answer within {self._core.deadline} s") from error
        if settle and pending.thinking:
            await changes.until(lambda: not pending.thinking, timeout, "text for the deferred answer")
        return InteractionResult(self._core, pending)


def _command_data(command: JSON) -> JSON:
    local = {"guild_id": command["guild_id"]} if "guild_id" in command else {}
    return {"id": command["id"], "name": command["name"], "type": command["type"], **local}


def component(message: Message, custom_id: str, kinds: set[int]) -> Mapping[str, Any]:
    """The button or select of that id.

    Raises:
        NotOffered: there is none, or it is disabled.
    """
    every = [one for one in walk(message.components) if "custom_id" in one]
    for one in every:
        if one["custom_id"] == custom_id and one["type"] in kinds:
            if one.get("disabled"):
                raise NotOffered(f"{custom_id!r} is disabled")
            return one
    raise NotOffered(f"there is no {custom_id!r}; there are {[one['custom_id'] for one in every]}")
