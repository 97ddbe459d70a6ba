"""From an admitted message to a turn: who takes part, what was said before, which settings hold."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agent import logs
from agent.events import Author
from agent.identity.keys import ParticipantKind
from agent.identity.names import normalise
from agent.preferences_repository import read_rows
from agent.store.revisions import read as read_revisions
from agent.turn.values import Turn, server_owner, user_owner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agent.bridge import Bridge, HistoryMessage
    from agent.contracts.people import Account, Participant, Speaker
    from agent.core import Core
    from agent.hookspecs import Attribution
    from agent.identity.keys import ParticipantKey
    from agent.plugin_host import PluginHost
    from agent.turn.job import Job

log = logs.get_logger(__name__)

HISTORY_MESSAGES: Final = 40
HISTORY_DEADLINE: Final = 5.0
"""Seconds that a platform may take for its history; without it the turn goes on."""


async def history_of(job: Job, bridge: Bridge | None) -> tuple[HistoryMessage, ...]:
    """Return what was said before this message in its channel, oldest first."""
    if bridge is None:
        return ()
    try:
        async with asyncio.timeout(HISTORY_DEADLINE):
            messages = await bridge.history(job.event.server, job.event.channel, HISTORY_MESSAGES + 1)
    except Exception as error:  # noqa: BLE001 - a platform's failure costs comfort, not the answer
        log.warning("history_unavailable", platform=job.event.platform, error=type(error).__name__)
        return ()
    return _before(job, messages)


def _before(job: Job, messages: Sequence[HistoryMessage]) -> tuple[HistoryMessage, ...]:
    """Return what was said before the message that is answered."""
    ids = [message.message_id for message in messages]
    if job.event.message_id in ids:
        messages = messages[: ids.index(job.event.message_id)]
    return tuple(messages[-HISTORY_MESSAGES:])


async def attributed(
    hooks: PluginHost, platform: str, history: tuple[HistoryMessage, ...]
) -> tuple[tuple[HistoryMessage, ...], Mapping[ParticipantKey, tuple[Speaker, ParticipantKey]]]:
    """Return the history with proxied identities as the authors of what they said, and who they are.

    One question for the whole history, and none where no webhook has posted or no plugin knows.
    """
    posted = [
        said.message_id for said in history if said.author.kind is ParticipantKind.WEBHOOK and not said.from_agent
    ]
    if not posted or not hooks.implements("attribute_messages"):
        return history, {}
    found: Mapping[str, Attribution] = (
        await hooks.first("attribute_messages", platform=platform, message_ids=posted) or {}
    )

    def told(said: HistoryMessage) -> HistoryMessage:
        if said.author.kind is not ParticipantKind.WEBHOOK or (known := found.get(said.message_id)) is None:
            return said
        who = known.speaker
        return replace(said, author=Author(who.key.kind, who.key.id, who.display_name))

    people = {known.speaker.key: (known.speaker, known.account) for known in found.values()}
    return tuple(map(told, history)), people


def may_be_shown(message: HistoryMessage, participants: Sequence[Participant]) -> bool:
    """Tell whether an earlier message may be shown: by the agent, or by somebody who neither hides nor was forgotten.

    Who is hidden is no participant, except as the speaker, who sees their own words.
    """
    if message.from_agent:
        return True
    author = next((person for person in participants if person.speaker.key == message.author.key), None)
    if author is None:
        return False
    forgotten = author.account.forgotten_before
    return forgotten is None or message.occurred_at > forgotten


async def prepare(
    job: Job, core: Core, bridge: Bridge | None, *, turn_id: str, attempt: int, impersonating: Account | None = None
) -> Turn:
    """Gather what is known for a turn. Reads only."""
    history, proxied = await attributed(core.hooks, job.event.platform, await history_of(job, bridge))
    keys = await _who(job, core, history)
    participants = await core.people.participants(job.place, keys, job.speaker, (job.persona.nickname,), proxied)
    async with core.store.connection() as conn:
        chosen = await read_rows(conn, job.place.server.server_id, job.account.account_id)
        revisions = await read_revisions(conn, _owners(job, participants))
    server_id = job.place.server.server_id
    persona = await core.personas.current(job.persona, revisions.get(server_owner(server_id)))
    return Turn(
        turn_id=turn_id,
        event=job.event,
        place=job.place,
        account=job.account,
        speaker=job.speaker,
        persona=persona,
        bot_name=persona.nickname,
        now=core.clock.now(),
        why=job.why,
        attempt=attempt,
        participants=participants,
        history=tuple(message for message in history if may_be_shown(message, participants)),
        impersonating=impersonating,
        bot_keys=bridge.agent_keys() if bridge is not None else frozenset(),
        preferences=core.preferences.in_force(chosen.server, chosen.person),
        revisions=revisions,
    )


async def _named(job: Job, core: Core) -> tuple[Account, ...]:
    """Return the members whom the text names; nobody by a name that a proxied identity of the server bears too."""
    named = await core.people.known_names_in(job.event.text, job.place)
    if not named or not core.hooks.implements("identities_here"):
        return named
    given: list[Sequence[Attribution]] = await core.hooks.collect(
        "identities_here", server_id=job.place.server.server_id
    )
    taken = {normalise(each.speaker.display_name) for some in given for each in some}
    return tuple(each for each in named if not taken & {normalise(each.display_name), normalise(each.username or "")})


async def _who(job: Job, core: Core, history: Sequence[HistoryMessage]) -> tuple[ParticipantKey, ...]:
    """Return who takes part: the speaker, who is mentioned or asked about by name, who spoke lately."""
    spoke = [message.author.key for message in reversed(history) if not message.from_agent]
    named = await _named(job, core)
    reply = job.event.reply
    answered = [reply.author.key] if reply is not None and reply.author is not None and not reply.to_agent else []
    others = dict.fromkeys([*answered, *job.event.mentions, *(account.key for account in named), *spoke])
    others.pop(job.speaker.key, None)
    return (job.account.key, *others)


def _owners(job: Job, participants: Sequence[Participant]) -> list[str]:
    users = {person.speaker.user_id for person in participants if person.speaker.user_id is not None}
    return [server_owner(job.place.server.server_id), *(user_owner(user_id) for user_id in sorted(users))]
