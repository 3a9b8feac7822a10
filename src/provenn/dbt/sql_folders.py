"""Folders of SQL files as projects: a file is a query with the name of the file, or statements to create tables.

``CREATE TABLE … (…)`` describes a base table; ``CREATE TABLE | VIEW … AS SELECT`` and a SELECT alone are queries.
Tables created by no file are catalogs of an archive. Nothing is executed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from provenn.dbt.bases import BaseTable
from provenn.dbt.manifest import sort_resources
from provenn.dbt.resources import DbtManifest, Resource, ResourceColumn
from provenn.errors import ManifestError, did_you_mean
from provenn.gate.entrances import entrance

__all__ = ["LONGEST_FILE", "MOST_FILES", "read_folder"]

LONGEST_FILE: Final = 16 * 2**20
"""The most bytes of a file."""

MOST_FILES: Final = 10_000
"""The most files of a folder."""


def read_folder(
    folder: Path, dialect: str, known: Mapping[str, BaseTable], keys: Mapping[str, Sequence[str]]
) -> DbtManifest:
    """Return the tables and queries in a folder of SQL files.

    Parameters
    ----------
    folder
        The folder; files in folders below it count.
    dialect
        The dialect of the SQL.
    known
        Tables that queries may read though no file creates them, by name in lower case.
    keys
        The key columns of base tables, by name.

    Raises
    ------
    ManifestError
        If a file cannot be read, two files have the same name, or a table is created nowhere.
    """
    resources: dict[str, Resource] = {}
    for file in _list_files(folder):
        for resource in _read_file(file, dialect):
            if resource.unique_id in resources:
                raise ManifestError(
                    f"{folder} has two tables {resource.name}", hint="give each of them a name of its own"
                )
            resources[resource.unique_id] = resource
    for name, columns in keys.items():
        table = resources.get(name.lower())
        if table is not None and table.kind == "source":
            resources[name.lower()] = replace(table, primary_key=tuple(columns))
        elif name.lower() not in known:
            hint = did_you_mean(name, [other.name for other in resources.values()])
            raise ManifestError(f"{folder} creates no table {name}", hint=hint)
    everything = dict(resources)
    for resource in resources.values():
        for name in resource.depends_on:
            if name not in everything:
                if name not in known:
                    raise ManifestError(
                        f"{resource.name} reads the table {name}, which is neither in {folder} nor in the archive",
                        hint=did_you_mean(name, (*everything, *known)) or "add a file with its CREATE TABLE statement",
                    )
                everything[name] = Resource(name, "source", name, "", (name,), relation_name=name)
    return DbtManifest("", "", dialect, sort_resources(everything, folder), ())


def _list_files(folder: Path) -> list[Path]:
    files = sorted(folder.rglob("*.sql"))
    if not files:
        raise ManifestError(f"{folder} has no SQL files", hint="their names end with .sql")
    if len(files) > MOST_FILES:
        raise ManifestError(f"{folder} has more than {MOST_FILES:,} SQL files")
    return files


@entrance("folder of SQL files", "length", "criteria")
def _read_text(file: Path) -> str:
    """Return the text of a file."""
    try:
        with file.open("rb") as stream:
            content = stream.read(LONGEST_FILE + 1)
        if len(content) > LONGEST_FILE:
            raise ManifestError(f"{file} is longer than {LONGEST_FILE:,} bytes")
        return content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"{file} cannot be read: {error}") from error


def _read_file(file: Path, dialect: str) -> Iterator[Resource]:
    """Yield the tables and queries of a file."""
    text = _read_text(file)
    try:
        statements = [statement for statement in parse(text, dialect=dialect) if statement is not None]
    except (SqlglotError, RecursionError) as error:
        raise ManifestError(f"{file} cannot be read: {str(error).splitlines()[0]}") from error
    for statement in statements:
        if isinstance(statement, exp.Query) and len(statements) == 1:
            yield _make_query(file.stem, statement, text)
        elif isinstance(statement, exp.Create) and isinstance(statement.expression, exp.Query):
            name = statement.find(exp.Table)
            query = statement.expression
            yield _make_query(name.name if name else file.stem, query, query.sql(dialect))
        elif isinstance(statement, exp.Create) and isinstance(statement.this, exp.Schema):
            yield _make_table(statement.this, dialect)
        else:
            raise ManifestError(
                f"{file} holds a {statement.key.upper()} statement",
                hint="one SELECT for each file, or CREATE TABLE and CREATE VIEW statements",
            )


def _make_query(name: str, query: exp.Expr, text: str) -> Resource:
    """Return a query with the tables read by the query."""
    own = {table.alias.lower() for table in query.find_all(exp.CTE)}
    read = dict.fromkeys(table.name.lower() for table in query.find_all(exp.Table) if table.name)
    parents = tuple(table for table in read if table not in own)
    return Resource(
        name.lower(), "model", name, "", (name.lower(),), code=text, materialized="view", depends_on=parents
    )


def _make_table(schema: exp.Schema, dialect: str) -> Resource:
    """Return a base table from the columns of a CREATE TABLE statement."""
    columns, key = [], list[str]()
    for part in schema.expressions:
        if isinstance(part, exp.ColumnDef):
            kind = part.args.get("kind")
            columns.append(ResourceColumn(part.name, "" if kind is None else kind.sql(dialect)))
            if any(isinstance(constraint.kind, exp.PrimaryKeyColumnConstraint) for constraint in part.constraints):
                key.append(part.name)
        for primary in part.find_all(exp.PrimaryKey):
            key += [column.name for column in primary.expressions]
    name = schema.this.name
    return Resource(name.lower(), "source", name, "", (name.lower(),), tuple(columns), primary_key=tuple(key))
