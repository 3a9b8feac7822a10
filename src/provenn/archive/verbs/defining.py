"""Methods of an archive to define catalogs: on files, and from existing catalogs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import TYPE_CHECKING, Any

from provenn.archive.verbs.part import ArchivePart
from provenn.errors import DefinitionError
from provenn.hints import Hint

if TYPE_CHECKING:
    import pandas as pd
    from astropy.table import Table

    from provenn.archive.concatenations import Order
    from provenn.archive.export_refreshing import RefreshedExport
    from provenn.archive.handle import Catalog
    from provenn.archive.new_catalogs import SupportsArrow
    from provenn.archive.redefining import RedefinedName
    from provenn.archive.refreshing import RefreshedName
    from provenn.catalogs import Catalog as Definition
    from provenn.files.fingerprints import Trust

__all__ = ["Defining"]


class Defining(ArchivePart):
    """Methods of an archive to define catalogs: on files, and from existing catalogs."""

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
        version: int | None = None,
        when: datetime | str | None = None,
        layers: Sequence[str | PathLike[str]] = (),
    ) -> Catalog:
        """Define a catalog on files, or on a table in memory, which the archive then stores.

        The contents of the files define the catalog: all bytes are read now, and read again when the files may have
        changed. For objects in an object store, the ETag and version of the store suffice.

        Parameters
        ----------
        name
            A name for the catalog.
        path
            A file, a folder, or a pattern such as ``survey/*.parquet``; or, with ``format="table"``, the name of a
            table of Spark's catalog, for which Spark is started. A folder in HATS is read by its own metadata.
            Or a table of astropy, pandas or Arrow: it is written into the archive's store, once.
            Or the folder of a table of Delta or Iceberg, or the metadata file of an Iceberg table: the log of the table
            says which files hold the rows of a version.
        key
            The columns that identify a source. None if no column does: then a source is a row of a file, identified by
            the contents of the file and the position of the row. A corrected file has other sources.
        population
            The kind of object in a row: star, galaxy, visit.
        format
            Spark's name of the format, if the file names do not show it.
        schema
            The type of each column, where the files do not define it.
        options
            Spark's options to read the files.
        null
            The text for NULL in text files, besides the empty text: ``"null"``, ``"NA"``.
        rebuild
            What to do if the name is on an earlier version of the files: True moves the name and defines again, on
            these files, every named catalog that is made from the earlier version; False moves this name alone. By
            default an error lists the catalogs to rebuild.
        verify
            Whether to read all keys now and check that none is NULL or occurs twice. Otherwise keys are checked when
            data are first computed from them.
        trust
            The evidence that files are unchanged. By default all bytes, or the ETag and version of an object store.
            ``"content"``: all bytes, also of objects in stores. ``"metadata"``: size and footer of Parquet, size, time
            and both ends of other files, without reading the rest. Metadata do not show every change, so every answer
            that rests on such files carries a caveat.
        version, when
            For a table of Delta or Iceberg: the number of a version or snapshot, or a time at which it was the newest.
            By default the newest.
        layers
            For a folder in HATS: the folders of layers, which hold further attributes of the same sources. Their keys
            are compared with those of the core, part by part. The catalog combines all; core and layers get names of
            their own: `name` followed by "core", or by "layer" and the folder.
        """
        from provenn.archive import new_catalogs  # noqa: PLC0415 - a command starts without it

        reading: dict[str, Any] = {"format": format, "schema": schema, "options": options, "null": null}
        reading |= {"rebuild": rebuild, "verify": verify, "trust": trust, "version": version, "when": when}
        if layers:
            from provenn.archive.layers import ingest_layers  # noqa: PLC0415 - few catalogs have layers

            folders = [layers] if isinstance(layers, str | PathLike) else layers
            definition = ingest_layers(self.context, name, path, folders, key=key, population=population, **reading)
        else:
            definition = new_catalogs.ingest_base(self.context, name, path, key=key, population=population, **reading)
        return self._make_handle(definition)

    def append(
        self,
        name: str,
        path: str | PathLike[str] | Table | pd.DataFrame | SupportsArrow,
        *,
        format: str | None = None,  # noqa: A002 - Spark's word for it
        schema: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        null: str | None = None,
    ) -> Catalog:
        """Define a new version of a base catalog, with more files or with a table in memory.

        The new version has the sources and values of the earlier one, and those of the new files. Its columns are those
        of the new files; older files without one of these columns give NULL for it. The name moves, and every named
        catalog that is made from the earlier version is defined again on the new one, in one transaction. What is
        stored for the earlier version serves the new one.

        The keys of the new files are compared with all others now: Spark reads them.

        Parameters
        ----------
        name
            The name of the base catalog.
        path
            The new files: a file, a folder or a pattern; or a table of astropy, pandas or Arrow. Files that the
            catalog has already are left out.
        format, schema, options, null
            How to read the new files, as for `ingest`.

        Raises
        ------
        UnknownCatalogError
            If there is no such name.
        DefinitionError
            If the catalog is made from other catalogs.
        KeyValuesError
            If a key is NULL, occurs twice, or is in the catalog already.
        BaseFilesError
            If the files cannot be read, or a column changed its type.
        """
        from provenn.archive import new_catalogs  # noqa: PLC0415 - a command starts without it

        definition = new_catalogs.append_base(
            self.context, name, path, format=format, schema=schema, options=options, null=null
        )
        return self._make_handle(definition)

    def refresh(self, *names: str, plan: bool = False) -> list[RefreshedName | RefreshedExport]:
        """Look at the files of base catalogs again, and bring up to date what is made from them.

        Files that came or went make a new version. The named catalogs that are made from it are defined again, and what
        calculators gave for them is calculated for the new sources only, and stored. The names move last, in one
        transaction: a refresh that is interrupted changes no name, and the next one continues.

        Then your followed exports (see `Catalog.write`) are written anew, if what they hold has changed, by whatever
        means. A file that others changed since is left alone. With `names`, only exports of catalogs that this refresh
        defines again are looked at.

        Parameters
        ----------
        *names
            The names of base catalogs; by default all whose names you may move.
        plan
            Whether only to say what would be done.
        """
        from provenn.archive.export_refreshing import refresh_exports  # noqa: PLC0415 - only a refresh plans
        from provenn.archive.refreshing import refresh_names  # noqa: PLC0415

        refreshed = refresh_names(self.context, names, plan=plan)
        changing = {name for entry in refreshed for name in (entry.name, *entry.rebuilt) if entry.catalog_changes}
        exports = refresh_exports(self, names=changing if names else None, changing=changing if plan else None)
        return [*refreshed, *exports]

    def redefine(
        self, name: str, which: Catalog | str | None = None, *, where: str | None = None, plan: bool = False
    ) -> RedefinedName:
        """Move a name to another definition, and define again on it every named catalog made from the earlier one.

        What calculators gave for the earlier definition serves the new one: they are called for the other sources only,
        and only where results are stored. The names move last, in one transaction: a call that is interrupted changes
        no name. The earlier definition stays, as version ``name@1``. `Archive.name` with ``move=True`` moves one name
        alone.

        Parameters
        ----------
        name
            The name.
        which
            The new definition.
        where
            Instead of a definition: another criterion for the selection that has the name.
        plan
            Whether only to say what would be done: which sources come and go, by proof, and what is calculated.

        Raises
        ------
        DefinitionError
            If neither a definition nor a criterion is given, or both are; if the name is on no selection and a
            criterion is given; or if a catalog cannot be made from the new definition.
        CriterionError
            If the criterion does not fit the catalog.
        UnknownCatalogError
            If there is no such name.
        NotYoursError
            If the name belongs to another person.
        PopulationError
            If the new definition holds other objects.
        ArchiveBusyError
            If the name was moved meanwhile.
        """
        from provenn.archive.redefining import edit_criterion, redefine_name  # noqa: PLC0415 - see `refresh`

        if (which is None) == (where is None):
            raise DefinitionError(
                "expected either a catalog or a criterion",
                hint=Hint(
                    f'archive.redefine("{name}", catalog) or archive.redefine("{name}", where="…")',
                    command=f"provenn redefine {name} CATALOG or provenn redefine {name} --where SQL",
                ),
            )
        if which is not None:
            definition = self.catalog(which).definition
        else:
            definition = self.context.read(edit_criterion, name, where or "")
        return redefine_name(self.context, name, definition, plan=plan)

    def define(self, definition: Definition, name: str | None = None) -> Catalog:
        """Add a definition, and put a new name on it; a definition that exists already is the same catalog.

        A catalog keeps the wording of its first definition. If the new wording differs, a notice is issued.
        """
        from provenn.archive import new_catalogs  # noqa: PLC0415 - a command starts without it

        new_catalogs.define_or_wait(self.context, definition, name)
        return self._make_handle(definition)

    def concatenate(
        self, members: Sequence[Catalog | str], *, order: Order | None = None, name: str | None = None
    ) -> Catalog:
        """Concatenate the sources of several catalogs; see `Catalog.concat`."""
        from provenn.archive.concatenations import concatenate_catalogs  # noqa: PLC0415 - a command starts without it

        parts = [self.catalog(member).definition for member in members]
        return self.define(self.context.read(concatenate_catalogs, parts, order), name)
