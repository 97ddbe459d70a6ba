"""Holds the plugins, and is the only place that calls hooks and awaits them (architecture.md, Plugins).

A plugin that raises, hangs, exits or answers nonsense is isolated: its part is left out, the failure is logged and
counted, and the agent goes on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import pluggy

from agent import hookspecs, logs
from agent.contracts.people import Denial, Refusal
from agent.extensions.calls import Call, Caller, Failure, Reason
from agent.extensions.check import check_plugin, hook_arguments, optional_problem, texts
from agent.extensions.errors import HookFailed, PluginError, PluginsRefused, PluginStartFailed
from agent.extensions.failures import Failures
from agent.extensions.order import Complaint, start_order
from agent.extensions.results import check_for
from agent.extensions.states import PluginStatus, State
from agent.hookspecs import HOOKS, PROJECT, Mode, Unavailable
from agent.store.migration_sets import MigrationSet

if TYPE_CHECKING:
    from agent.core import Core

__all__ = [
    "HookFailed",
    "PluginError",
    "PluginHost",
    "PluginStartFailed",
    "PluginStatus",
    "PluginsRefused",
    "State",
]

_log = logs.get_logger("agent.plugins")
_BEFORE_START: Final = frozenset({"register_cli"})
"""What may be asked of plugins that have not been started."""
_MUST_SUCCEED: Final = frozenset({"erase_person", "message_deleted", "move_user"})
_DENIED: Final = Denial(Refusal.GUARD_FAILED, "This could not be checked, so it was refused.")


@dataclass(slots=True)
class _Member:
    plugin: object
    status: PluginStatus

    def becomes(self, state: State, reason: str = "") -> None:
        self.status = replace(self.status, state=state, reason=reason)


class PluginHost:
    """The plugins of one agent.

    Args:
        plugins: Instances, in the order of plugins.toml, which is the order in which their hooks are called.
        optional: The names of those whose failing start does not stop the agent's.
        others: What is known of plugins that are not used (disabled, or optional and not loaded).
        deadlines: Seconds by hook, where they differ from hookspecs.py.
        monotonic: A clock in seconds, for what is logged at most once a minute.

    Raises:
        PluginsRefused: With everything that is wrong with the plugins.

    """

    def __init__(
        self,
        plugins: Iterable[object] = (),
        *,
        optional: Collection[str] = (),
        others: Iterable[PluginStatus] = (),
        deadlines: Mapping[str, float] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._members: dict[str, _Member] = {}
        self._others = tuple(others)
        self._started: set[str] = set()
        self._caller = Caller()
        self._failures = Failures(monotonic)
        complaints = list(self._admit(plugins, optional))
        needs = {name: member.status.requires for name, member in self._members.items()}
        self._order, out_of_order = start_order(needs)
        if complaints or out_of_order:
            raise PluginsRefused([*complaints, *out_of_order])
        self._calls = self._wire(deadlines or {})
        self._arguments = {name: frozenset(hook_arguments(name)) for name in HOOKS}

    def _admit(self, plugins: Iterable[object], optional: Collection[str]) -> Iterator[Complaint]:
        for plugin in plugins:
            is_optional = getattr(plugin, "name", None) in optional
            checked = check_plugin(plugin)
            for warning in checked.warnings:
                _log.warning("plugin_looks_wrong", plugin=checked.name, problem=warning)
            yield from (Complaint(checked.name, problem) for problem in checked.problems)
            if is_optional and (problem := optional_problem(checked)):
                yield Complaint(checked.name, problem)
            if checked.name in self._members:
                yield Complaint(checked.name, "there are two plugins of this name: enable one of them")
                continue
            status = PluginStatus(
                checked.name,
                State.LOADED,
                optional=is_optional,
                requires=texts(getattr(plugin, "requires", ())) or (),
                hooks=tuple(hook for hook in HOOKS if hook in checked.hooks),
                covers=texts(getattr(plugin, "covers", ())) or (),
            )
            self._members[checked.name] = _Member(plugin, status)

    def _wire(self, deadlines: Mapping[str, float]) -> dict[str, tuple[Call, ...]]:
        """Let pluggy find, verify and order the implementations; how each is called is worked out once."""
        manager = pluggy.PluginManager(PROJECT)
        manager.add_hookspecs(hookspecs)
        for name, member in reversed(self._members.items()):
            manager.register(member.plugin, name=name)  # the last registered is called first
        manager.check_pending()
        return {
            name: tuple(
                Call(
                    plugin=found.plugin_name,
                    hook=name,
                    function=found.function,
                    arguments=tuple(found.argnames),
                    deadline=deadlines.get(name, hook.deadline),
                    check=check_for(name, found.plugin_name),
                )
                for found in reversed(getattr(manager.hook, name).get_hookimpls())
            )
            for name, hook in HOOKS.items()
        }

    @property
    def plugins(self) -> tuple[PluginStatus, ...]:
        """Return the state of every plugin that is known, those in use first, in file order."""
        return (*(member.status for member in self._members.values()), *self._others)

    @property
    def started(self) -> frozenset[str]:
        """Return the names of the plugins that are started."""
        return frozenset(self._started)

    @property
    def migrations(self) -> tuple[MigrationSet, ...]:
        """Return the migrations of those that have tables, in the order of `requires`; the core's come before."""
        found = ((name, getattr(self._members[name].plugin, "migrations", None)) for name in self._order)
        return tuple(MigrationSet(name, package) for name, package in found if package)

    @property
    def packages(self) -> dict[str, str]:
        """Return the module that each plugin's class was written in, by the plugin's name; for the watchdog."""
        return {name: type(member.plugin).__module__ for name, member in self._members.items()}

    def get(self, name: str) -> object | None:
        """Return the plugin of that name, started or not; for front ends and tests."""
        member = self._members.get(name)
        return member.plugin if member else None

    def covers(self, topic: str, hook: str | None = None) -> bool:
        """Tell whether a started plugin declares that it guards `topic`, by implementing `hook` where one is named."""
        return any(
            topic in status.covers and (hook is None or hook in status.hooks)
            for name in self._started
            for status in (self._members[name].status,)
        )

    def implementing(self, hook: str) -> tuple[str, ...]:
        """Return the names of the started plugins that implement a hook."""
        return tuple(call.plugin for call in self._calls[hook] if call.plugin in self._started)

    def implements(self, hook: str) -> bool:
        """Tell whether a plugin that is in use implements the hook, so that its caller may spare the preparation."""
        return bool(self._calls[hook])

    async def collect(self, name: str, /, **values: Any) -> list[Any]:
        """Return what each started plugin answers, in order, without those that answer None or fail.

        Raises:
            HookFailed: a part of `erase_person` or `move_user` failed, and the transaction must roll back; or of
                `message_deleted`.
        """
        return [result for _, result in await self.collect_by_plugin(name, **values)]

    async def collect_by_plugin(self, name: str, /, **values: Any) -> list[tuple[str, Any]]:
        """As `collect`, each result with the name of its plugin."""
        return await self._collect(name, values, None)

    async def collect_from(self, plugins: Collection[str], name: str, /, **values: Any) -> list[tuple[str, Any]]:
        """As `collect_by_plugin`, asking some plugins only."""
        return await self._collect(name, values, plugins)

    async def _collect(
        self, name: str, values: Mapping[str, Any], plugins: Collection[str] | None
    ) -> list[tuple[str, Any]]:
        calls = [
            call
            for call in self._find(name, Mode.COLLECT, values)
            if (plugins is None or call.plugin in plugins)
            and (call.plugin in self._started or self._may_ask_early(call))
        ]
        together = HOOKS[name].together and len(calls) > 1
        answers = await asyncio.gather(*(self._caller.ask(call, values) for call in calls)) if together else None
        results: list[tuple[str, Any]] = []
        for number, call in enumerate(calls):
            result = answers[number] if answers is not None else await self._caller.ask(call, values)
            if type(result) is Failure:
                self._failures.note(result)
                if name in _MUST_SUCCEED:
                    # Its own text may quote people, and ours is logged as it is.
                    raise HookFailed(f"plugin {call.plugin} failed in {name} ({result.reason})") from result.error
            elif result is not None:
                results.append((call.plugin, result))
        return results

    async def first(self, name: str, /, **values: Any) -> Any:
        """Return the first answer that is not None; None when there is none.

        A plugin that fails is passed over, except in `resolve_speaker`: the answer is then `Unavailable`, because who
        spoke must never be guessed.
        """
        for call in self._find(name, Mode.FIRST, values):
            result = await self._ask_started(call, values)
            if type(result) is Failure:
                self._failures.note(result)
                if name == "resolve_speaker":
                    return Unavailable(f"plugin {call.plugin} failed ({result.reason.value})")
            elif result is not None:
                return result
        return None

    async def guard(self, name: str, /, **values: Any) -> Denial | None:
        """Return the first refusal; None when every plugin lets it pass. A plugin that fails has refused."""
        for call in self._find(name, Mode.GUARD, values):
            result = await self._ask_started(call, values)
            if type(result) is Failure:
                self._failures.note(result)
                return _DENIED
            if result is not None:
                denial: Denial = result
                return denial
        return None

    async def start(self, core: Core) -> None:
        """Start every plugin, what it requires before it.

        Raises:
            PluginStartFailed: one that is not optional failed; those that had been started are stopped again.
        """
        try:
            for name in self._order:
                if name not in self._started:
                    await self._start_or_leave_out(self._members[name], core)
        except BaseException:  # the agent's own cancellation, too
            await self.stop()
            raise

    async def _start_or_leave_out(self, member: _Member, core: Core) -> None:
        reason = await self._start_one(member, core)
        if not reason:
            self._started.add(member.status.name)
            member.becomes(State.STARTED)
            return
        member.becomes(State.FAILED, reason)
        if not member.status.optional:
            raise PluginStartFailed(_start_line(member.status))
        _log.error("optional_plugin_not_started", plugin=member.status.name, problem=reason)

    async def _start_one(self, member: _Member, core: Core) -> str:
        """Start one plugin; return why it could not be started, or nothing."""
        missing = [need for need in member.status.requires if need not in self._started]
        if missing:
            return f"requires {missing[0]}, which is not started"
        for call in self._calls["start"]:
            if call.plugin == member.status.name:
                result = await self._caller.ask(call, {"core": core})
                if type(result) is Failure:
                    self._failures.note(result)
                    return str(result)
        return ""

    async def stop(self) -> None:
        """Stop what was started, in the opposite order; a failure is logged and the next one is stopped."""
        calls = {call.plugin: call for call in self._calls["stop"]}
        for name in reversed(self._order):
            if name not in self._started:
                continue
            self._started.discard(name)
            self._members[name].becomes(State.STOPPED)
            if name in calls:
                result = await self._caller.ask(calls[name], {})
                if type(result) is Failure:
                    self._failures.note(result)
        if left := await self._caller.close():
            _log.warning("late_plugin_calls_ended", count=left)
        self._failures.flush()

    async def _ask_started(self, call: Call, values: Mapping[str, Any]) -> Any:
        if call.plugin not in self._started:
            # An absent guard is no open door: what is loaded but not started counts as failing.
            return Failure(call.plugin, call.hook, Reason.NOT_STARTED)
        return await self._caller.ask(call, values)

    def _may_ask_early(self, call: Call) -> bool:
        return call.hook in _BEFORE_START and self._members[call.plugin].status.state is State.LOADED

    def _find(self, name: str, mode: Mode, values: Mapping[str, Any]) -> tuple[Call, ...]:
        """Return the calls of a hook; a mistake in how the core asks shows at once, whatever is loaded."""
        calls = self._calls[name]
        if HOOKS[name].mode is not mode:
            raise ValueError(f"hook {name} is a {HOOKS[name].mode} hook, not a {mode} hook")
        if values.keys() != self._arguments[name]:
            raise TypeError(f"hook {name} takes ({', '.join(hook_arguments(name))}), not ({', '.join(values)})")
        return calls


def _start_line(status: PluginStatus) -> str:
    way_out = f"mend it, or set enabled = false in [plugins.{status.name}]"
    return f"plugin {status.name} could not be started: {status.reason}; {way_out}"
