"""What there is of the bridge from its start on, each part made from what it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bridges.matrix.client import Client
from bridges.matrix.commands.answering import Answering
from bridges.matrix.commands.confirming import Offers
from bridges.matrix.commands.serving import Seeing, Serving
from bridges.matrix.direct import DirectRooms
from bridges.matrix.encryption import Encryption
from bridges.matrix.incoming import Incoming
from bridges.matrix.joining import Joining
from bridges.matrix.known import Known
from bridges.matrix.login import Login
from bridges.matrix.media import Media
from bridges.matrix.posting import Posting
from bridges.matrix.reading import Reading
from bridges.matrix.rules.outgoing import Typing
from bridges.matrix.syncing import Syncing
from bridges.matrix.unread import Unread
from bridges.matrix.watching import Watching
from bridges.matrix.world import World

if TYPE_CHECKING:
    from agent.bridge import BridgeHost, State
    from agent.clock import Clock
    from bridges.matrix.settings import MatrixSettings


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that others call."""

    client: Client
    world: World
    encryption: Encryption
    login: Login
    joining: Joining
    syncing: Syncing
    serving: Serving
    posting: Posting
    reading: Reading
    media: Media


def build(host: BridgeHost, state: State, settings: MatrixSettings, clock: Clock) -> Parts:
    """Put the parts together; nothing is asked of the homeserver yet."""
    client, world = Client(settings.homeserver, settings.user), World(settings.user)
    encryption = Encryption(client, state)
    known, media = Known(client, encryption), Media(client)
    reading = Reading(client, world, encryption, known, frozenset(settings.allowed_bots))
    typing = Typing(settings.command_prefix, frozenset(command.path[0] for command in host.commands))
    posting = Posting(client, world, encryption, media, typing)
    incoming = Incoming(world, host, known, encryption, reading)
    joining = Joining(client, world, settings)
    direct = DirectRooms(client, world, state, joining)
    answering = Answering(posting, world, direct, typing, language=settings.language, limit=settings.message_limit)
    seeing, offers = Seeing(world, known, reading, media), Offers(state)
    serving = Serving(host, state, clock, seeing=seeing, answering=answering, offers=offers, settings=settings)
    incoming.commanded, incoming.reacted = serving.message, serving.reaction
    if settings.encryption:
        incoming.unreadable = Unread(encryption, posting, settings.language).take
    watching = Watching(host, world)
    syncing = Syncing(client, world, state, encryption, incoming, watching, joining, reading, clock)
    login = Login(client, settings, state)
    return Parts(client, world, encryption, login, joining, syncing, serving, posting, reading, media)
