"""Finds the class of a plugin or bridge by its section, and builds it with its settings."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, Final

from pydantic import BaseModel

from agent.extensions.names import did_you_mean, name_problem
from agent.settings import ExtensionSettings, LoadedSettings, Section
from agent.text import clip

LONGEST_REASON: Final = 400


class Unloadable(Exception):
    """It cannot be loaded; the text is one line that says why."""


class NoSettings(Section):
    """The settings of what declares none: any key is a mistake."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What can be loaded: plugins or bridges."""

    word: str
    section: str
    """The table of plugins.toml, and the package of those that come with Isthmus."""
    group: str
    """The entry points by which an installed distribution offers its own."""
    attribute: str
    """The class's name by convention."""


PLUGIN: Final = Kind("plugin", "plugins", "isthmus.plugins", "Plugin")
BRIDGE: Final = Kind("bridge", "bridges", "isthmus.bridges", "Bridge")
_KINDS: Final = {kind.section: kind for kind in (PLUGIN, BRIDGE)}


def section_model(section: str, name: str, settings: ExtensionSettings) -> type[BaseModel] | None:
    """Return the model of an extension's own settings, as `load_settings(section_model=…)` wants it.

    None for what cannot be loaded: the loader says why.
    """
    try:
        return settings_model(find_class(_KINDS[section], name, settings.module))
    except Unloadable:
        return None


def settings_model(found: type) -> type[BaseModel]:
    """Return the settings model of a plugin or bridge class; `NoSettings` when it declares none."""
    model = getattr(found, "Settings", NoSettings)
    if isinstance(model, type) and issubclass(model, BaseModel):
        return model
    raise Unloadable("its `Settings` is not a pydantic model: derive it from agent.settings.Section")


def find_class(kind: Kind, name: str, module: str | None) -> type:
    """Return the class of `[plugins.NAME]` or `[bridges.NAME]`.

    Looked for in `module` (`package.module` or `package.module:Class`) when that is set, else in the package of that
    name below `plugins` or `bridges`, else among the entry points of installed distributions.

    Raises:
        Unloadable: there is none, there are several, or it cannot be imported.
    """
    if module is not None:
        path, _, attribute = module.partition(":")
        return _class_in(kind, _import(path), attribute)
    if problem := name_problem(name):
        raise Unloadable(problem)
    local = f"{kind.section}.{name}"
    if _exists(local):
        return _class_in(kind, _import(local), "")
    return _from_entry_point(kind, name)


def build(kind: Kind, name: str, found: type, section: ExtensionSettings, loaded: LoadedSettings) -> Any:
    """Return an instance: with its settings where it declares any, else without arguments.

    Raises:
        SettingsError: with every mistake in its section.
        Unloadable: its constructor failed.
    """
    model = settings_model(found)
    settings = loaded.validate_section(section, model, f"{kind.section}.{name}")
    try:
        instance = found() if model is NoSettings else found(settings)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        hint = "" if model is NoSettings else "; with a Settings model it is built as Class(settings)"
        raise Unloadable(
            f"could not be built: {reason(error)}{hint if isinstance(error, TypeError) else ''}"
        ) from error
    if (own := getattr(instance, "name", None)) != name and name_problem(own) is None:
        taken = own in getattr(loaded.settings, kind.section)
        way_out = "two cannot share a name, so enable one of them" if taken else f"write [{kind.section}.{own}]"
        raise Unloadable(f"its class is named {own!r}{', as is another' if taken else ''}: {way_out}")
    return instance


def reason(error: BaseException) -> str:
    """Return an error as one line: its kind, its text, and the line that raised it."""
    text = " ".join(str(error).split())
    traceback, where = error.__traceback__, ""
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file not in {__file__, importlib.__file__} and not file.startswith("<frozen"):
            where = f" ({file}, line {traceback.tb_lineno})"
        traceback = traceback.tb_next
    if isinstance(error, SyntaxError):
        where = ""  # its text says it better
    return f"{type(error).__name__}{': ' if text else ''}{clip(text, LONGEST_REASON)}{where}"


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _import(path: str) -> ModuleType:
    try:
        return importlib.import_module(path)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Unloadable(f"cannot be imported: {reason(error)}") from error


def _class_in(kind: Kind, module: ModuleType, attribute: str) -> type:
    if attribute:
        found = getattr(module, attribute, None)
        if isinstance(found, type):
            return found
        near = did_you_mean(attribute, (key for key, value in vars(module).items() if isinstance(value, type)))
        raise Unloadable(f"module {module.__name__} has no class {attribute!r}{near}")
    own: dict[type, str] = {value: key for key, value in vars(module).items() if _is_own_class(module, key, value)}
    for found, key in own.items():
        if key == kind.attribute:
            return found
    named = [found for found in own if isinstance(getattr(found, "name", None), str)]
    if len(named) == 1:
        return named[0]
    what = f"has {len(named)} classes with a name" if named else "has no class with a name"
    raise Unloadable(
        f'module {module.__name__} {what}: call one {kind.attribute}, or set module = "{module.__name__}:CLASS"'
    )


def _is_own_class(module: ModuleType, key: str, value: object) -> bool:
    """Tell whether a public class was written in this module or below it, and not merely imported."""
    if not isinstance(value, type) or key.startswith("_") or getattr(value, "_is_protocol", False):
        return False
    return f"{value.__module__}.".startswith(f"{module.__name__}.")


def _from_entry_point(kind: Kind, name: str) -> type:
    offered = entry_points(group=kind.group)
    found = {point.value: point for point in offered if point.name == name}
    if not found:
        near = did_you_mean(name, {point.name for point in offered} | _local_names(kind))
        raise Unloadable(
            f"there is no {kind.word} {name!r}{near}: neither a module {kind.section}.{name} nor an installed "
            f'distribution offers it; for another module set module = "package.module"'
        )
    if len(found) > 1:
        raise Unloadable(f"two distributions offer a {kind.word} {name!r} ({', '.join(sorted(found))}): remove one")
    (point,) = found.values()
    path, _, attribute = point.value.partition(":")
    return _class_in(kind, _import(path.strip()), attribute.strip())


def _local_names(kind: Kind) -> set[str]:
    from pkgutil import iter_modules

    package = importlib.util.find_spec(kind.section)
    places = package.submodule_search_locations if package else None
    return {module.name for module in iter_modules(places)} if places else set()
