"""Checks a plugin before it is used: its name, what it requires, and every method that implements a hook."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import pluggy

from agent import hookspecs
from agent.extensions.names import NEARLY_EQUAL, did_you_mean, name_problem, nearest
from agent.hookspecs import HOOKS, PROJECT, Mode

PROTECTING: Final = frozenset({name for name, hook in HOOKS.items() if hook.mode is Mode.GUARD} | {"resolve_speaker"})
"""Hooks that people are protected by: who implements one cannot be optional."""


@dataclass(slots=True)
class Checked:
    """What is known about a plugin after the check."""

    name: str
    hooks: dict[str, str] = field(default_factory=dict)
    """The hooks that it implements, each with the method's name."""
    problems: list[str] = field(default_factory=list)
    """What forbids to use it."""
    warnings: list[str] = field(default_factory=list)
    """What is most probably a mistake."""


@cache
def hook_arguments(name: str) -> tuple[str, ...]:
    """Return the names of a hook's arguments, in order."""
    return tuple(inspect.signature(getattr(hookspecs, name)).parameters)


def texts(value: object) -> tuple[str, ...] | None:
    """Return a collection of texts as a tuple; None when it is something else (a lone text, too)."""
    if isinstance(value, Collection) and not isinstance(value, (str, bytes)):
        found = tuple(value)
        if all(isinstance(text, str) for text in found):
            return found
    return None


def check_plugin(plugin: object) -> Checked:
    """Check one plugin, and find its hooks."""
    name = getattr(plugin, "name", None)
    checked = Checked(name if isinstance(name, str) else type(plugin).__name__)
    if problem := name_problem(name):
        checked.problems.append(problem)
    for attribute in ("requires", "covers"):
        if texts(getattr(plugin, attribute, ())) is None:
            checked.problems.append(f"its `{attribute}` must be a tuple or set of texts")
    if not isinstance(getattr(plugin, "migrations", None), str | None):
        checked.problems.append("its `migrations` must be the name of a package, as a text")
    _find_hooks(plugin, checked)
    if getattr(plugin, "covers", ()) and not any(HOOKS[hook].mode is Mode.GUARD for hook in checked.hooks):
        checked.problems.append("says what it `covers` but has no guard hook: implement one, or remove `covers`")
    return checked


def optional_problem(checked: Checked) -> str | None:
    """Say why a plugin cannot be optional; None when it can."""
    protecting = sorted(PROTECTING & checked.hooks.keys())
    if not protecting:
        return None
    hooks = ", ".join(protecting)
    return f"cannot be optional, because it protects people ({hooks}): remove optional = true, or set enabled = false"


def _find_hooks(plugin: object, checked: Checked) -> None:
    finder = pluggy.PluginManager(PROJECT)
    for method in dir(plugin):
        options = finder.parse_hookimpl_opts(plugin, method)
        if options is None:
            _check_unmarked(plugin, method, checked)
            continue
        hook = options.get("specname") or method
        if options.get("wrapper") or options.get("hookwrapper"):
            checked.problems.append(f"method {method} wraps a hook: wrappers are not supported, implement the hook")
        elif hook in HOOKS:
            checked.problems += _signature_problems(hook, method, getattr(plugin, method))
            if hook in checked.hooks:
                checked.problems.append(f"methods {checked.hooks[hook]} and {method} both implement hook {hook}")
            checked.hooks[hook] = method
        elif not options.get("optionalhook"):
            checked.problems.append(f"method {method}: there is no hook {hook!r}{did_you_mean(hook, HOOKS)}")


def _check_unmarked(plugin: object, method: str, checked: Checked) -> None:
    """Notice a method that looks like a hook but is not marked, and so would never be called."""
    if method.startswith("_") or not inspect.isroutine(inspect.getattr_static(plugin, method, None)):
        return
    if method in HOOKS:
        checked.problems.append(f"method {method} bears the name of a hook: put @hookimpl above it, or rename it")
    elif near := nearest(method, HOOKS, NEARLY_EQUAL):
        checked.warnings.append(f"method {method} is not marked @hookimpl and is never called: was hook {near} meant?")


def _signature_problems(hook: str, method: str, function: Any) -> Iterator[str]:
    known = hook_arguments(hook)
    called = f"hook {hook} is called with ({', '.join(known)})"
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        yield f"method {method} is a generator: a hook returns its results, it does not yield them"
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            yield f"method {method} takes *{parameter.name}: {called}, name those that are needed"
        elif parameter.name not in known:
            yield f"method {method} takes {parameter.name!r}: {called}{did_you_mean(parameter.name, known)}"
        elif parameter.default is not parameter.empty:
            yield f"method {method} gives {parameter.name!r} a default: {called}, so none is ever needed"
        elif parameter.kind is parameter.KEYWORD_ONLY:
            yield f"method {method} takes {parameter.name!r} by keyword only: {called}, by position"
