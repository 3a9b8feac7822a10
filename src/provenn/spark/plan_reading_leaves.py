"""The leaves of Spark's plans: files, tables, constants and ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol
from urllib.parse import unquote, urlsplit

from provenn.errors import QueryError
from provenn.spark.plan_reading_json import JsonNode, read_type
from provenn.spark.plan_reading_literals import write_value
from provenn.spark.plan_reading_refusals import make_refusal

MARK: Final = "provenn:"
"""The beginning of the alias of a DataFrame that provenn returned; the rest is the digest of its catalog."""

__all__ = [
    "MARK",
    "KnownTable",
    "Leaves",
    "SparkRelation",
    "describe_relation",
    "list_columns",
    "list_local_rows",
    "normalize_address",
]

_MOST_ROWS = 1000
"""The number of rows of constants that a query may hold."""


@dataclass(frozen=True, slots=True)
class SparkRelation:
    """What Spark says about the files or the table that a leaf reads.

    Parameters
    ----------
    name
        The parts of the name of a table, of which the last is its own; empty for files that were read by path.
    addresses
        The addresses of all files: absolute paths on this machine, or URIs.
    roots
        The paths that were read, as addresses.
    format
        The format of the files in lower case; empty if they are not known.
    options
        The options that the files are read with.
    columns
        The names and types of the columns.
    """

    name: tuple[str, ...]
    addresses: tuple[str, ...]
    roots: tuple[str, ...]
    format: str
    options: Mapping[str, str]
    columns: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return ".".join(self.name) or ", ".join(self.roots)


@dataclass(frozen=True, slots=True)
class KnownTable:
    """The table of a query that a leaf is.

    Parameters
    ----------
    name
        The name of the table in the tree.
    columns
        The names and types of all its columns.
    """

    name: str
    columns: tuple[tuple[str, str], ...]


class Leaves(Protocol):
    """The tables that the leaves of plans are."""

    def find_view(self, name: tuple[str, ...]) -> KnownTable | None:
        """Return the table for a view or an alias with a name; None if the view is to be read as its query."""

    def find_relation(self, relation: SparkRelation) -> KnownTable:
        """Return the table for files or a table of Spark.

        Raises
        ------
        ProvennError
            If no table is known for them.
        """


def list_columns(node: JsonNode) -> list[JsonNode]:
    """Return the columns of a leaf; those of a table of Hive are in two fields."""
    fields = ("output",) if "output" in node.fields else ("dataCols", "partitionCols")
    return [column for field in fields for column in node.list_trees(field)]


def describe_relation(node: JsonNode) -> SparkRelation:
    """Return what Spark says about the files or table of a leaf.

    Raises
    ------
    QueryError
        If the leaf reads something else.
    """
    columns = tuple((attribute.name, read_type(attribute.fields["dataType"])) for attribute in list_columns(node))
    if node.fields.get("isStreaming"):
        raise make_refusal(node.kind, "is a stream, which is never complete", "adopt a DataFrame of stored data")
    java = node.java()
    if node.kind == "LogicalRelation":
        relation, table = java.relation(), java.catalogTable()
        name = _read_table_name(table.get().identifier()) if table.isDefined() else ()
        if relation.getClass().getSimpleName() == "HadoopFsRelation":
            location = relation.location()
            return SparkRelation(
                name,
                tuple(sorted(normalize_address(address) for address in location.inputFiles())),
                tuple(normalize_address(path.toString()) for path in _list_items(location.rootPaths())),
                relation.fileFormat().toString().lower(),
                _read_map(relation.options()),
                columns,
            )
        if not name:
            raise make_refusal(
                relation.getClass().getSimpleName(), "is not supported", "save it as Parquet, or as a table"
            )
        return SparkRelation(name, (), (), "", {}, columns)
    if node.kind == "HiveTableRelation":
        return SparkRelation(_read_table_name(java.tableMeta().identifier()), (), (), "", {}, columns)
    if node.kind == "DataSourceV2Relation" and java.identifier().isDefined():
        return SparkRelation(tuple(str(java.name()).replace("`", "").split(".")), (), (), "", {}, columns)
    raise make_refusal(node.kind)


def _read_table_name(identifier: Any) -> tuple[str, ...]:  # noqa: ANN401 - a Java object
    return tuple(str(part) for part in _list_items(identifier.nameParts()))


def _list_items(sequence: Any) -> list[Any]:  # noqa: ANN401 - a Java object
    return [sequence.apply(position) for position in range(sequence.size())]


def _read_map(java_map: Any) -> dict[str, str]:  # noqa: ANN401 - a Java object
    pairs = java_map.toSeq()
    return {str(pair._1()).lower(): str(pair._2()) for pair in _list_items(pairs)}  # noqa: SLF001 - Scala's names


def normalize_address(address: str) -> str:
    """Return the address of a file as provenn writes it: a path on this machine, or a URI.

    >>> normalize_address("file:///data/a%20b.parquet"), normalize_address("s3a://bucket/stars.parquet")
    ('/data/a b.parquet', 's3://bucket/stars.parquet')
    """
    parts = urlsplit(address)
    if parts.scheme in ("", "file"):
        return unquote(parts.path) if parts.scheme else address
    return address.replace("s3a://", "s3://", 1)


def list_local_rows(node: JsonNode, session: Any) -> tuple[tuple[str, ...], ...]:  # noqa: ANN401 - of Spark
    """Return the rows of constants, as SQL.

    Raises
    ------
    QueryError
        If they are too many, or have no exact form in SQL.
    """
    from pyspark.sql.classic.dataframe import DataFrame  # noqa: PLC0415 - there is none over Spark Connect

    java = node.java()
    number = java.data().size()
    if number > _MOST_ROWS:
        raise QueryError(
            f"the DataFrame holds {number:,} rows that a program made in memory",
            hint="write them to Parquet, or ingest them as a table of pandas",
        )
    types = [read_type(attribute.fields["dataType"]) for attribute in node.list_trees("output")]
    for kind in types:
        if kind.startswith(("interval", "array", "map", "struct", "variant", "time(")):
            raise QueryError(f"a constant of the type {kind} is not supported", hint="make it from simple constants")
    dataset = session._jvm.org.apache.spark.sql.classic.Dataset  # noqa: SLF001 - no public call makes it
    frame = DataFrame(dataset.ofRows(session._jsparkSession, java), session)  # noqa: SLF001
    names = [f"c{position}" for position in range(len(types))]
    rows = frame.toDF(*names).selectExpr(
        *(_make_exact_column(name, kind) for name, kind in zip(names, types, strict=True))
    )
    return tuple(
        tuple(write_value(kind, _restore_value(kind, value)) for kind, value in zip(types, row, strict=True))
        for row in rows.collect()
    )


def _make_exact_column(name: str, kind: str) -> str:
    """Return SQL for a column whose values come to Python unchanged, whatever the time zone of this machine."""
    conversions = {"timestamp": f"unix_micros({name})", "date": f"unix_date({name})"}
    return conversions.get(kind, f"CAST({name} AS STRING)" if kind == "timestamp_ntz" else name)


def _restore_value(kind: str, value: Any) -> Any:  # noqa: ANN401 - a value of any type
    if kind == "timestamp_ntz" and value is not None:
        moment = datetime.fromisoformat(value).replace(tzinfo=UTC)
        return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return value
