"""What a bridge must be: the protocol that the contract suite in `agent.testing` checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from agent.contracts.cards import Card
from agent.directory_changes import DirectoryChange
from agent.events import Attachment, Author, Event
from agent.files import ReplyFile, TextFile
from agent.identity.keys import ParticipantKey
from agent.places import ChannelRef, ServerKind, ServerRef

if TYPE_CHECKING:
    from agent.ailments import Ailment
    from agent.commands import Choice, Command, CommandCall, CommandReply
    from agent.hookspecs import Health
    from agent.relaying.services import Relaying


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a platform can do, as far as the core must know."""

    message_limit: int
    """Longest text of one message, in the platform's own units."""
    has_idempotency_key: bool
    """Whether sending twice under one key delivers once (Matrix transaction id, Discord nonce)."""
    typing: bool = True
    length_unit: str = "characters"
    """`characters`, `utf16` or `bytes`: what `message_limit` and `card_limit` count."""
    card_limit: int = 4096
    """Longest texts of one card, its title and everything below it together; longer ones come shortened."""
    actions: bool = False
    """Whether a card can have buttons (`Card.actions`); elsewhere people type the commands."""
    files: bool = True
    """Whether a file can go with a message (`OutgoingMessage.file`)."""
    withdraws: bool = True
    """Whether the agent's own messages can be deleted; where not, that is said and counted."""
    edits: bool = True
    """Whether the agent's own messages can get another text."""
    persona_keys: bool = True
    """Whether a persona's messages have an idempotency key as well. Where not, as with Discord's webhooks, they have it
    in direct conversations alone, in which every persona speaks as the agent."""
    key_seconds: float | None = None
    """How long the platform remembers a key; None: longer than anything is tried again."""
    persona_room: int = 0
    """Units of each of a persona's messages that the bridge needs itself: for a name in front, or what is answered."""
    code_files: bool = False
    """Whether code that is longer than a message goes as a file (`OutgoingMessage.code`)."""
    card_measure: Callable[[str], int] | None = None
    """What `card_limit` counts of a card's texts, where they grow on their way out; None: `length_unit`."""

    def has_key(self, message: OutgoingMessage) -> bool:
        """Tell whether sending that message twice, within `key_seconds`, delivers it once."""
        is_keyed = self.persona_keys or message.persona_name is None or message.server.kind is ServerKind.DIRECT
        return self.has_idempotency_key and is_keyed


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """One part of an answer, or one notice, as it stands in the outbox."""

    key: str
    """Unique for (event, part): the idempotency key."""
    platform: str
    channel: ChannelRef
    server: ServerRef
    text: str
    reply_to: str | None = None
    """The platform's message id that is answered."""
    card: Card | None = None
    """A notice instead of plain text."""
    mentions: tuple[ParticipantKey, ...] = ()
    """The only accounts that may be pinged: each stands in the text as `<@ID>`, which the bridge gives its own form
    (`agent.identity.mentions.give_form`); everything else in the text is plain text."""
    persona_name: str | None = None
    """Set when the speaker is not the agent under its own name: another persona, or a default one that was renamed."""
    persona_avatar: str | None = None
    persona_id: int | None = None
    event_id: str | None = None
    """The event that is answered."""
    part: int = 0
    """Which part of the answer this is, from 0."""
    asker: ParticipantKey | None = None
    """Whose message led to this: what was not sent yet is taken back when that person is forgotten."""
    file: ReplyFile | None = None
    """Goes with the message; set on its way out and never kept."""
    code: TextFile | None = None
    """Code that is too long for a message; `file` is made of it on the way out."""
    made_at: datetime | None = None
    """Since when it may have been posted; set when it is looked for (`Bridge.find_sent`) and never kept."""
    replaces: str | None = None
    """The message of the agent that gets this text instead, because the question was edited."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message of the agent as it stands on its platform."""

    platform: str
    channel_id: str
    """The channel's id on the platform."""
    message_id: str


@dataclass(frozen=True, slots=True)
class Sent:
    """The platform has it."""

    message_id: str


@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """The call was made and nothing came back: it is read back from history where there is no key."""

    reason: str


class BridgeStartFailed(Exception):
    """A bridge did not start; the text is one line for the operator, with the way out."""


