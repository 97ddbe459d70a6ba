"""What a message says: its text, its files, and what came with it in words; pure functions over untrusted JSON."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from agent.events import Attachment
from agent.text import clean
from bridges.matrix.rules.relations import POLLS, STICKER, relation_of
from bridges.matrix.rules.values import Json, table, text, texts, whole

_FILES: Final = frozenset({"m.image", "m.file", "m.video", "m.audio"})
_PROFILE: Final = "com.beeper.per_message_profile"
# Whoever writes these texts may write them to keep the agent busy: every repetition ends soon, or at what begins anew.
_FALLBACK_HEAD: Final = re.compile(r"> (?:\* )?<@[^>\n]+>")
_PILL: Final = re.compile(
    r"""<a\s[^<>]{0,200}?href=["']https://matrix\.to/#/(?P<id>(?:@|%40)[^"'?<>]{1,255})[^"'<>]{0,500}["'][^<>]{0,200}>"""
    r"""(?P<label>.{0,300}?)</a>""",
    re.IGNORECASE | re.DOTALL,
)
_LINKED: Final = re.compile(
    r"\[[^\[\]\n]{0,300}\]\(<?https://matrix\.to/#/(?P<id>(?:@|%40)[^()>?\s]{1,255})[^()\s]{0,500}\)"
)
_ID: Final = re.compile(r"@[A-Za-z0-9._=/+-]{1,250}:[A-Za-z0-9.\[\]:-]{1,250}")
_TAG: Final = re.compile(r"<[^>]*>")
_MOST_PILLS: Final = 100
_LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody said, as the core takes it."""

    text: str = ""
    attachments: tuple[Attachment, ...] = ()
    extras: tuple[str, ...] = ()


def said_in(kind: str, content: Json, speaker: str, *, is_reply: bool) -> Said:
    """Return what a message of a type holds.

    Args:
        kind: The type of the event.
        content: What it holds; for an edit its `m.new_content`.
        speaker: The name of whoever says it, for emotes.
        is_reply: Whether the message (an edit's original) names the one that it answers: only then can it begin with a
            quotation that a client made and nobody wrote.

    """
    if kind in POLLS:
        return Said(extras=(_poll(content),))
    if kind == STICKER:
        return Said(extras=(f"sticker: {text(content.get('body'))}",))
    message_type = text(content.get("msgtype"))
    body = clean(text(content.get("body")))
    if message_type in _FILES:
        return _file(content, body)
    if message_type == "m.location":
        return Said(extras=(f"location: {body} ({text(content.get('geo_uri'))})",))
    if is_reply:
        body = without_quotation(body)
    body = _without_profile(content, with_pills(body, text(content.get("formatted_body"))))
    return Said(f"* {speaker} {body}" if message_type == "m.emote" else body)


def without_quotation(body: str) -> str:
    """Return a reply without the quotation that older clients put before it; a quotation of one's own stays."""
    if not _FALLBACK_HEAD.match(body):
        return body
    lines = body.split("\n")
    rest = next((number for number, line in enumerate(lines) if not line.startswith(">")), len(lines))
    return "\n".join(lines[rest:]).removeprefix("\n")


def with_pills(body: str, formatted: str) -> str:
    """Return a text in which each link to a person stands as `<@ID>`, the form that the core knows mentions by.

    Clients write the person's name into the plain text, and whom it means only into the formatted one.
    """
    body = _LINKED.sub(lambda found: f"<@{unquote(found['id'])}>", body)
    done, rest = "", body
    for number, pill in enumerate(_PILL.finditer(formatted)):
        label = html.unescape(_TAG.sub("", pill["label"])).strip()
        before, found, after = rest.partition(label) if label else ("", "", "")
        if number >= _MOST_PILLS:
            break
        if found:
            done, rest = f"{done}{before}<@{unquote(html.unescape(pill['id']))}>", after
    return done + rest


def mentioned_in(content: Json, body: str) -> tuple[str, ...]:
    """Return the ids of those whom a message mentions; where it does not say, those whose ids stand in its text."""
    if isinstance(content.get("m.mentions"), dict):
        return tuple(dict.fromkeys(texts(content["m.mentions"].get("user_ids"))))
    found = _ID.findall(f"{body} {unquote(text(content.get('formatted_body')))}")
    return tuple(dict.fromkeys(each.rstrip(".:") for each in found))


def profile_name(content: Json) -> str:
    """Return the name of the profile that one message is shown under (MSC4144); empty when it has none."""
    return clean(text(table(content.get(_PROFILE)).get("displayname"))).strip()[:_LONGEST_NAME]


def labelled(name: str, profile: str, user_id: str) -> str:
    """Return the name of whoever says something: a profile of its own never hides the account."""
    return f"{profile} (via {user_id})" if profile else name


def is_reply(event: Json) -> bool:
    """Tell whether a message names one that it answers, be it in place of a thread."""
    relates = table(table(event.get("content")).get("m.relates_to"))
    return bool(text(table(relates.get("m.in_reply_to")).get("event_id")) or relation_of(event).answers)


def _without_profile(content: Json, body: str) -> str:
    """Return a text without the name that is put before it for clients that know no profiles."""
    name = profile_name(content)
    is_there = name and table(content.get(_PROFILE)).get("has_fallback") is True
    return body.removeprefix(f"{name}: ") if is_there else body


def _file(content: Json, body: str) -> Said:
    name = clean(text(content.get("filename"))).strip()
    caption = body if name and name != body else ""
    info, encrypted = table(content.get("info")), table(content.get("file"))
    url = json.dumps(dict(encrypted)) if encrypted else text(content.get("url"))
    attachment = Attachment(
        (name or body or "file").replace("/", "_")[:_LONGEST_NAME],
        text(info.get("mimetype")) or "application/octet-stream",
        max(whole(info.get("size")), 0),
        url,
    )
    return Said(caption, (attachment,))


def _poll(content: Json) -> str:
    """Return a poll's question and answers, of either form that Matrix has had."""
    poll = table(content.get("m.poll") or content.get("m.poll.start") or content.get("org.matrix.msc3381.poll.start"))
    answers = poll.get("answers")
    lines = [_words(table(poll.get("question")))]
    lines += [f"- {_words(table(each))}" for each in (answers if isinstance(answers, list) else ())[:20]]
    return "poll: " + "\n".join(lines)


def _words(value: Json) -> str:
    """Return an extensible text: `body`, or `m.text` in one of its forms."""
    found: Iterable[object] = (value.get("body"), value.get("org.matrix.msc1767.text"), value.get("m.text"))
    for each in found:
        if isinstance(each, str) and each:
            return clean(each)
        if isinstance(each, list):
            return clean(next((text(table(part).get("body")) for part in each if text(table(part).get("body"))), ""))
    return ""
