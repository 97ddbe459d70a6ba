"""What an application's answers to an interaction do: first answer, follow-ups, edits."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.servers.discord import drafts, posting
from tests.servers.discord.core import Core
from tests.servers.discord.errors import DiscordError, bad_form, unknown
from tests.servers.discord.pending import Asked, Callback, Modal, Pending
from tests.servers.discord.records import JSON, Draft, Message, Upload

LOADING = 1 << 7
SLASH = 20
MENU = 23
CHOICES = 25
SETTABLE = drafts.SETTABLE | drafts.EPHEMERAL

type Uploads = Mapping[int, Upload]


def find(core: Core, interaction_id: int, token: str) -> Pending:
    """The interaction that is to be answered first.

    Raises:
        DiscordError: 10062, it is unknown or waited too long; 40060, it has been answered.
    """
    pending = core.pending.get(interaction_id)
    if pending is None or pending.token != token:
        raise unknown("interaction")
    if pending.callback is not None:
        raise DiscordError(400, 40060, "Interaction has already been acknowledged.")
    if time.monotonic() - pending.born > core.deadline:
        raise unknown("interaction")
    return pending


def by_token(core: Core, token: str) -> Pending:
    """The interaction that is to be answered further."""
    for pending in core.pending.values():
        if pending.token == token:
            if pending.expired:
                raise DiscordError(401, 50027, "Invalid Webhook Token")
            return pending
    raise unknown("webhook")


def first(core: Core, pending: Pending, body: JSON, uploads: Uploads) -> None:
    """Carry out the first answer."""
    try:
        kind = Callback(body.get("type", 0))
    except ValueError:
        raise bad_form("type", "BASE_TYPE_CHOICES", f"{body.get('type')!r} is no type of callback.") from None
    data: JSON = body.get("data") or {}
    match kind:
        case Callback.MESSAGE:
            say(core, pending, drafts.draft(data, uploads, settable=SETTABLE))
        case Callback.DEFERRED_MESSAGE:
            pending.thinking = True
            pending.hidden = bool(int(data.get("flags") or 0) & drafts.EPHEMERAL)
            say(core, pending, Draft(flags=LOADING | (drafts.EPHEMERAL if pending.hidden else 0)))
        case Callback.DEFERRED_UPDATE | Callback.UPDATE:
            update(core, pending, data if kind is Callback.UPDATE else None, uploads)
        case Callback.CHOICES:
            choose(pending, data)
        case Callback.MODAL:
            open_modal(pending, data)
        case Callback.PONG:
            raise bad_form("type", "BASE_TYPE_CHOICES", "A pong answers a ping only.")
    pending.callback = kind
    core.changes.notify()


def say(core: Core, pending: Pending, draft: Draft) -> Message:
    """Post a message of the application's in answer."""
    if pending.kind is Asked.AUTOCOMPLETE:
        raise bad_form("type", "BASE_TYPE_CHOICES", "Autocompletion is answered with choices.")
    world = core.world
    first_one = pending.original is None and pending.callback is None
    extra: dict[str, Any] = {
        "application_id": world.application_id,
        "webhook_id": world.application_id,
        "interaction": metadata(pending),
    }
    if draft.flags & drafts.EPHEMERAL:
        extra["ephemeral_for"] = pending.user.id
    kind = 0
    if first_one and pending.command is not None:
        kind = SLASH if pending.command["type"] == 1 else MENU
    made = posting.post(core, pending.channel, world.bot, replace(draft, kind=kind, extra=extra))
    pending.message_ids.append(made.id)
    if first_one:
        pending.original = made.id
    return made


def metadata(pending: Pending) -> JSON:
    person = {"id": str(pending.user.id), "username": pending.user.name, "discriminator": "0", "avatar": None}
    named = {"name": pending.command["name"]} if pending.command is not None else {}
    return {
        "id": str(pending.id),
        "type": int(pending.kind),
        "user": person,
        "authorizing_integration_owners": {"0": str(pending.channel.guild_id or 0)},
        **named,
    }


def update(core: Core, pending: Pending, data: JSON | None, uploads: Uploads) -> None:
    """Change the message whose component was used; None: later."""
    if pending.source is None:
        raise bad_form("type", "BASE_TYPE_CHOICES", "Only what a component started can update a message.")
    pending.original = pending.source.id
    if data is not None:
        posting.edit(core, stored(core, pending, pending.source.id), data, uploads)
    if pending.source.id not in pending.message_ids:
        pending.message_ids.append(pending.source.id)


def choose(pending: Pending, data: JSON) -> None:
    choices = data.get("choices")
    if pending.kind is not Asked.AUTOCOMPLETE or not isinstance(choices, list):
        raise bad_form("data.choices", "BASE_TYPE_REQUIRED", "Choices answer autocompletion.")
    if len(choices) > CHOICES:
        raise bad_form("data.choices", "BASE_TYPE_MAX_LENGTH", f"Must be {CHOICES} or fewer in length.")
    pending.choices = choices


def open_modal(pending: Pending, data: JSON) -> None:
    if pending.kind in {Asked.MODAL, Asked.AUTOCOMPLETE}:
        raise bad_form("type", "BASE_TYPE_CHOICES", "A modal cannot answer this.")
    parts = tuple(drafts.numbered(data.get("components") or ()))
    pending.modal = Modal(data["custom_id"], data["title"], parts, pending.user, pending.channel, pending.source)


def follow_up(core: Core, pending: Pending, draft: Draft) -> Message:
    """A further message; the first one after a deferral fills the message that was promised."""
    if pending.callback is None:
        raise unknown("webhook")
    if pending.thinking and pending.original is not None and pending.original not in pending.deleted:
        return fill(core, pending, draft)
    return say(core, pending, draft)


def fill(core: Core, pending: Pending, draft: Draft) -> Message:
    promised = stored(core, pending, pending.original or 0)
    pending.thinking = False
    said = replace(draft, flags=promised.flags & ~LOADING | draft.flags & ~drafts.EPHEMERAL)
    built = posting.build(core, pending.channel, promised.author, said, message_id=promised.id)
    made = replace(
        built,
        kind=promised.kind,
        webhook_id=promised.webhook_id,
        application_id=promised.application_id,
        interaction=promised.interaction,
        ephemeral_for=promised.ephemeral_for,
    )
    posting.store(core, made)
    core.emit_message("MESSAGE_UPDATE", made)
    return made


def change(core: Core, pending: Pending, message_id: int, body: JSON, uploads: Uploads) -> Message:
    """Edit one of the messages in answer."""
    found = stored(core, pending, message_id)
    if message_id == pending.original and pending.thinking:
        pending.thinking = False
        found = replace(found, flags=found.flags & ~LOADING)
    return posting.edit(core, found, body, uploads)


def remove(core: Core, pending: Pending, message_id: int) -> None:
    posting.delete(core, stored(core, pending, message_id))
    pending.deleted.add(message_id)
    pending.thinking = False if message_id == pending.original else pending.thinking
    core.changes.notify()


def stored(core: Core, pending: Pending, message_id: int) -> Message:
    """A message that belongs to this interaction."""
    if message_id not in pending.message_ids and message_id != pending.original:
        raise unknown("message")
    if message_id in core.world.ephemeral:
        return core.world.ephemeral[message_id]
    return core.world.message(pending.channel.id, message_id)