class SendFailed(Exception):
    """The platform refused; nothing was posted.

    `retry_after` is in seconds; None means that trying again does not help.
    """

    def __init__(self, reason: str, *, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class HistoryMessage:
    """One earlier message of a channel."""

    message_id: str
    author: Author
    text: str
    occurred_at: datetime
    from_agent: bool = False
    """Said by the agent or one of its personas."""
    reply_to: str | None = None
    """The message that it answers."""
    attachments: tuple[Attachment, ...] = ()
    extras: tuple[str, ...] = ()
    """What came with the text, described: embeds, polls, stickers, what was forwarded. Untrusted like the text."""


class State(Protocol):
    """What a bridge keeps across restarts: short texts by key, of that bridge alone."""

    async def get(self, key: str) -> str | None:
        """Return a value; None when there is none."""
        ...

    async def below(self, prefix: str) -> dict[str, str]:
        """Return every value whose key begins with `prefix`, by key."""
        ...

    async def put(self, values: Mapping[str, str], *, secret: bool = False) -> None:
        """Keep values; what stood under their keys is replaced. Secrets are encrypted at rest."""
        ...

    async def remove(self, *keys: str) -> None:
        """Forget values; those that are not there are no error."""
        ...


class BridgeHost(Protocol):
    """What the core gives to a bridge."""

    @property
    def commands(self) -> Sequence[Command]:
        """Every command of the core and the plugins."""
        ...

    async def receive(self, event: Event) -> None:
        """Take an event; returns when its row is committed, so that the bridge may then acknowledge it."""
        ...

    async def observe(self, change: DirectoryChange) -> None:
        """Take what is so now of members, channels or a server; returns when it is committed.

        Bridges tell every member when they start, and each change as it happens; telling it again does no harm, and of
        one server the changes count in the order in which they were told.
        """
        ...

    async def run_command(
        self,
        path: tuple[str, ...],
        options: dict[str, Any],
        server: ServerRef,
        channel: ChannelRef,
        author: Author,
    ) -> CommandReply:
        """Run a command after checking rights; failures come back as a reply with `ok=False`."""
        ...

    def state(self, bridge: str) -> State:
        """Return what the bridge of that name keeps."""
        ...

    def folder(self, bridge: str) -> Path:
        """Return the directory of the bridge of that name, for files that must be its own; it may not exist yet."""
        ...

    async def own_messages(self, platform: str, message_ids: Sequence[str]) -> Mapping[str, int | None]:
        """Return those of the messages that the agent has sent, each with its persona; None is the default one."""
        ...

    async def relayed(self, server: ServerRef, message_ids: Sequence[str]) -> Mapping[str, Author]:
        """Return those of the messages that were posted for people from elsewhere, each with who said it."""
        ...

    def trusts(self, platform: str, webhook_id: str) -> bool:
        """Tell whether an administrator has named a webhook as another bridge's, whose people count as people."""
        ...

    @property
    def relaying(self) -> Relaying:
        """What a bridge needs that joins conversations of two platforms."""
        ...

    async def suggest(self, call: CommandCall, option: str, typed: str) -> Sequence[Choice]:
        """Return what an option may be, best first; nothing when it offers nothing or that failed."""
        ...

    async def prefill(self, call: CommandCall, option: str) -> str:
        """Return what a form holds at first for a long text; empty when there is nothing or that failed."""
        ...

    async def ailment(self) -> Ailment | None:
        """Return what keeps the agent from answering just now; None when nothing is known to."""
        ...

    async def stop_turn(self, server: ServerRef, channel: ChannelRef) -> bool:
        """Abort the running turn of that channel and drop what waits; tell whether there was one."""
        ...


@runtime_checkable
class TellsLosses(Protocol):
    """A bridge that can tell people of messages that did not reach them; others leave that to the log."""

    def undelivered(self, message: OutgoingMessage, reason: str) -> None:
        """Tell whoever asked, where that can be done, that a message was given up; returns at once, never raises."""
        ...


@runtime_checkable
class KnowsRights(Protocol):
    """A bridge that knows what it may do in a channel, where that differs from its capabilities."""

    def may_post(self, message: OutgoingMessage) -> bool:
        """Tell whether such a message may be posted where it belongs; True where that is not known."""
        ...

    def may_send_files(self, channel: ChannelRef) -> bool:
        """Tell whether files may go with messages there; True where that is not known."""
        ...


@runtime_checkable
class HasCommands(Protocol):
    """A bridge that has commands of its own, offered by every bridge like those of plugins."""

    def commands(self) -> Sequence[Command]:
        """Return them; asked once, before any bridge is started."""
        ...


class Bridge(Protocol):
    """One platform's adapter. A class with `__init__(self, settings)`; its `Settings` is a pydantic model."""

    name: str
    platform: str
    capabilities: Capabilities

    def identity(self) -> str:
        """Return what only one process may hold at a time (a bot's account id or token hash); empty when nothing."""
        ...

    def agent_keys(self) -> frozenset[ParticipantKey]:
        """Return the agent's own accounts and webhooks on the platform, as far as they are known by now."""
        ...

    async def start(self, host: BridgeHost) -> None:
        """Connect and begin to bring events; returns when the bridge is ready."""
        ...

    async def stop(self) -> None:
        """Stop bringing events and close."""
        ...

    async def send(self, message: OutgoingMessage) -> Sent | OutcomeUnknown:
        """Post one message under its key.

        Raises:
            SendFailed: the platform refused, and nothing was posted.
        """
        ...

    async def find_sent(self, message: OutgoingMessage) -> Sent | None:
        """Read back from history whether a message of unknown outcome was posted, in or after `message.made_at`.

        None says that it was not; whatever is raised leaves it unknown.
        """
        ...

    async def edit(self, message_id: str, message: OutgoingMessage) -> None:
        """Give a message of the agent the text and card of another one; doing it twice is harmless.

        Raises:
            SendFailed: the platform refused, or the message is gone.
        """
        ...

    async def withdraw(self, message: SentMessage) -> None:
        """Delete a message of the agent; one that is gone already is done.

        Raises:
            SendFailed: the platform refused.
        """
        ...

    async def history(self, server: ServerRef, channel: ChannelRef, limit: int) -> Sequence[HistoryMessage]:
        """Return the last messages of a channel, oldest first, at most `limit`."""
        ...

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """Return what a file holds that came with a message.

        Raises:
            agent.files.FileRefused: it cannot be read, or holds more than `limit` bytes.
        """
        ...

    async def typing(self, channel: ChannelRef) -> None:
        """Show that an answer is being written."""
        ...


@runtime_checkable
class HasHealth(Protocol):
    """What a bridge may have besides: `isthmus doctor` asks it, without starting it."""

    async def health(self) -> Sequence[Health]:
        """Return lines for what is well and what is not, such as a token that is refused."""
        ...
