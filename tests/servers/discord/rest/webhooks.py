"""Webhooks themselves: by the bot's right to manage them, and by their token."""

from dataclasses import replace

from tests.servers.discord import hooks, payloads
from tests.servers.discord.core import Core
from tests.servers.discord.errors import DiscordError
from tests.servers.discord.journal import Request
from tests.servers.discord.permissions import Permission
from tests.servers.discord.records import JSON, ChannelKind, Webhook
from tests.servers.discord.rest.channels import readable
from tests.servers.discord.routing import route

HOSTS = {ChannelKind.TEXT, ChannelKind.NEWS, ChannelKind.FORUM, ChannelKind.VOICE}


@route("POST", "/channels/{channel_id}/webhooks")
def create(core: Core, call: Request) -> JSON:
    found = readable(core, call, Permission.MANAGE_WEBHOOKS)
    if found.kind not in HOSTS:
        raise DiscordError(400, 50024, "Cannot execute action on this channel type")
    name = hooks.check_name(str(call.json.get("name") or ""))
    made = hooks.made_webhook(core, found, name, core.world.bot.id, core.world.application_id)
    return payloads.webhook(core.world, made)


@route("GET", "/channels/{channel_id}/webhooks")
def of_channel(core: Core, call: Request) -> list[JSON]:
    found = readable(core, call, Permission.MANAGE_WEBHOOKS)
    return [payloads.webhook(core.world, one) for one in core.world.webhooks.values() if one.channel_id == found.id]


@route("GET", "/guilds/{guild_id}/webhooks")
def of_guild(core: Core, call: Request) -> list[JSON]:
    guild_id = call.id("guild_id")
    core.world.require_in_guild(guild_id, Permission.MANAGE_WEBHOOKS)
    return [payloads.webhook(core.world, one) for one in core.world.webhooks.values() if one.guild_id == guild_id]


def _managed(core: Core, call: Request) -> Webhook:
    found = core.world.webhook(call.id("webhook_id"))
    core.world.require(core.world.channel(found.channel_id), Permission.MANAGE_WEBHOOKS)
    return found


def _held(core: Core, call: Request) -> Webhook:
    return core.world.webhook(call.id("webhook_id"), call.params["webhook_token"])


@route("GET", "/webhooks/{webhook_id}")
def webhook(core: Core, call: Request) -> JSON:
    return payloads.webhook(core.world, _managed(core, call))


@route("GET", "/webhooks/{webhook_id}/{webhook_token}", is_open=True)
def webhook_by_token(core: Core, call: Request) -> JSON:
    shown = payloads.webhook(core.world, _held(core, call))
    shown.pop("user", None)
    return shown


@route("PATCH", "/webhooks/{webhook_id}")
def change(core: Core, call: Request) -> JSON:
    return _changed(core, call, _managed(core, call))


@route("PATCH", "/webhooks/{webhook_id}/{webhook_token}", is_open=True)
def change_by_token(core: Core, call: Request) -> JSON:
    return _changed(core, call, _held(core, call))


def _changed(core: Core, call: Request, found: Webhook) -> JSON:
    body = call.json
    name = hooks.check_name(str(body["name"])) if body.get("name") is not None else found.name
    place = int(body.get("channel_id") or found.channel_id)
    made = replace(found, name=name, channel_id=place, avatar=body.get("avatar", found.avatar))
    core.world.webhooks[made.id] = made
    hooks.told(core, made)
    return payloads.webhook(core.world, made)


@route("DELETE", "/webhooks/{webhook_id}")
def delete(core: Core, call: Request) -> None:
    _delete(core, _managed(core, call))


@route("DELETE", "/webhooks/{webhook_id}/{webhook_token}", is_open=True)
def delete_by_token(core: Core, call: Request) -> None:
    _delete(core, _held(core, call))


def _delete(core: Core, found: Webhook) -> None:
    del core.world.webhooks[found.id]
    hooks.told(core, found)
