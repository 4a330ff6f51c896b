"""Plain data as read from JSON -> frozen records, strictly by the types that the records name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Kind = TypeVar("Kind")
_PLAIN = (str, int, float, bool, NoneType)


class DecodingError(ValueError):
    """The data does not fit the record; the message says where and how."""


def decoded(kind: type[Kind] | Any, data: object, where: str) -> Any:
    """`data` as `kind`: a record, a plain type, a `Literal`, a union, `tuple[X, ...]`, `dict` or `Mapping` of names,
    `Any`. Nothing is converted but lists to tuples and whole numbers to floats. Raises `DecodingError`."""
    if kind is Any:
        return data
    if is_dataclass(kind):
        return _record(cast(type[Any], kind), data, where)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _one_of(arguments, data, where)
    if origin is Literal:
        if type(data) is str and data in arguments:
            return data
        raise DecodingError(f"{where}: {_shown(data)} is not one of {', '.join(map(str, arguments))}")
    if origin is tuple:
        if not isinstance(data, (list, tuple)):
            raise DecodingError(f"{where}: a list is missing, {_shown(data)} stands there")
        return tuple(decoded(arguments[0], value, f"{where}[{number}]") for number, value in enumerate(data))
    if origin in (dict, Mapping):
        _be_table(data, where)
        table = cast(dict[str, Any], data)
        return {name: decoded(arguments[1], value, f"{where}.{name}") for name, value in table.items()}
    if kind is float and type(data) is int:
        return float(data)
    if kind in _PLAIN and type(data) is kind:
        return data
    raise DecodingError(f"{where}: {getattr(kind, '__name__', kind)} is expected, {_shown(data)} stands there")


def entry(data: object, name: str, where: str = "") -> Any:
    """What stands under `name`. Raises `DecodingError` when nothing does."""
    _be_table(data, where or "the whole")
    table = cast(dict[str, Any], data)
    if name not in table:
        raise DecodingError(f"{where + '.' if where else ''}{name} is missing")
    return table[name]


def entries(data: object, name: str) -> list[dict[str, Any]]:
    """The tables in the list under `name`. Raises `DecodingError`."""
    found = entry(data, name)
    if not isinstance(found, list):
        raise DecodingError(f"{name}: a list is missing, {_shown(found)} stands there")
    for number, each in enumerate(found):
        _be_table(each, f"{name}[{number}]")
    return found


_described: dict[type[Any], tuple[tuple[Field[Any], Any], ...]] = {}


def _fields(kind: type[Any]) -> tuple[tuple[Field[Any], Any], ...]:
    """The record's fields, each with its resolved type; looked up once."""
    if kind not in _described:
        types = get_type_hints(kind)
        _described[kind] = tuple((each, types[each.name]) for each in fields(kind))
    return _described[kind]


def _record(kind: type[Any], data: object, where: str) -> Any:
    _be_table(data, where)
    table = cast(dict[str, Any], data)
    values = {}
    for each, expected in _fields(kind):
        if each.name in table:
            values[each.name] = decoded(expected, table[each.name], f"{where}.{each.name}")
        elif each.default is MISSING and each.default_factory is MISSING:
            raise DecodingError(f"{where}.{each.name} is missing")
    return kind(**values)


def _one_of(kinds: tuple[Any, ...], data: object, where: str) -> Any:
    if type(data) in kinds:
        return data
    # A union of the records holds one kind at most that is not plain; it says best what does not fit.
    further = [kind for kind in kinds if kind not in _PLAIN or (kind is float and type(data) is int)]
    if further:
        return decoded(further[0], data, where)
    raise DecodingError(f"{where}: {_shown(data)} is not possible there")


def _be_table(data: object, where: str) -> None:
    if not isinstance(data, dict):
        raise DecodingError(f"{where}: a table is missing, {_shown(data)} stands there")


def _shown(data: object) -> str:
    return f"{data!r:.60}" if isinstance(data, _PLAIN) else f"a {type(data).__name__}"
