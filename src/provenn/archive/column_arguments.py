"""Columns given to a verb as a mapping or as keywords, beside `name=`, which may also mean a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from provenn.catalogs import Schema
from provenn.catalogs.calculators import SqlText
from provenn.criteria import parse_expression
from provenn.errors import CriterionError, DefinitionError

__all__ = ["collect_derived_columns", "collect_renamed_columns"]

T = TypeVar("T")
Columns = Mapping[str, str]
Expressions = Mapping[str, SqlText]


def collect_renamed_columns(
    schema: Schema, mapping: Columns | None, keywords: Columns, name: str | None
) -> dict[str, str]:
    """Return the columns for `rename`, if the meaning of `name` is clear.

    Beside columns as keywords, or alone, ``name="x"`` may be meant for a column called ``name``.

    Parameters
    ----------
    schema
        The attributes of the catalog.
    mapping, keywords
        The columns as a mapping, and the columns as keywords.
    name
        The value of `name=`.

    Raises
    ------
    DefinitionError
        If a column is given twice, or `name` may be a column and the name of the catalog.
    """
    by_keyword = bool(keywords) or not mapping
    if name is not None and by_keyword and schema.matching("name"):
        raise _make_ambiguity_error("rename", name, "the catalog has an attribute called name")
    return _merge_columns(mapping or {}, keywords)


def collect_derived_columns(
    schema: Schema, mapping: Expressions | None, keywords: Expressions, name: str | None
) -> dict[str, SqlText]:
    """Return the expressions for `derive`, if the meaning of `name` is clear.

    Beside expressions as keywords, ``name="x"`` may be meant for an attribute called ``name``, if this definition is
    possible: the schema has no attribute of this name yet, and the text is an expression.

    Parameters
    ----------
    schema, mapping, keywords, name
        As for `collect_renamed_columns`.

    Raises
    ------
    DefinitionError
        If an attribute is given twice, or `name` may be an attribute and the name of the catalog.
    """
    if name is not None and keywords and not schema.matching("name") and _is_expression(name, schema):
        raise _make_ambiguity_error("derive", name, f"{name} is an expression")
    return _merge_columns(mapping or {}, keywords)


def _merge_columns(mapping: Mapping[str, T], keywords: Mapping[str, T]) -> dict[str, T]:
    """Return the columns of a mapping and of keywords together; refuse a column given in both."""
    for column in mapping.keys() & keywords.keys():
        raise DefinitionError(f"{column} occurs twice", hint="pass it either in the mapping or as a keyword")
    return {**mapping, **keywords}


def _is_expression(text: str, schema: Schema) -> bool:
    """Whether a text is an expression over the attributes of a schema."""
    try:
        parse_expression(text, schema)
    except CriterionError:
        return False
    return True


def _make_ambiguity_error(verb: str, name: str, because: str) -> DefinitionError:
    """Return the error about `name` meaning an attribute or the catalog."""
    return DefinitionError(
        f'name="{name}" may mean the attribute name or the name of the new catalog: {because}',
        hint=f'for the attribute, write .{verb}({{"name": "{name}"}}); for the catalog, write all attributes as a '
        f'mapping, .{verb}({{…}}, name="{name}")',
    )
