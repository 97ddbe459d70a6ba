"""What a settings model declares: its names, the model below a name, and what is secret. No values here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, TypeAliasType, Union, get_args, get_origin

from pydantic import BaseModel, SecretBytes, SecretStr

from agent.settings.errors import KeyPath
from agent.settings.secrets import Secret

type Model = type[BaseModel]


def field_names(model: Model) -> dict[str, object]:
    """The keys that a model takes, each with its annotation."""
    by_name = bool(model.model_config.get("populate_by_name") or model.model_config.get("validate_by_name"))
    names: dict[str, object] = {}
    for name, info in model.model_fields.items():
        alias = info.validation_alias if isinstance(info.validation_alias, str) else info.alias
        names[alias or name] = info.annotation
        if alias and by_name:
            names[name] = info.annotation
    return names


def _flat(annotation: object) -> Iterator[object]:
    """The members of unions, without `Annotated` and type aliases around them."""
    if isinstance(annotation, TypeAliasType):
        yield from _flat(annotation.__value__)
    elif get_origin(annotation) is Annotated:
        yield from _flat(get_args(annotation)[0])
    elif get_origin(annotation) in {Union, UnionType}:
        for member in get_args(annotation):
            yield from _flat(member)
    else:
        yield annotation


def inner_model(annotation: object) -> Model | None:
    """The model that a table under this annotation must follow, where there is exactly one."""
    models = [item for item in _flat(annotation) if isinstance(item, type) and issubclass(item, BaseModel)]
    return models[0] if len(models) == 1 else None


def item_annotation(annotation: object, key: str | int) -> object | None:
    """The annotation of an item of a mapping (text key) or a sequence (number), where it says one."""
    for member in _flat(annotation):
        origin, arguments = get_origin(member), get_args(member)
        if not isinstance(origin, type) or not arguments:
            continue
        if isinstance(key, str) == issubclass(origin, Mapping):
            found: object = arguments[-1] if isinstance(key, str) else arguments[0]
            return found
    return None


def is_secret(model: Model, path: KeyPath) -> bool:
    """Whether the field at `path` holds a secret by its type."""
    annotation: object | None = model
    for part in path:
        inner = inner_model(annotation)
        if inner is not None and isinstance(part, str):
            annotation = field_names(inner).get(part)
        else:
            annotation = item_annotation(annotation, part)
        if annotation is None:
            return False
    return any(member in {Secret, SecretStr, SecretBytes} for member in _flat(annotation) if isinstance(member, type))


def deep_names(model: Model, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every key below a model, as (last name, dotted name from the model)."""
    for name, annotation in field_names(model).items():
        yield name, prefix + name
        if inner := inner_model(annotation):
            yield from deep_names(inner, f"{prefix}{name}.")


def unknown_keys(model: Model, data: Mapping[str, object], path: KeyPath = ()) -> Iterator[tuple[KeyPath, Model]]:
    """Every key of `data` that its model does not declare, with the model it is missing from."""
    names = field_names(model)
    for key, value in data.items():
        if key in names:
            yield from _unknown_within(names[key], value, (*path, key))
        elif model.model_config.get("extra") != "allow":
            yield (*path, key), model


def _unknown_within(annotation: object, value: object, path: KeyPath) -> Iterator[tuple[KeyPath, Model]]:
    items: Iterator[tuple[str | int, object]]
    if isinstance(value, Mapping):
        if inner := inner_model(annotation):
            yield from unknown_keys(inner, value, path)
            return
        items = iter(value.items())
    elif isinstance(value, list):
        items = iter(enumerate(value))
    else:
        return
    for key, item in items:
        below = item_annotation(annotation, key)
        if below is not None:
            yield from _unknown_within(below, item, (*path, key))
