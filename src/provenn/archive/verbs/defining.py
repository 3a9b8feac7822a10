"""New catalogs: on files, and from other catalogs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, get_args

from provenn.archive import definitions
from provenn.archive.handle import Catalog
from provenn.archive.verbs.held import Held
from provenn.catalogs import Base, Files
from provenn.catalogs import Catalog as Definition
from provenn.catalogs.fingerprints import Trust
from provenn.errors import BaseFilesError
from provenn.store import bases, catalog_store, names, populations, verifications

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from astropy.table import Table

__all__ = ["Defining", "SupportsArrow"]


class SupportsArrow(Protocol):
    """A table that Arrow can take over: one of its own, of polars, of DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return its rows as Arrow hands them over."""


class Defining(Held):
    """New catalogs: on files, and from other catalogs."""

    def ingest(
        self,
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
    ) -> Catalog:
        """Define a catalog on files, or on a table in memory, which is kept.

        A catalog is what its files hold: all their bytes are read now, and read again when they may have changed. Of
        objects in a store, what the store vouches for suffices.

        Parameters
        ----------
        name
            A name for it.
        path
            A file, a folder, or a pattern such as ``survey/*.parquet``; or, with ``format="table"``, the name of a
            table of Spark's catalog, for which Spark is started. A folder in HATS is read by what it says of itself.
            Or a table of astropy, pandas or Arrow: it is written into the archive's store, once.
        key
            The columns that identify a source. None if no column does: then a source is a row of a file, known by what
            the file holds and the place of the row in it. A file that is corrected has other sources.
        population
            What one row is: star, galaxy, visit.
        format
            Spark's name of the format, if the names of the files do not tell.
        schema
            The type of each column, where the files do not say.
        options
            Spark's options to read the files.
        null
            What stands for NULL in files of text, besides nothing at all: ``"null"``, ``"NA"``.
        rebuild
            What to do if the name is on an earlier version of the files: True moves it here and defines anew, on
            these files, every named catalog that is made from the earlier version; False moves this name alone. By
            default that is an error which says what would be rebuilt.
        verify
            Whether to read all keys now and make sure that none is NULL or occurs twice. Otherwise that is done when
            data are first computed from them.
        trust
            What tells whether files are the same. By default all bytes, or the ETag and version that an object store
            gives. ``"content"``: all bytes, of objects in stores as well. ``"metadata"``: size and footer of Parquet,
            size, time and both ends of other files, without reading the rest. Not every change shows in these, so that
            every answer that rests on such files says so.
        """
        if trust not in (None, *get_args(Trust)):
            raise BaseFilesError(f"files cannot be trusted by {trust!r}", hint='trust="content" or trust="metadata"')
        if not isinstance(path, str | PathLike):
            table = _taken(path, key, format, schema, options, null, trust)
            with self._workshop.keeping(table) as files:
                return self._ingested(name, files, key, population, rebuild=rebuild, verify=verify, trust=trust)
        if format == "table":
            files = self._workshop.table(str(path), trust)
        else:
            files = self._workshop.files(path, format=format, schema=schema, options=options, null=null, trust=trust)
        return self._ingested(name, files, key, population, rebuild=rebuild, verify=verify, trust=trust)

    def _ingested(
        self,
        name: str,
        files: Files,
        key: str | Sequence[str] | None,
        population: str,
        *,
        rebuild: bool | None,
        verify: bool,
        trust: Trust | None,
    ) -> Catalog:
        with self._database.reading() as reading:
            known = populations.population(reading, population)
        base = Base.of(files, key=key, population=known or population)
        self._workshop.check_first_keys(base)
        if trust is None:
            base = self._workshop.old_base(base, name) or base
        rows = self._workshop.key_rows(base) if verify else None
        with self._database.writing() as writing:
            earlier = names.find(writing, name)
            if earlier is not None and earlier != base.digest:
                definitions.replace_base(writing, name, earlier, base, rebuild=rebuild)
            else:
                if not catalog_store.add(writing, base):
                    bases.seen_again(writing, base)
                names.assign(writing, name, base.digest)
            if rows is not None:
                verifications.record(writing, base.digest, rows)
        return self._handle(base)

    def define(self, definition: Definition, name: str | None = None) -> Catalog:
        """Add a definition, and put a new name on it. One that is there already is the same catalog."""
        with self._database.writing() as writing:
            catalog_store.add(writing, definition)
            if name is not None:
                names.assign(writing, name, definition.digest)
        return self._handle(definition)

    def concatenate(
        self, members: Sequence[Catalog | str], *, order: definitions.Order | None = None, name: str | None = None
    ) -> Catalog:
        """Bring together the sources of several catalogs; `Catalog.concat` says how."""
        parts = [self.catalog(one).definition for one in members]
        with self._database.reading() as reading:
            made = definitions.concatenated(reading, parts, order)
        return self.define(made, name)


def _taken(table: object, key: str | Sequence[str] | None, *others: object) -> pa.Table:
    """Return a table in memory as Arrow, if it can be the base of a catalog; nothing is written yet."""
    if any(one is not None for one in others):
        raise BaseFilesError(
            "a table in memory has types of its own",
            hint="leave out format=, schema=, options=, null= and trust=; use keep and rename",
        )
    from provenn.catalogs.in_memory import arrow_table, check_given_key  # noqa: PLC0415 - few tables come from memory

    made = arrow_table(table)
    if key is not None:
        check_given_key(made, key)
    return made
