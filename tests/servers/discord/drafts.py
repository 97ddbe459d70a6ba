"""From the body of a request to a draft, and the limits that a message has to keep."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.servers.discord.errors import DiscordError, bad_form
from tests.servers.discord.records import JSON, Draft, Upload

CONTENT = 2000
EMBEDS = 10
EMBED_TOTAL = 6000
UPLOAD = 10 * 1024 * 1024
UPLOADS = 10
COMPONENTS_V2 = 1 << 15
SUPPRESS_EMBEDS = 1 << 2
SUPPRESS_NOTICES = 1 << 12
SETTABLE = SUPPRESS_EMBEDS | SUPPRESS_NOTICES | COMPONENTS_V2
EPHEMERAL = 1 << 6
V2_COMPONENTS = 40
ROWS = 5
ROW = 5
ACTION_ROW = 1
BUTTON = 2
TEXTS = {"title": 256, "description": 4096, "footer.text": 2048, "author.name": 256}
FIELD_TEXTS = {"name": 256, "value": 1024}
FIELDS = 25


def draft(body: Mapping[str, Any], uploads: Mapping[int, Upload], *, settable: int = SETTABLE) -> Draft:
    """What a request wants to say.

    Raises:
        DiscordError: it breaks one of Discord's limits, or says nothing.
    """
    made = Draft(
        content=str(body.get("content") or "").strip(),
        embeds=tuple(rich(one) for one in body.get("embeds") or ()),
        components=tuple(numbered(body.get("components") or ())),
        uploads=described(body, uploads),
        allowed_mentions=body.get("allowed_mentions"),
        reference=body.get("message_reference"),
        poll=body.get("poll"),
        sticker_ids=tuple(int(one) for one in body.get("sticker_ids") or ()),
        flags=int(body.get("flags") or 0) & settable,
        nonce=None if body.get("nonce") is None else str(body["nonce"]),
    )
    check(made)
    return made


def described(body: Mapping[str, Any], uploads: Mapping[int, Upload]) -> tuple[Upload, ...]:
    """The uploads with the names and descriptions that `attachments` gives them."""
    said = {str(one["id"]): one for one in body.get("attachments") or () if "id" in one}
    made = []
    for number, upload in sorted(uploads.items()):
        about = said.get(str(number), {})
        name = about.get("filename") or upload.filename
        made.append(Upload(name, upload.data, upload.content_type, about.get("description")))
    return tuple(made)


def rich(embed: JSON) -> JSON:
    return {"type": "rich", **embed}


def check(made: Draft, *, empty_is_fine: bool = False) -> None:
    """Refuse what breaks a limit."""
    if len(made.content) > CONTENT:
        raise bad_form("content", "BASE_TYPE_MAX_LENGTH", f"Must be {CONTENT} or fewer in length.")
    if len(made.uploads) > UPLOADS:
        raise bad_form("attachments", "BASE_TYPE_MAX_LENGTH", f"Must be {UPLOADS} or fewer in length.")
    if sum(len(one.data) for one in made.uploads) > UPLOAD:
        raise DiscordError(413, 40005, "Request entity too large")
    _check_embeds(made.embeds)
    _check_components(made)
    parts = (made.content, made.embeds, made.components, made.uploads, made.poll, made.sticker_ids)
    is_forward = made.reference is not None and made.reference.get("type") == 1
    if not empty_is_fine and not is_forward and not any(parts):
        raise DiscordError(400, 50006, "Cannot send an empty message")


def _check_embeds(embeds: Sequence[JSON]) -> None:
    if len(embeds) > EMBEDS:
        raise bad_form("embeds", "BASE_TYPE_MAX_LENGTH", f"Must be {EMBEDS} or fewer in length.")
    total = 0
    for at, embed in enumerate(embeds):
        fields = embed.get("fields") or ()
        if len(fields) > FIELDS:
            raise bad_form(f"embeds.{at}.fields", "BASE_TYPE_MAX_LENGTH", f"Must be {FIELDS} or fewer in length.")
        texts = [(path, _at(embed, path), limit) for path, limit in TEXTS.items()]
        for number, one in enumerate(fields):
            texts += [(f"fields.{number}.{key}", one.get(key) or "", limit) for key, limit in FIELD_TEXTS.items()]
        for path, text, limit in texts:
            total += len(text)
            if len(text) > limit:
                raise bad_form(f"embeds.{at}.{path}", "BASE_TYPE_MAX_LENGTH", f"Must be {limit} or fewer in length.")
    if total > EMBED_TOTAL:
        raise bad_form("embeds", "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {EMBED_TOTAL}")


def _at(embed: JSON, path: str) -> str:
    found: Any = embed
    for part in path.split("."):
        found = (found or {}).get(part)
    return found or ""


def _check_components(made: Draft) -> None:
    every = list(walk(made.components))
    ids = [one["custom_id"] for one in every if "custom_id" in one]
    if len(set(ids)) != len(ids):
        raise bad_form("components", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
    if made.flags & COMPONENTS_V2:
        if made.content or made.embeds or made.poll or made.sticker_ids:
            raise bad_form(
                "content",
                "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
                "The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2",
            )
        if len(every) > V2_COMPONENTS:
            raise bad_form("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", f"At most {V2_COMPONENTS}.")
        return
    if any(one["type"] != ACTION_ROW for one in made.components):
        raise bad_form("components.0", "UNION_TYPE_CHOICES", 'Value of field "type" must be one of (1,).')
    if len(made.components) > ROWS:
        raise bad_form("components", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {ROWS} in length.")
    for at, row in enumerate(made.components):
        held = row.get("components") or ()
        selects = [one for one in held if one["type"] != BUTTON]
        if not 1 <= len(held) <= ROW or (selects and len(held) > 1):
            raise bad_form(f"components.{at}.components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The row is too wide.")


def walk(components: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """All components, those inside of others too."""
    for one in components:
        yield one
        yield from walk(one.get("components") or ())
        for key in ("component", "accessory"):
            if one.get(key):
                yield from walk((one[key],))


def numbered(components: Sequence[JSON]) -> list[JSON]:
    """The components with the ids that Discord gives to those without one."""
    taken = {one["id"] for one in walk(components) if one.get("id")}
    free = (number for number in range(1, 10_000) if number not in taken)

    def number(one: JSON) -> JSON:
        made = {**one, "id": one.get("id") or next(free)}
        if "components" in one:
            made["components"] = [number(each) for each in one["components"]]
        for key in ("component", "accessory"):
            if one.get(key):
                made[key] = number(one[key])
        return made

    return [number(one) for one in components]
