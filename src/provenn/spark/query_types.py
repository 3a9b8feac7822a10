"""The types of the columns of a query, as Spark finds them without reading a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark.errors import AnalysisException
from sqlglot import exp, parse_one

from provenn.catalogs import Schema
from provenn.errors import QueryError
from provenn.spark.spark_errors import collect_error_text

if TYPE_CHECKING:
    from provenn.spark.engine import Engine

__all__ = ["find_column_types"]


def find_column_types(engine: Engine, text: str, tables: Mapping[str, Schema]) -> list[tuple[str, str, bool]]:
    """Return name, type and nullability of each column of a query.

    Parameters
    ----------
    engine
        The engine.
    text
        A SELECT in Spark's dialect.
    tables
        The attributes of its tables, by name.

    Raises
    ------
    QueryError
        If Spark does not understand the query.
    """
    session = engine.session
    own = {name: f"provenn_{uuid4().hex}" for name in tables}
    tree = parse_one(text, dialect="spark")
    for table in tree.find_all(exp.Table):
        if table.name in own and not table.db:
            alias = table.alias or table.name
            table.set("this", exp.to_identifier(own[table.name]))
            table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    try:
        for name, schema in tables.items():
            columns = ", ".join(f"`{a.name.replace('`', '``')}` {a.type}" for a in schema.attributes)
            session.createDataFrame([], columns).createOrReplaceTempView(own[name])
        fields = session.sql(tree.sql(dialect="spark")).schema.fields
    except AnalysisException as error:
        reason = collect_error_text(error).splitlines()[0]
        raise QueryError(f"Spark does not understand this part of the query: {reason}") from error
    finally:
        for view in own.values():
            session.catalog.dropTempView(view)
    return [(field.name, field.dataType.simpleString(), field.nullable) for field in fields]
