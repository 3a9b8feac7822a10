"""Damaged values in the database: of a wrong type or shape, invalid times, references to rows that are not there.

SQLite keeps a value of any type in any column. Reading does not check the type of each value, which would take longer
than the reading itself. When reading fails, `find_damage` searches for the damaged value, so the error names the value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, get_args

from sqlalchemy import BigInteger, Boolean, Column, Connection, Float, Integer, Select, Table, and_, func, select
from sqlalchemy.types import NullType, TypeEngine

from provenn.database.tables import Moment, metadata
from provenn.files.fingerprints import Caveat

__all__ = ["Dangling", "find_damage", "find_dangling", "fits_column"]


def _is_list_of(*kinds: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(isinstance(member, kinds) for member in value)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_object_of_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(member, str) for member in value.values())


_OBJECT: Final = (_is_object, "an object")
_TEXTS: Final = (_is_list_of(str), "a list of texts")
_TEXTS_OR_OBJECT: Final = (
    lambda value: _is_list_of(str)(value) or _is_object_of_texts(value),
    "a list of texts, or an object of texts",
)
_SHAPES: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "calculators.definition": _OBJECT,
    "catalogs.notes": _OBJECT,
    "catalogs.parameters": _OBJECT,
    "fragments.files": (_is_list_of(list), "a list of lists"),
    "leases.identities": _TEXTS,
    "populations.key": _TEXTS,
    "proofs.facts": (_is_list_of(list), "a list of lists"),
    "runs.computed": _TEXTS_OR_OBJECT,
    "runs.fragments": (_is_list_of(int), "a list of numbers"),
    "runs.reused": _TEXTS_OR_OBJECT,
}
"""The shape of the JSON in a column, and its name."""

_CHOICES: Final = {"bases.caveat": ("", *get_args(Caveat))}
"""The texts of columns whose texts other code looks up."""

_LONGEST_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Dangling:
    """Rows of a table that refer to missing rows: the columns, the other table, how many, and the lowest value."""

    table: str
    columns: tuple[str, ...]
    referred: str
    count: int
    lowest: object


def find_damage(connection: Connection) -> str | None:
    """Return a description of the first damaged value, or None if every value fits the column's type."""
    for table in metadata.sorted_tables:
        columns = list(table.columns)
        tests = [(column, _make_column_test(column)) for column in columns]
        # The values as they are stored, not as the columns' types would convert them.
        raw = [column.label(None) for column in _list_untyped_columns(table)]
        for row in connection.execute(select(*raw)):
            for (column, fits), value in zip(tests, row, strict=True):
                if not fits(value):
                    return _describe_damage(table, column, value, dict(zip(table.columns.keys(), row, strict=True)))
    for dangling in find_dangling(connection):
        what = f"{' and '.join(dangling.columns)} {_shorten(dangling.lowest)} of {dangling.referred}"
        return f"a row of {dangling.table} refers to {what}, which is not there"
    return None


def find_dangling(connection: Connection) -> Iterator[Dangling]:
    """Yield the references to missing rows, by table and column."""
    for table in metadata.sorted_tables:
        for key in table.foreign_key_constraints:
            pairs = [(element.parent, element.column) for element in key.elements]
            count, lowest = connection.execute(_select_dangling(table, key.referred_table, pairs)).one()
            if count:
                columns = tuple(column.name for column, _ in pairs)
                yield Dangling(table.name, columns, key.referred_table.name, count, lowest)


def _select_dangling(table: Table, referred: Table, pairs: list[tuple[Column[Any], Column[Any]]]) -> Select[int, Any]:
    other = referred.alias()
    return (
        select(func.count(), func.min(pairs[0][0]))
        .select_from(table)
        .outerjoin(other, and_(*(column == other.c[to.name] for column, to in pairs)))
        .where(*(column.is_not(None) for column, _ in pairs), *(other.c[to.name].is_(None) for _, to in pairs))
    )


def fits_column(column: Column[Any], value: object) -> bool:
    """Return whether a value, as it is stored, has the type and shape of a column's values."""
    return _make_column_test(column)(value)


def _list_untyped_columns(table: Table) -> list[Column[Any]]:
    bare = Table(table.name, type(metadata)(), *(Column(column.name, NullType) for column in table.columns))
    return list(bare.columns)


def _make_column_test(column: Column[Any]) -> Callable[[object], bool]:
    """Return a function to test whether a value fits a column."""
    place = f"{column.table.name}.{column.name}"
    if place in _SHAPES:
        fits = _make_shape_test(_SHAPES[place][0])
    else:
        fits = _CHOICES[place].__contains__ if place in _CHOICES else _make_type_test(column.type)
    if column.nullable:
        return lambda value: value is None or fits(value)
    return fits


def _make_type_test(kind: TypeEngine[Any]) -> Callable[[object], bool]:
    if isinstance(kind, Moment):
        return _is_moment
    if isinstance(kind, Boolean):
        return lambda value: isinstance(value, bool) or value in (0, 1)
    if isinstance(kind, Integer | BigInteger):
        return lambda value: isinstance(value, int)
    if isinstance(kind, Float):
        return lambda value: isinstance(value, int | float)
    return lambda value: isinstance(value, str)


def _is_moment(value: object) -> bool:
    if isinstance(value, datetime):
        return True
    try:
        return isinstance(value, str) and datetime.fromisoformat(value) is not None
    except ValueError:
        return False


def _make_shape_test(has_shape: Callable[[object], bool]) -> Callable[[object], bool]:
    def is_json(value: object) -> bool:
        try:
            return isinstance(value, str) and has_shape(json.loads(value))
        except (ValueError, RecursionError):
            return False

    return is_json


def _describe_damage(table: Table, column: Column[Any], value: object, row: Mapping[str, object]) -> str:
    key = ", ".join(f"{key_column.name} {_shorten(row[key_column.key])}" for key_column in table.primary_key.columns)
    expected = "a moment" if isinstance(column.type, Moment) else _describe_type(column)
    return f"{column.name} of {table.name} ({key}) is {_shorten(value)}, not {expected}"


def _describe_type(column: Column[Any]) -> str:
    place = f"{column.table.name}.{column.name}"
    if place in _SHAPES:
        return f"JSON of {_SHAPES[place][1]}"
    if place in _CHOICES:
        return f"one of {', '.join(map(repr, _CHOICES[place]))}"
    if isinstance(column.type, Boolean):
        return "a Boolean"
    return "a number" if isinstance(column.type, Integer | BigInteger | Float) else "a text"


def _shorten(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
