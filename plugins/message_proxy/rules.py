"""Who said a webhook's message, as far as services vouch for it: pure. Names, times and nearness prove nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from agent.events import MessageCreated, Reply
from plugins.message_proxy.values import Claim, Expectation, Failed, Found, Instance, Lookup, Outcome

_LINK: Final = re.compile(r"https://discord\.com/channels/(\d+)/(\d+)/(\d+)")
_REPLY: Final = re.compile(
    r"embed: [^\n]*\u2004\u21a9\ufe0f\n"  # whom it answers, and the sign that services put behind that
    r"(?:\*\*\[Reply to:\]|\*\[\(click to see attachment\)\])"
    r"\(https://discord\.com/channels/(\d{1,20})/(\d{1,20})/(\d{1,20})\)"
)
LIVE: Final = timedelta(seconds=10)
"""How far an original and its repost may lie apart; by their own times, so that a restart changes nothing."""


def may_have_posted(application_id: str | None, instances: Sequence[Instance]) -> tuple[Instance, ...]:
    """Return the instances that may have posted a webhook's message.

    An application that belongs to one of them is that one; any other may be any whose application is not certain.
    """
    if application_id is not None:
        known = [each for each in instances if application_id in {each.application_id, each.learned}]
        if known:
            return tuple(known)
    return tuple(each for each in instances if each.application_id is None)


def is_live(expectation: Expectation, repost: MessageCreated) -> bool:
    """Tell whether a message may be the repost of another one: same channel, and said at about the same time."""
    original = expectation.event
    return (
        original.platform == repost.platform
        and original.channel.external_id == repost.channel.external_id
        and abs(repost.occurred_at - original.occurred_at) <= LIVE
    )


def fitting(
    instance: Instance, found: Found, repost: MessageCreated, expectations: Iterable[Expectation]
) -> Claim | None:
    """Return what an answer of a service attests; None when anything is missing or does not fit.

    The answer must be about the very message that was asked for (an edit's command leads to the edited message too),
    in this channel, by an account that uses this instance and has just said what was reposted.
    """
    if found.message_id != repost.message_id or found.channel_id != repost.channel.external_id:
        return None
    if found.member is None or found.system_key is None:
        return None
    live = [
        each
        for each in expectations
        if each.instance_id == instance.instance_id and each.sender_id == found.sender_id and is_live(each, repost)
    ]
    if instance.descriptor.names_original:
        live = [each for each in live if each.event.message_id == found.original_id]
    if len(live) != 1:  # of several that would fit none is chosen
        return None
    return Claim(instance, found, found.member, found.system_key, live[0])


def settle(
    lookups: Mapping[Instance, Lookup], repost: MessageCreated, expectations: Sequence[Expectation]
) -> Claim | Outcome:
    """Return the one claim to a message, or why it is nobody's.

    Two services that know it contradict each other, whatever the rest fits; and while one that may know it does not
    answer, nobody else's word counts.
    """
    known = [(instance, found) for instance, found in lookups.items() if isinstance(found, Found)]
    if len(known) > 1:
        return Outcome.CONFLICTING
    if any(isinstance(each, Failed) for each in lookups.values()):
        return Outcome.UNAVAILABLE
    for instance, found in known:
        if (claim := fitting(instance, found, repost, expectations)) is not None:
            return claim
    return Outcome.UNMATCHED


def is_command(text: str, prefixes: Sequence[str]) -> bool:
    """Tell whether a text is an order to a service, such as `pk;reproxy`, whose repost is no new utterance."""
    folded = text.lstrip().casefold()
    return any(folded.startswith(prefix.casefold()) for prefix in prefixes)


def without_content(event: MessageCreated) -> MessageCreated:
    """Return what is kept of an original: who said it where and to whom, and not what."""
    reply = None if event.reply is None else replace(event.reply, text="")
    return replace(event, text="", attachments=(), extras=(), reply=reply)


def answered_in(repost: MessageCreated, instance: Instance) -> str | None:
    """Return the id of the message that an attested repost answers by the embed that its service puts there.

    Only the first embed counts, and only its first link, into the same channel; and only where the service's own
    application posted it through a webhook: anybody can post a link whose preview looks alike.
    """
    own = {instance.application_id, instance.learned} - {None}
    if repost.webhook_id is None or repost.application_id not in own:
        return None
    shown = next((each for each in repost.extras if each.startswith("embed:")), "")
    found = _REPLY.match(shown)
    here = (repost.server.external_id, repost.channel.external_id)
    return found[3] if found is not None and found.groups()[:2] == here else None


def _links(extra: str, event: MessageCreated, reply: Reply) -> bool:
    """Tell whether the first link of an embed leads to a message of this channel that is answered."""
    found = _LINK.search(extra) if extra.startswith("embed:") else None
    where = (event.server.external_id, event.channel.external_id, reply.message_id)
    return found is not None and found.groups() == where


def merged(repost: MessageCreated, original: MessageCreated) -> MessageCreated:
    """Return a repost as the account's own message: its words, and what the original was an answer to.

    The agent was addressed when either says so: services take mentions and replies away. In the place of a reply they
    put an embed that links to what is answered; the reply itself is known from the original, so the embed goes.
    """
    reply = original.reply if repost.reply is None else repost.reply
    return replace(
        repost,
        extras=repost.extras
        if reply is None
        else tuple(each for each in repost.extras if not _links(each, repost, reply)),
        author=original.author,
        mentions_agent=repost.mentions_agent or original.mentions_agent,
        mentions=tuple(dict.fromkeys((*repost.mentions, *original.mentions))),
        reply=reply,
        persona=repost.persona or original.persona,
    )
