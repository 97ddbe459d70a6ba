"""What webhooks say; and, by the same paths with the application's id, what answers an interaction."""

from tests.servers.discord import answering, drafts, hooks, message_payloads, places, posting
from tests.servers.discord.core import Core
from tests.servers.discord.errors import DiscordError, unknown
from tests.servers.discord.journal import Request
from tests.servers.discord.pending import Pending
from tests.servers.discord.records import JSON, Channel, ChannelKind, Message, Webhook
from tests.servers.discord.routing import route

BASE = "/webhooks/{webhook_id}/{webhook_token}"
ONE = BASE + "/messages/{message_id}"
ORIGINAL = BASE + "/messages/@original"
TRUE = {"1", "true", "True"}


def _interaction(core: Core, call: Request) -> Pending | None:
    """The interaction that is meant, when the path holds the application's id."""
    if call.id("webhook_id") != core.world.application_id:
        return None
    return answering.by_token(core, call.params["webhook_token"])


def _webhook(core: Core, call: Request) -> Webhook:
    return core.world.webhook(call.id("webhook_id"), call.params["webhook_token"])


def _place(core: Core, call: Request, webhook: Webhook) -> Channel:
    """Where the webhook speaks: its channel, or a thread of it."""
    home = core.world.channel(webhook.channel_id)
    if "thread_id" not in call.query:
        return home
    thread = core.world.channel(int(call.query["thread_id"]))
    if thread.parent_id != home.id:
        raise unknown("channel")
    return thread


@route("POST", BASE, is_open=True)
def execute(core: Core, call: Request) -> JSON | None:
    pending = _interaction(core, call)
    if pending is not None:
        settable = answering.SETTABLE
        sent = answering.follow_up(core, pending, drafts.draft(call.json, call.uploads, settable=settable))
        return message_payloads.message(core.world, sent, core.cdn)
    webhook = _webhook(core, call)
    place = _place(core, call, webhook)
    draft = drafts.draft(call.json, call.uploads)
    number = None
    if place.kind is ChannelKind.FORUM:
        if not call.json.get("thread_name"):
            raise DiscordError(400, 220001, "Webhooks posted to forum channels must have a thread_name or thread_id")
        place = places.made_thread(core, place, call.json["thread_name"], webhook.id)
        number = place.id
    sent = hooks.execute(core, webhook, place, draft, looks=call.json, message_id=number)
    return core.shown(sent) if call.query.get("wait") in TRUE else None


def _own(core: Core, call: Request) -> Message:
    """A message of this webhook's."""
    webhook = _webhook(core, call)
    found = core.world.message(_place(core, call, webhook).id, call.id("message_id"))
    if found.webhook_id != webhook.id:
        raise unknown("message")
    return found


def _answer_id(pending: Pending, call: Request) -> int:
    if "message_id" in call.params:
        return call.id("message_id")
    if pending.original is None:
        raise unknown("message")
    return pending.original


def _answer(core: Core, call: Request) -> Pending:
    pending = _interaction(core, call)
    if pending is None:
        raise unknown("message")
    return pending


@route("GET", ONE, is_open=True)
def message(core: Core, call: Request) -> JSON:
    pending = _interaction(core, call)
    found = answering.stored(core, pending, _answer_id(pending, call)) if pending else _own(core, call)
    return message_payloads.message(core.world, found, core.cdn)


@route("PATCH", ONE, is_open=True)
def edit(core: Core, call: Request) -> JSON:
    if (pending := _interaction(core, call)) is not None:
        changed = answering.change(core, pending, _answer_id(pending, call), call.json, call.uploads)
    else:
        changed = posting.edit(core, _own(core, call), call.json, call.uploads)
    return message_payloads.message(core.world, changed, core.cdn)


@route("DELETE", ONE, is_open=True)
def delete(core: Core, call: Request) -> None:
    if (pending := _interaction(core, call)) is not None:
        answering.remove(core, pending, _answer_id(pending, call))
    else:
        posting.delete(core, _own(core, call))


@route("GET", ORIGINAL, is_open=True)
def original(core: Core, call: Request) -> JSON:
    _answer(core, call)
    return message(core, call)


@route("PATCH", ORIGINAL, is_open=True)
def edit_original(core: Core, call: Request) -> JSON:
    _answer(core, call)
    return edit(core, call)


@route("DELETE", ORIGINAL, is_open=True)
def delete_original(core: Core, call: Request) -> None:
    _answer(core, call)
    delete(core, call)
