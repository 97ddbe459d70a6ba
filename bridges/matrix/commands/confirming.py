"""What can follow an answer: done by reacting to it, or by replying with the code that it shows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from agent.commands import Step, StepKind

if TYPE_CHECKING:
    from agent.bridge import State

REACTIONS: Final = {StepKind.CONFIRM: "✅", StepKind.NEXT: "➡️", StepKind.PREVIOUS: "⬅️"}
_VARIATION: Final = "\ufe0f"
VALID: Final = timedelta(minutes=10)
_KEPT: Final = "steps:"
_CODE: Final = "code"


@dataclass(frozen=True, slots=True)
class Offered:
    """What one answer offers, and to whom."""

    asker: str
    channel: str
    """The id of the channel in which it was asked for: there a step is done, wherever the answer stands."""
    expires: datetime
    steps: tuple[Step, ...]


def reactions_of(steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the reactions that do something under an answer, each once."""
    return tuple(dict.fromkeys(REACTIONS[step.kind] for step in steps if step.kind in REACTIONS))


def step_by_reaction(offered: Offered, emoji: str) -> Step | None:
    """Return what a reaction asks for; None when nothing."""
    plain = emoji.replace(_VARIATION, "")
    return next(
        (step for step in offered.steps if REACTIONS.get(step.kind, "").replace(_VARIATION, "") == plain and plain),
        None,
    )


def step_by_code(offered: Offered, typed: str) -> Step | None:
    """Return what a reply with a code asks for; None when it is no code of these."""
    wanted = _bare(typed)
    return next(
        (step for step in offered.steps if wanted and _bare(str(step.options.get(_CODE, ""))) == wanted),
        None,
    )


def _bare(code: str) -> str:
    return "".join(code.split()).replace("-", "").upper()


def _dumped(offered: Offered) -> str:
    steps = [[step.label, step.path, dict(step.options), step.kind.value] for step in offered.steps]
    return json.dumps(
        {"asker": offered.asker, "channel": offered.channel, "expires": offered.expires.isoformat(), "steps": steps}
    )


def _loaded(kept: str) -> Offered:
    value: Mapping[str, Any] = json.loads(kept)
    steps = tuple(Step(label, tuple(path), options, StepKind(kind)) for label, path, options, kind in value["steps"])
    return Offered(value["asker"], value["channel"], datetime.fromisoformat(value["expires"]), steps)


class Offers:
    """What the bridge's answers offer, across restarts; codes are kept as secrets."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def sweep(self, now: datetime) -> None:
        """Forget what is over."""
        kept = await self._state.below(_KEPT)
        await self._forget(*(key for key, value in kept.items() if _loaded(value).expires <= now))

    async def keep(self, event_id: str, offered: Offered) -> None:
        """Keep what an answer offers."""
        await self._state.put({_KEPT + event_id: _dumped(offered)}, secret=True)

    async def of(self, event_id: str, asker: str, now: datetime) -> Offered | None:
        """Return what an answer offers to somebody; None when nothing, or no longer."""
        kept = await self._state.get(_KEPT + event_id)
        if kept is None:
            return None
        offered = _loaded(kept)
        return offered if offered.asker == asker and offered.expires > now else None

    async def done(self, event_id: str) -> None:
        """Forget what an answer offered: it was done."""
        await self._forget(_KEPT + event_id)

    async def _forget(self, *keys: str) -> None:
        if keys:
            await self._state.remove(*keys)
