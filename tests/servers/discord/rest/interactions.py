"""The first answer to an interaction."""

from tests.servers.discord import answering, message_payloads
from tests.servers.discord.core import Core
from tests.servers.discord.journal import Request
from tests.servers.discord.records import JSON
from tests.servers.discord.routing import route


@route("POST", "/interactions/{interaction_id}/{interaction_token}/callback", is_open=True)
def callback(core: Core, call: Request) -> JSON | None:
    pending = answering.find(core, call.id("interaction_id"), call.params["interaction_token"])
    answering.first(core, pending, call.json, call.uploads)
    if call.query.get("with_response") not in {"1", "true", "True"}:
        return None
    made: JSON = {
        "interaction": {"id": str(pending.id), "type": int(pending.kind), "response_message_ephemeral": False}
    }
    if pending.original is not None:
        found = answering.stored(core, pending, pending.original)
        made["interaction"] |= {
            "response_message_id": str(found.id),
            "response_message_ephemeral": found.ephemeral_for is not None,
        }
        shown = message_payloads.message(core.world, found, core.cdn)
        made["resource"] = {"type": int(pending.callback or 0), "message": shown}
    return made
