"""Names the plugin whose code holds up the event loop: a thread looks at the loop's stack when the loop is late."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Final, Self

from agent import logs, metrics
from agent.extensions.calls import RUN_CODE, Call
from agent.extensions.repeats import Repeats

THRESHOLD: Final = 0.1
"""Seconds that nothing may hold up the loop."""

metrics.declare(
    "loop_stall_seconds", "histogram", ("plugin", "hook"), "How long the event loop was held up, and in whose code."
)
_log = logs.get_logger("agent.watchdog")


@dataclass(frozen=True, slots=True)
class Stall:
    """What held up the loop when the watchdog looked."""

    plugin: str
    """Empty when it was not a plugin."""
    hook: str
    """The hook, or the plugin's function when it runs outside of any (a tool, a task of its own); may be empty."""
    where: str
    """The innermost line, as `file:line in function`."""
    called_by: str = ""
    """The plugin's own innermost line, when that is another."""


class Watchdog:
    """Watches one running event loop from a thread of its own; an idle loop is not woken.

    Args:
        packages: The module of each plugin, by the plugin's name (`PluginHost.packages`); it tells whose a task or
            tool is that runs outside of a hook.
        threshold: Seconds. What is shorter is never reported, what is longer by a fifth always.
        on_stall: Called from the thread for each stall; must not raise.

    """

    def __init__(
        self,
        packages: Mapping[str, str] | None = None,
        *,
        threshold: float = THRESHOLD,
        on_stall: Callable[[Stall], None] | None = None,
    ) -> None:
        self._packages = dict(packages or {})
        self._threshold = threshold
        self._on_stall = on_stall
        self._stopping = threading.Event()
        self._beat = threading.Event()
        self._repeats: Repeats[Stall] = Repeats(time.monotonic)
        self._thread: threading.Thread | None = None

    def start(self) -> Self:
        """Begin to watch the running loop; call it in that loop."""
        loop, thread_id = asyncio.get_running_loop(), threading.get_ident()
        self._stopping.clear()
        self._thread = threading.Thread(target=self._watch, args=(loop, thread_id), name="watchdog", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop watching; returns at once, and may be called twice."""
        self._stopping.set()
        self._beat.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _watch(self, loop: asyncio.AbstractEventLoop, thread_id: int) -> None:
        while not self._stopping.wait(self._threshold / 5):
            if _is_idle(thread_id):
                continue  # so that an idle loop is not woken only to be asked
            self._beat.clear()
            if self._stopping.is_set():
                return
            asked = time.monotonic()
            try:
                loop.call_soon_threadsafe(self._beat.set)
            except RuntimeError:  # the loop is closed
                return
            seen: list[Stall] = []
            while not self._beat.wait(self._threshold):
                stall = self._look(thread_id)
                if stall is not None and all((old.plugin, old.hook) != (stall.plugin, stall.hook) for old in seen):
                    seen.append(stall)
                    self._report(stall)
            if seen:
                seconds = time.monotonic() - asked
                metrics.emit("loop_stall_seconds", seconds, plugin=seen[0].plugin, hook=seen[0].hook)

    def _look(self, thread_id: int) -> Stall | None:
        """Return what the loop's thread is doing; None when it only waits and was given no processor."""
        frame = sys._current_frames().get(thread_id)  # noqa: SLF001 - documented, and the only way
        if frame is None or _is_idle(thread_id):
            return None
        where, plugin, hook, own = _line(frame), "", "", ""
        for outer in _outwards(frame):
            if outer.f_code is RUN_CODE:
                call = outer.f_locals.get("call")
                if isinstance(call, Call):
                    return Stall(call.plugin, call.hook, where, own if own != where else "")
            elif not plugin and (plugin := self._owner(outer)):
                hook, own = outer.f_code.co_qualname, _line(outer)
        return Stall(plugin, hook, where, own if own != where else "")

    def _owner(self, frame: FrameType) -> str:
        module = f"{frame.f_globals.get('__name__')}."
        return next((name for name, package in self._packages.items() if module.startswith(f"{package}.")), "")

    def _report(self, stall: Stall) -> None:
        if self._on_stall is not None:
            self._on_stall(stall)
        if count := self._repeats.happened(stall):
            fields = {"called_by": stall.called_by} if stall.called_by else {}
            if count > 1:
                fields["count"] = str(count)
            # Of our own stalls (a library that is imported when first used, most often) operators can mend none.
            tell = _log.warning if stall.plugin else _log.info
            tell("loop_blocked", plugin=stall.plugin, hook=stall.hook, where=stall.where, **fields)


def _is_idle(thread_id: int) -> bool:
    """Tell whether the loop's thread waits for something to do."""
    frame = sys._current_frames().get(thread_id)  # noqa: SLF001 - documented, and the only way
    return frame is not None and frame.f_globals.get("__name__") == "selectors"


def _outwards(frame: FrameType) -> Iterator[FrameType]:
    outer: FrameType | None = frame
    while outer is not None:
        yield outer
        outer = outer.f_back


def _line(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_qualname}"
