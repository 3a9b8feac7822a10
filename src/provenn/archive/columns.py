"""Columns that a verb is given as a mapping or as keywords, beside `name=`, which may be a column too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from provenn.catalogs import Schema
from provenn.catalogs.calculators import SqlText
from provenn.criteria import parse_expression
from provenn.errors import CriterionError, DefinitionError

__all__ = ["derived_columns", "renamed_columns"]

T = TypeVar("T")
Columns = Mapping[str, str]
Expressions = Mapping[str, SqlText]


def renamed_columns(schema: Schema, mapping: Columns | None, keywords: Columns, name: str | None) -> dict[str, str]:
    """Return the columns that `rename` is given, if it is clear what `name` means.

    Beside columns that are keywords, or alone, ``name="x"`` may be meant for a column called ``name``.

    Parameters
    ----------
    schema
        The attributes of the catalog.
    mapping, keywords
        The columns, given in one way and in the other.
    name
        What `name=` was given.

    Raises
    ------
    DefinitionError
        If a column is given twice, or `name` may be a column and the name of the catalog.
    """
    by_keyword = bool(keywords) or not mapping
    if name is not None and by_keyword and schema.matching("name"):
        raise _ambiguous("rename", name, "the catalog has an attribute called name")
    return _once(mapping or {}, keywords)


def derived_columns(
    schema: Schema, mapping: Expressions | None, keywords: Expressions, name: str | None
) -> dict[str, SqlText]:
    """Return the expressions that `derive` is given, if it is clear what `name` means.

    Beside expressions that are keywords, ``name="x"`` may be meant for an attribute called ``name``, if that can be
    defined so: an attribute of this name is not there yet, and the text is an expression.

    Parameters
    ----------
    schema, mapping, keywords, name
        As for `renamed_columns`.

    Raises
    ------
    DefinitionError
        If an attribute is given twice, or `name` may be an attribute and the name of the catalog.
    """
    if name is not None and keywords and not schema.matching("name") and _is_expression(name, schema):
        raise _ambiguous("derive", name, f"{name} is an expression")
    return _once(mapping or {}, keywords)


def _once(mapping: Mapping[str, T], keywords: Mapping[str, T]) -> dict[str, T]:
    for column in mapping.keys() & keywords.keys():
        raise DefinitionError(f"{column} is given twice", hint="give it in the mapping, or as a keyword")
    return {**mapping, **keywords}


def _is_expression(text: str, schema: Schema) -> bool:
    try:
        parse_expression(text, schema)
    except CriterionError:
        return False
    return True


def _ambiguous(verb: str, name: str, because: str) -> DefinitionError:
    return DefinitionError(
        f'name="{name}" may mean the attribute name or the name of the new catalog: {because}',
        hint=f'for the attribute, write .{verb}({{"name": "{name}"}}); for the catalog, write all attributes as a '
        f'mapping, .{verb}({{…}}, name="{name}")',
    )
