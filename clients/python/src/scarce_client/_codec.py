"""JSON into the generated types and back."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any

from . import _generated


def encode(value: Any) -> Any:
    """A value as JSON; what is `None` is left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((its.name.rstrip("_"), getattr(value, its.name)) for its in dataclasses.fields(value))
        return {name: encode(inner) for name, inner in pairs if inner is not None}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, tuple)):
        return [encode(inner) for inner in value]
    return value


def decode(to: type, value: Mapping[str, Any]) -> Any:
    """A record from JSON. Members that are newer than this client are left out."""
    return to(**{name: read(value.get(name.rstrip("_"))) for name, read in _readers(to).items()})


@functools.cache
def _readers(to: type) -> dict[str, Any]:
    hints = typing.get_type_hints(to, vars(_generated))
    return {its.name: _reader(hints[its.name]) for its in dataclasses.fields(to)}


def _reader(hint: Any) -> Any:
    """How a value of a type is read."""
    arguments: tuple[Any, ...] = typing.get_args(hint)
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        inner = _reader(arguments[0])
        return lambda value: None if value is None else inner(value)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return lambda value: decode(hint, value)
    row = arguments[0] if len(arguments) == 1 else None
    if isinstance(row, type) and dataclasses.is_dataclass(row):
        return lambda value: [decode(row, inner) for inner in value]
    return lambda value: value
