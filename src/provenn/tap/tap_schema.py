"""TAP_SCHEMA: the tables of the service as tables, in a database in memory that queries can read without Spark."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, Final

from provenn.tap.column_types import TEXT, ColumnType
from provenn.tap.served_tables import SCHEMA, ForeignKey, ServedColumn, ServedTable

__all__ = ["TAP_SCHEMA", "TAP_SCHEMA_TABLES", "fill_database"]

TAP_SCHEMA: Final = "TAP_SCHEMA"
"""The name of the schema that describes all tables."""

_INT: Final = ColumnType("int")


_KEYS: Final = (
    ("tables", "schema_name", "schemas", "schema_name"),
    ("columns", "table_name", "tables", "table_name"),
    ("keys", "from_table", "tables", "table_name"),
    ("keys", "target_table", "tables", "table_name"),
    ("key_columns", "key_id", "keys", "key_id"),
)
"""The references between the tables of TAP_SCHEMA."""


def _make_table(name: str, description: str, *columns: ServedColumn) -> ServedTable:
    keys = tuple(
        ForeignKey(f"{TAP_SCHEMA}.{target}", ((referring, key),))
        for table, referring, target, key in _KEYS
        if table == name
    )
    return ServedTable(TAP_SCHEMA, f"{TAP_SCHEMA}.{name}", description, columns, keys)


def _make_text(name: str, description: str) -> ServedColumn:
    return ServedColumn(name, TEXT, description=description, standard=True)


def _make_number(name: str, description: str) -> ServedColumn:
    return ServedColumn(name, _INT, description=description, standard=True)


TAP_SCHEMA_TABLES: Final[tuple[ServedTable, ...]] = (
    _make_table(
        "schemas",
        "The schemas of this service",
        _make_text("schema_name", "name of the schema"),
        _make_text("utype", "utype, if it belongs to a data model"),
        _make_text("description", "description of the schema"),
        _make_number("schema_index", "recommended order"),
    ),
    _make_table(
        "tables",
        "The tables of this service",
        _make_text("schema_name", "name of the schema"),
        _make_text("table_name", "name of the table in queries"),
        _make_text("table_type", "table or view"),
        _make_text("utype", "utype, if it belongs to a data model"),
        _make_text("description", "definition of the catalog in words"),
        _make_number("table_index", "recommended order"),
    ),
    _make_table(
        "columns",
        "The columns of all tables",
        _make_text("table_name", "name of the table in queries"),
        _make_text("column_name", "name of the column in queries"),
        _make_text("datatype", "type in a VOTable"),
        _make_text("arraysize", "arraysize in a VOTable"),
        _make_text("xtype", "xtype in a VOTable"),
        _make_number('"size"', "length of the values, if it is fixed"),
        _make_text("description", "description of the column"),
        _make_text("utype", "utype, if it belongs to a data model"),
        _make_text("unit", "unit of the values"),
        _make_text("ucd", "UCD of the values"),
        _make_number("indexed", "1 if queries on the column are fast"),
        _make_number("principal", "1 for the columns of most interest"),
        _make_number("std", "1 for columns that a standard defines"),
        _make_number("column_index", "order of the columns"),
    ),
    _make_table(
        "keys",
        "The references between tables",
        _make_text("key_id", "identifier of the reference"),
        _make_text("from_table", "the table that refers"),
        _make_text("target_table", "the table that it refers to"),
        _make_text("utype", "utype, if it belongs to a data model"),
        _make_text("description", "description of the reference"),
    ),
    _make_table(
        "key_columns",
        "The columns of the references",
        _make_text("key_id", "identifier of the reference"),
        _make_text("from_column", "the column that refers"),
        _make_text("target_column", "the column of the key"),
    ),
)
"""The tables of TAP_SCHEMA."""

_SCHEMAS: Final = (
    (SCHEMA, None, "The catalogs of the archive: each is a table under its name", 0),
    (TAP_SCHEMA, None, "The tables of this service", 1),
)


def fill_database(tables: Sequence[ServedTable]) -> sqlite3.Connection:
    """Return a database with the tables of TAP_SCHEMA, which describe some tables and themselves."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    every_table = (*tables, *TAP_SCHEMA_TABLES)
    rows: dict[str, Iterator[Sequence[Any]]] = {
        "schemas": iter(_SCHEMAS),
        "tables": _list_table_rows(every_table),
        "columns": _list_column_rows(every_table),
        "keys": _list_key_rows(every_table),
        "key_columns": _list_key_column_rows(every_table),
    }
    for table in TAP_SCHEMA_TABLES:
        name = table.name.rpartition(".")[2]
        columns = ", ".join(
            f"{column.name} {'INTEGER' if column.type == _INT else 'TEXT'} COLLATE BINARY" for column in table.columns
        )
        marks = ", ".join("?" for _ in table.columns)
        connection.execute(f"CREATE TABLE {name} ({columns})")
        connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows[name])  # noqa: S608 - own names
    connection.commit()
    return connection


def _list_table_rows(tables: Sequence[ServedTable]) -> Iterator[Sequence[Any]]:
    for number, table in enumerate(tables):
        yield table.schema, table.name, "table", None, table.description, number


def _list_column_rows(tables: Sequence[ServedTable]) -> Iterator[Sequence[Any]]:
    for table in tables:
        for number, column in enumerate(table.columns):
            kind = column.type
            yield (
                *(table.name, column.name, kind.datatype, kind.arraysize or None, kind.xtype or None, None),
                *(column.description or None, None, column.unit or None, column.ucd or None),
                *(0, int(column.key or column.standard or _is_main(column)), int(column.standard), number),
            )


def _is_main(column: ServedColumn) -> bool:
    return "meta.main" in column.ucd


def _list_key_rows(tables: Sequence[ServedTable]) -> Iterator[Sequence[Any]]:
    for table in tables:
        for number, key in enumerate(table.keys, 1):
            yield f"{table.name}:{number}", table.name, key.target, None, None


def _list_key_column_rows(tables: Sequence[ServedTable]) -> Iterator[Sequence[Any]]:
    for table in tables:
        for number, key in enumerate(table.keys, 1):
            for referring, target in key.pairs:
                yield f"{table.name}:{number}", referring, target
