"""Adding catalogs to an archive: on files, on tables in memory, or from existing catalogs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, get_args

from provenn.archive import rebuilding
from provenn.archive.context import Context
from provenn.archive.growing import add_version, append_files, find_new_version
from provenn.archive.notices import make_wording_notice
from provenn.catalogs import Base, Files
from provenn.catalogs import Catalog as Definition
from provenn.data.given_tables import locate_table
from provenn.database.transactions import Reading, Writing
from provenn.definitions import base_locations, catalog_names, catalog_store, populations, wordings
from provenn.errors import BaseFilesError
from provenn.files.file_set import GIVEN
from provenn.files.fingerprints import Trust
from provenn.files.table_logs import find_snapshot
from provenn.hints import Hint
from provenn.knowledge import verified_keys
from provenn.words.vocabulary import SHORT

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from astropy.table import Table

__all__ = ["SupportsArrow", "append_base", "define_catalog", "define_or_wait", "ingest_base"]


class SupportsArrow(Protocol):
    """A table exportable to Arrow: a table of Arrow, of polars, of DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as an Arrow C stream."""


def ingest_base(
    context: Context,
    name: str,
    path: str | PathLike[str] | Table | pd.DataFrame | SupportsArrow,
    *,
    key: str | Sequence[str] | None,
    population: str,
    format: str | None = None,  # noqa: A002 - Spark's word for it
    schema: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    null: str | None = None,
    rebuild: bool | None = None,
    verify: bool = False,
    trust: Trust | None = None,
    version: int | None = None,
    when: datetime | str | None = None,
) -> Definition:
    """Define a base catalog on files or on a table in memory, and name the catalog; see `Archive.ingest`."""
    if trust not in (None, *get_args(Trust)):
        hint = Hint('pass trust="content" or trust="metadata"', command="write --trust content or --trust metadata")
        raise BaseFilesError(f"unknown way to trust files: {trust!r}", hint=hint)
    workshop = context.workshop
    if not isinstance(path, str | PathLike):
        table = _convert_table(path, key, format, schema, options, null, trust, version, when)
        with workshop.keep_table(table) as files:
            return _ingest_files(context, name, files, key, population, rebuild=rebuild, verify=verify, trust=trust)
    snapshot = find_snapshot(path, format, version, when)
    inspecting = {"format": format, "schema": schema, "options": options, "null": null, "snapshot": snapshot}
    new_version = None
    if format != "table" and trust is None:
        earlier = context.read(_find_earlier, name)
        if earlier is not None:
            new_version = find_new_version(context, earlier, path, key=key, population=population, **inspecting)
    if new_version is not None:
        return add_version(context, name, new_version, rebuild=rebuild)
    if format == "table":
        files = workshop.inspect_table(str(path), trust)
    else:
        files = workshop.inspect_files(path, **inspecting, trust=trust)
    return _ingest_files(context, name, files, key, population, rebuild=rebuild, verify=verify, trust=trust)


def _find_earlier(reading: Reading, name: str) -> Definition | None:
    """Return the present catalog of a name; None if the name is free."""
    digest = catalog_names.find_named_digest(reading, name)
    return None if digest is None else catalog_store.get_catalog(reading, digest)


def append_base(
    context: Context,
    name: str,
    path: str | PathLike[str] | Table | pd.DataFrame | SupportsArrow,
    *,
    format: str | None = None,  # noqa: A002 - Spark's word for it
    schema: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    null: str | None = None,
) -> Definition:
    """Define a version of a base catalog with more files; see `Archive.append`."""
    earlier = context.read(_find_earlier, name)
    if earlier is None:
        raise context.read(catalog_names.make_unknown_name_error, name)
    context.read(catalog_names.check_movable, name)
    workshop = context.workshop
    if isinstance(path, str | PathLike):
        files = workshop.inspect_files(path, format=format, schema=schema, options=options, null=null)
        return add_version(context, name, append_files(context, earlier, files), rebuild=True)
    with workshop.keep_table(_convert_table(path, None, format, schema, options, null)) as files:
        return add_version(context, name, append_files(context, earlier, files), rebuild=True)


def _ingest_files(
    context: Context,
    name: str,
    files: Files,
    key: str | Sequence[str] | None,
    population: str,
    *,
    rebuild: bool | None,
    verify: bool,
    trust: Trust | None,
) -> Base:
    """Define a base catalog on inspected files, and name the catalog."""
    workshop = context.workshop
    known_population = context.read(populations.find_population, population)
    base = Base.of(files, key=key, population=known_population or population)
    workshop.check_first_keys(base)
    if trust is None and not files.table:  # old archives hold no versions of tables
        base = workshop.find_old_base(base, name) or base
    rows = workshop.count_key_rows(base) if verify else None
    context.write(_add_base, name, base, files, rows, rebuild=rebuild)
    return base


def _add_base(writing: Writing, name: str, base: Base, files: Files, rows: int | None, *, rebuild: bool | None) -> None:
    """Add a base catalog on inspected files under a name, and record the number of rows, if counted."""
    if files.format == GIVEN and writing.folder is not None:
        locate_table(writing.folder, files)  # a process that slept for long has lost its pin, and maybe the table
    earlier = catalog_names.find_named_digest(writing, name)
    if earlier is not None and earlier != base.digest:
        rebuilding.replace_base(writing, name, earlier, base, rebuild=rebuild)
    else:
        if not catalog_store.add_catalogs(writing, base):
            base_locations.record_current_location(writing, base)
        catalog_names.assign_name(writing, name, base.digest)
    if rows is not None:
        verified_keys.record_verification(writing, base.digest, rows)


def define_catalog(context: Context, definition: Definition, name: str | None = None) -> None:
    """Add a definition under a new name; see `Archive.define`."""
    with context.database.writing() as writing:
        earlier = wordings.find_earlier_wording(writing, definition)
        catalog_store.add_catalogs(writing, definition)
        if name is not None:
            catalog_names.assign_name(writing, name, definition.digest)
    if earlier is not None:
        context.workshop.notices.tell([make_wording_notice(name or definition.digest[:SHORT], earlier)])


def define_or_wait(context: Context, definition: Definition, name: str | None = None) -> None:
    """Add a definition under a new name, or let it wait in an open batch; see `Archive.batch`."""
    if context.batch is not None and context.batch.is_open:
        context.batch.add(definition, name)
    else:
        define_catalog(context, definition, name)


def _convert_table(table: object, key: str | Sequence[str] | None, *others: object) -> pa.Table:
    """Return a table in memory as Arrow, if suitable as the base of a catalog; write nothing yet."""
    if any(option is not None for option in others):
        raise BaseFilesError(
            "a table in memory already has types",
            hint="omit format=, schema=, options=, null=, trust=, version=, when=; use keep() and rename() instead",
        )
    from provenn.files.in_memory import check_table_key, convert_to_arrow  # noqa: PLC0415 - few tables come from memory

    arrow = convert_to_arrow(table)
    if key is not None:
        check_table_key(arrow, key)
    return arrow
