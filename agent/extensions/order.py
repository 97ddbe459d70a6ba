"""In which order plugins start: what one requires comes before it, else the order of plugins.toml. Pure rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.extensions.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing that is wrong with one plugin or bridge."""

    name: str
    text: str

    def __str__(self) -> str:
        """Return both as one line."""
        return f"{self.name}: {self.text}"


def start_order(
    requires: Mapping[str, Sequence[str]], absent: Mapping[str, str] | None = None
) -> tuple[list[str], list[Complaint]]:
    """Order plugins, given in file order with what each requires; `absent` says why one of a name is not there.

    Again and again the first plugin whose requirements have all been taken is taken. Returns the order, which leaves
    out what requires itself, and one complaint for each missing requirement and each circle.
    """
    complaints = [
        Complaint(name, f"requires {need!r}, which {(absent or {}).get(need) or _not_enabled(need, requires)}")
        for name, needs in requires.items()
        for need in dict.fromkeys(needs)
        if need not in requires
    ]
    order: list[str] = []
    waiting = dict(requires)
    while True:
        ready = next((name for name, needs in waiting.items() if not any(need in waiting for need in needs)), None)
        if ready is None:
            break
        del waiting[ready]
        order.append(ready)
    in_circles: set[str] = set()
    for name in waiting:
        circle = _circle(name, waiting)
        if in_circles.isdisjoint(circle):
            in_circles.update(circle)
            complaints.append(Complaint(circle[0], f"requires itself: {' requires '.join([*circle, circle[0]])}"))
    return order, complaints


def _not_enabled(need: str, known: Mapping[str, Sequence[str]]) -> str:
    return f"is not enabled: set enabled = true in [plugins.{need}]{did_you_mean(need, known)}"


def _circle(start: str, waiting: Mapping[str, Sequence[str]]) -> list[str]:
    """Follow the requirements that wait until one comes twice; each plugin that waits has such a requirement."""
    path = [start]
    while True:
        following = next(need for need in waiting[path[-1]] if need in waiting)
        if following in path:
            return path[path.index(following) :]
        path.append(following)
