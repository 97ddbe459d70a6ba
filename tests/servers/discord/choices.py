"""What a person fills into a command or a modal, as an interaction carries it. Checked as Discord's app would."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.servers.discord import message_payloads, payloads, posting
from tests.servers.discord.core import Core
from tests.servers.discord.drafts import walk
from tests.servers.discord.pending import Modal
from tests.servers.discord.records import JSON, Channel, Role, Upload, User

SUBCOMMAND, GROUP, STRING, INTEGER, BOOLEAN, USER, CHANNEL, ROLE, MENTIONABLE, NUMBER, ATTACHMENT = range(1, 12)
TEXT_INPUT = 4
LABEL = 18
ROW = 1


class NotOffered(Exception):
    """Discord's app would not have let the person do this."""


class Filled:
    """The options of a command with the values that a person gave."""

    def __init__(self, core: Core, channel: Channel) -> None:
        self._core = core
        self._channel = channel
        self.resolved: dict[str, JSON] = {}

    def options(
        self, command: JSON, path: Sequence[str], values: Mapping[str, Any], focused: str | None = None
    ) -> list[JSON]:
        """The options of the interaction, nested as the subcommands are."""
        parts = list(path)
        level, chosen = command, []
        for name in parts:
            level = _named(level, name, {SUBCOMMAND, GROUP})
            chosen.append(level)
        if any(one["type"] in {SUBCOMMAND, GROUP} for one in level.get("options") or ()):
            raise NotOffered(f"/{command['name']} {' '.join(parts)} needs a subcommand")
        made = list(self._values(level, values, focused))
        for one in reversed(chosen):
            made = [{"name": one["name"], "type": one["type"], "options": made}]
        return made

    def _values(self, level: JSON, values: Mapping[str, Any], focused: str | None) -> Iterator[JSON]:
        known = {one["name"]: one for one in level.get("options") or ()}
        for name in values:
            if name not in known:
                raise NotOffered(f"/{level['name']} has no option {name!r}; it has {sorted(known)}")
        for name, option in known.items():
            if name not in values:
                if option.get("required") and focused is None:
                    raise NotOffered(f"/{level['name']} needs the option {name!r}")
                continue
            value = values[name]
            if name == focused:
                yield {"name": name, "type": option["type"], "value": str(value), "focused": True}
            else:
                yield {"name": name, "type": option["type"], "value": self._value(option, value)}

    def _value(self, option: JSON, value: Any) -> Any:
        kind, name = option["type"], option["name"]
        if kind in {USER, CHANNEL, ROLE, MENTIONABLE, ATTACHMENT}:
            return self._resolve(name, value)
        wanted: dict[int, tuple[type, ...]] = {STRING: (str,), INTEGER: (int,), BOOLEAN: (bool,), NUMBER: (int, float)}
        if not isinstance(value, wanted[kind]) or (isinstance(value, bool) and kind != BOOLEAN):
            raise NotOffered(f"{name!r} takes {wanted[kind][0].__name__}, not {value!r}")
        if option.get("choices") and value not in [one["value"] for one in option["choices"]]:
            raise NotOffered(f"{name!r} has no choice {value!r}")
        size = len(str(value)) if kind == STRING else value
        low, high = ("min_length", "max_length") if kind == STRING else ("min_value", "max_value")
        if size < option.get(low, size) or size > option.get(high, size):
            raise NotOffered(f"{name!r} does not take {value!r}: {option.get(low)} to {option.get(high)}")
        return value

    def _resolve(self, name: str, value: Any) -> str:
        world = self._core.world
        if isinstance(value, Upload):
            (made,) = posting.attach(self._core, self._channel.id, (value,))
            self._put("attachments", made.id, message_payloads.attachment(made, self._core.cdn))
            return str(made.id)
        if isinstance(value, User):
            self._put("users", value.id, payloads.user(world.user(value.id)))
            if (member := world.members.get((self._channel.guild_id or 0, value.id))) is not None:
                held = world.guild_permissions(value.id, member.guild_id)
                self._put("members", value.id, payloads.bare_member(member) | {"permissions": str(int(held))})
        elif isinstance(value, Role):
            self._put("roles", value.id, payloads.role(value))
        elif isinstance(value, Channel):
            self._put("channels", value.id, payloads.channel(world, value) | {"permissions": "0"})
        else:
            raise NotOffered(f"{name!r} takes a person, role, channel or file, not {value!r}")
        return str(value.id)

    def _put(self, kind: str, number: int, shown: JSON) -> None:
        self.resolved.setdefault(kind, {})[str(number)] = shown


def _named(level: JSON, name: str, kinds: set[int]) -> JSON:
    found = [one for one in level.get("options") or () if one["type"] in kinds]
    for one in found:
        if one["name"] == name:
            return dict(one)
    raise NotOffered(f"{level['name']!r} has no {name!r}; it has {sorted(one['name'] for one in found)}")


def filled_modal(modal: Modal, values: Mapping[str, Any]) -> list[JSON]:
    """The components of a submitted modal; what is not given keeps what the application wrote there before."""
    known = [one["custom_id"] for one in walk(modal.components) if "custom_id" in one]
    for name in values:
        if name not in known:
            raise NotOffered(f"the modal {modal.title!r} has no field {name!r}; it has {known}")
    made: list[JSON] = []
    for part in modal.components:
        shown: JSON = {"type": part["type"], "id": part["id"]}
        if part["type"] == ROW:
            shown["components"] = [_field(one, values) for one in part["components"]]
        elif part["type"] == LABEL:
            shown["component"] = _field(part["component"], values)
        made.append(shown)
    return made


def _field(part: JSON, values: Mapping[str, Any]) -> JSON:
    name = part["custom_id"]
    made: JSON = {"type": part["type"], "custom_id": name, "id": part["id"]}
    if part["type"] != TEXT_INPUT:
        return made | {"values": [str(one) for one in values.get(name, [])]}
    text = str(values.get(name, part.get("value") or ""))
    low, high = max(part.get("min_length") or 0, 1), part.get("max_length") or 4000
    if (part.get("required", True) or text) and not low <= len(text) <= high:
        raise NotOffered(f"the field {name!r} takes {low} to {high} characters, not {len(text)}")
    return made | {"value": text}
