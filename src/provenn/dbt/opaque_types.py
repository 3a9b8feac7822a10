"""The types of the columns of a query not understood by provenn, found without Spark.

Only types implied by the columns of the tables through plain rules are found: columns handed on, constants, casts,
counts, least and greatest values. All further types are unknown: a column of unknown type is never compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlglot import exp, parse_one
from sqlglot.dialects import Spark
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from provenn.catalogs import Catalog
from provenn.errors import TypeNameError
from provenn.files.type_names import parse_spark_type

__all__ = ["UNKNOWN_TYPE", "find_column_types"]

UNKNOWN_TYPE: Final = "struct<unknown_type:boolean>"

_PLAIN: Final = (
    exp.Alias,
    exp.Cast,
    exp.Count,
    exp.DataType,
    exp.Literal,
    exp.Max,
    exp.Min,
    exp.Paren,
    exp.RowNumber,
    exp.Subquery,
    exp.TryCast,
    exp.Window,
)
"""The expressions whose types are the same in Spark as sqlglot states them."""


def find_column_types(text: str, inputs: Sequence[Catalog]) -> list[tuple[str, str, bool]]:
    """Return name, type and nullability of each column of a SELECT over tables ``input_1`` and so on."""
    schema = {
        f"input_{position}": {attribute.name: str(attribute.type) for attribute in catalog.schema.attributes}
        for position, catalog in enumerate(inputs, 1)
    }
    query = parse_one(text, dialect="spark")
    names = query.named_selects if isinstance(query, exp.Query) else []
    types = _annotate(query, schema)
    return [(name, types.get(position, UNKNOWN_TYPE), True) for position, name in enumerate(names)]


def _annotate(query: exp.Expr, schema: Mapping[str, Mapping[str, str]]) -> dict[int, str]:
    """Return the known types of the columns of a query, by position."""
    known: dict[str, object] = {
        table: {name: kind for name, kind in columns.items() if "<" not in kind} for table, columns in schema.items()
    }
    annotators: dict[Any, Any] = {
        kind: annotator for kind, annotator in Spark.EXPRESSION_METADATA.items() if issubclass(kind, _PLAIN)
    }
    try:
        qualified = qualify(query, schema=dict(schema), dialect="spark", validate_qualify_columns=False)
        annotated = annotate_types(qualified, schema=known, expression_metadata=annotators, dialect="spark")
    except (SqlglotError, KeyError, ValueError):
        return {}
    types: dict[int, str] = {}
    for position, column in enumerate(annotated.selects if isinstance(annotated, exp.Query) else ()):
        kind = column.type
        if kind is None or kind.is_type(exp.DataType.Type.UNKNOWN, exp.DataType.Type.NULL):
            continue
        try:
            types[position] = str(parse_spark_type(kind.sql("spark").lower(), scalar=True))
        except TypeNameError:
            continue
    return types
