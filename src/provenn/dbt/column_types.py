"""The columns of base tables with their types: from ``catalog.json`` of dbt, from the project, or from files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Final

from sqlglot import exp
from sqlglot.errors import SqlglotError

from provenn.criteria import Type
from provenn.dbt.manifest import read_json
from provenn.dbt.resources import Resource
from provenn.errors import ManifestError, ProvennError, TypeNameError
from provenn.files.columns import FileColumn
from provenn.files.csv_columns import DEFAULT_OPTIONS, read_csv_columns
from provenn.files.type_names import parse_spark_type
from provenn.gate.entrances import entrance

__all__ = ["ColumnSources", "find_seed_file", "parse_warehouse_type", "read_seed_columns"]

_WHOLE_NUMBERS: Final = {
    "INT128": "decimal(38,0)",
    "UBIGINT": "decimal(20,0)",
    "UINT": "bigint",
    "USMALLINT": "int",
    "UTINYINT": "smallint",
}
_TEXTS: Final = ("CHAR", "ENUM", "NCHAR", "NVARCHAR", "TEXT", "UUID", "VARCHAR")
_DECIMALS: Final = {"bigquery": "decimal(38,9)"}
"""The type of a decimal without digits, where it is not ``decimal(38,18)``."""


@lru_cache(maxsize=4096)
def parse_warehouse_type(text: str, dialect: str) -> Type:
    """Return the type of Spark for a type of a warehouse; an unknown type keeps its name, and is never compared.

    >>> [str(parse_warehouse_type(text, "duckdb")) for text in ("INTEGER", "VARCHAR(20)", "HUGEINT", "TIME")]
    ['int', 'string', 'decimal(38,0)', 'struct<unknown:TIME>']
    >>> str(parse_warehouse_type("numeric", "postgres"))
    'decimal(38,18)'
    """
    unknown = Type(f"struct<unknown:{''.join(filter(str.isalnum, text)) or 'nothing'}>")
    try:
        kind = exp.DataType.build(text, dialect=dialect)
    except (SqlglotError, ValueError):
        return unknown
    word = kind.this.name if isinstance(kind.this, exp.DataType.Type) else str(kind.this)
    if word in _TEXTS:
        return parse_spark_type("string")
    if word in _WHOLE_NUMBERS:
        return parse_spark_type(_WHOLE_NUMBERS[word])
    if word == "DECIMAL" and not kind.expressions:
        return parse_spark_type(_DECIMALS.get(dialect, "decimal(38,18)"))
    if word == "TIME":
        return unknown
    try:
        return parse_spark_type(kind.sql("spark").lower())
    except TypeNameError:
        return unknown


class ColumnSources:
    """Where the columns of a project's base tables are described.

    Parameters
    ----------
    dialect
        The dialect of the types in the warehouse.
    catalog
        The content of ``catalog.json``; empty if there is none.
    folder
        The folder of the project, with the files of seeds; None if it is not there.
    """

    def __init__(self, dialect: str, catalog: Mapping[str, Any], folder: Path | None) -> None:
        self._dialect, self._catalog = dialect, catalog
        self.folder = folder

    @classmethod
    def beside(cls, manifest: Path, dialect: str) -> ColumnSources:
        """Return the files beside a manifest: ``catalog.json``, and the project in the folder above."""
        catalog = manifest.with_name("catalog.json")
        content = read_json(catalog, "catalog") if catalog.is_file() else {}
        folder = manifest.resolve().parent.parent
        return cls(dialect, content, folder if (folder / "dbt_project.yml").is_file() else None)

    def find_columns(self, resource: Resource) -> tuple[FileColumn, ...]:
        """Return the columns of a table.

        Raises
        ------
        ManifestError
            If the types of its columns are not stated anywhere.
        """
        stated = self._read_catalog(resource) or _read_described(resource)
        if not stated:
            columns = self._read_seed(resource)
            if columns:
                return columns
            raise ManifestError(
                f"the types of the columns of {resource.name} are not known",
                hint="run dbt docs generate, which writes target/catalog.json; or state data_type for all its columns",
            )
        return tuple(
            FileColumn(name, parse_warehouse_type(kind, self._dialect), nullable=True) for name, kind in stated.items()
        )

    def _read_catalog(self, resource: Resource) -> dict[str, str]:
        """Return the types of columns in ``catalog.json``, by name, in their order; empty without an entry."""
        tables = self._catalog.get("sources" if resource.kind == "source" else "nodes")
        table = tables.get(resource.unique_id) if isinstance(tables, dict) else None
        columns = table.get("columns") if isinstance(table, dict) else None
        if not isinstance(columns, dict):
            return {}
        try:
            ordered = sorted(columns.values(), key=lambda column: int(column["index"]))
            return {str(column["name"]): str(column["type"]) for column in ordered}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ManifestError(f"catalog.json describes {resource.name} in an unknown form: {error}") from error

    def _read_seed(self, resource: Resource) -> tuple[FileColumn, ...]:
        """Return the columns in the file of a seed; empty without a file."""
        file = find_seed_file(resource, self.folder)
        if file is None:
            return ()
        configured = {name: parse_warehouse_type(kind, self._dialect) for name, kind in resource.column_types}
        return tuple(
            FileColumn(column.name, configured.get(column.name, column.type), nullable=True)
            for column in read_seed_columns(file)
        )


@entrance("seed of dbt", "expansion", "types")
def read_seed_columns(file: Path) -> tuple[FileColumn, ...]:
    """Return the columns of a CSV file, with types seen in the first block."""
    try:
        with file.open("rb") as stream:
            return read_csv_columns(stream, str(file), DEFAULT_OPTIONS, {}).columns
    except OSError as error:
        raise ManifestError(f"{file} cannot be read: {error.strerror or error}") from error
    except ProvennError as error:
        raise ManifestError(f"the seed {file.stem} cannot be read: {error.message}", hint=error.hint) from error


def find_seed_file(resource: Resource, folder: Path | None) -> Path | None:
    """Return the CSV file of a seed; None if the file is missing, or lies outside the folder of the project."""
    path = PurePosixPath(resource.path)
    if folder is None or resource.kind != "seed" or path.suffix != ".csv" or path.is_absolute():
        return None
    file = (folder / path).resolve()
    return file if file.is_relative_to(folder.resolve()) and file.is_file() else None


def _read_described(resource: Resource) -> dict[str, str]:
    """Return the types of columns stated by the project; empty unless the project states all types."""
    stated = {column.name: column.data_type for column in resource.columns}
    return stated if all(stated.values()) else {}
