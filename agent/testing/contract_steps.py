"""The steps that the tests of the bridge contract share."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from agent.bridge import OutgoingMessage, Sent
from agent.events import MessageCreated
from agent.testing.recording_host import RecordingHost

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agent.contracts.cards import Card
    from agent.identity.keys import ParticipantKey
    from agent.testing.worlds import BridgeWorld

QUIET: Final = 0.1
"""Seconds after which what has not come will not come."""


@contextlib.asynccontextmanager
async def started(world: BridgeWorld) -> AsyncIterator[RecordingHost]:
    """Start the bridge of a world with a host that keeps what it gets; stop it at the end."""
    host = RecordingHost()
    await world.bridge.start(host)
    try:
        yield host
    finally:
        await world.bridge.stop()


def outgoing(
    world: BridgeWorld,
    text: str,
    key: str = "key-1",
    *,
    mentions: tuple[ParticipantKey, ...] = (),
    card: Card | None = None,
) -> OutgoingMessage:
    """Return a message of the agent to the world's channel."""
    return OutgoingMessage(
        key, world.bridge.platform, world.channel, world.server, text, card=card, mentions=mentions, event_id=None
    )


async def heard(world: BridgeWorld, host: RecordingHost, text: str) -> MessageCreated:
    """Let the person say something, and return its event."""
    message_id = await world.say(text)
    event = await host.next(MessageCreated)
    assert event.message_id == message_id, f"{event!r} came instead of {text!r}"
    return event


async def post(world: BridgeWorld, message: OutgoingMessage) -> str:
    """Send a message that must arrive; return its id."""
    outcome = await world.bridge.send(message)
    assert isinstance(outcome, Sent), f"send answered {outcome!r}"
    assert outcome.message_id, "Sent has no message id"
    return outcome.message_id
