"""The files of base catalogs: inspecting, reading, checking and keeping files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from provenn.archive.spark_place import SparkPlace

if TYPE_CHECKING:
    import pyarrow as pa

    from provenn.catalogs import Base, Files
    from provenn.files.fingerprints import Trust
    from provenn.files.hats_layers import HatsParts

__all__ = ["BaseFilesPlace"]


class BaseFilesPlace(SparkPlace):
    """Reads the files of base catalogs for an archive, with Spark only where Spark alone can."""

    def inspect_files(self, location: str | PathLike[str], **options: Any) -> Files:  # noqa: ANN401 - those of Files.at
        """Inspect files as the base of a catalog; `options` are the options of `Files.at`."""
        from provenn.archive.reading_progress import show_reading_progress  # noqa: PLC0415 - a command starts without it
        from provenn.catalogs import Files  # noqa: PLC0415
        from provenn.data.file_memory import FileMemory  # noqa: PLC0415

        with show_reading_progress(f"reading {fspath(location)}", self._progress) as progress:
            return Files.at(location, **options, memory=FileMemory(self.database), progress=progress)

    def compute_fingerprints(
        self,
        location: str,
        like: Files,
        names: Collection[str] | None = None,
        partitions: Collection[str] | None = None,
    ) -> dict[str, str]:
        """Return the fingerprints of files at a location, by name, on the same basis as fingerprints of given files.

        Parameters
        ----------
        location
            The location.
        like
            The other files.
        names, partitions
            For a table with a log: the names of its files, and the columns with values from the names of folders. By
            default all files at the location.
        """
        from provenn.archive.reading_progress import show_reading_progress  # noqa: PLC0415 - a command starts without it
        from provenn.data.file_memory import FileMemory  # noqa: PLC0415
        from provenn.files.changes import compute_current_fingerprints  # noqa: PLC0415
        from provenn.files.listing import list_named_files  # noqa: PLC0415

        with show_reading_progress(f"reading {location}", self._progress) as progress:
            return compute_current_fingerprints(
                location,
                like.format,
                like.basis,
                FileMemory(self.database),
                progress,
                listing=None if names is None else list_named_files(location, names, partitions or ()),
            )

    def inspect_table(self, name: str, trust: Trust | None = None) -> Files:
        """Inspect a table of Spark's catalog as the base of a catalog."""
        from provenn.data.file_memory import FileMemory  # noqa: PLC0415 - a command starts without it
        from provenn.spark.tables.catalog_tables import inspect_table  # noqa: PLC0415 - see above

        return inspect_table(self.pipeline().engine, name, trust, FileMemory(self.database))

    def find_old_base(self, base: Base, name: str) -> Base | None:
        """Return the base catalog of an older archive for the files of a new base, or None; see `find_old_base`."""
        from provenn.archive.old_bases import find_old_base  # noqa: PLC0415 - a command starts without it

        return find_old_base(
            self.database, self._folder, base, name, in_old_terms=self._in_old_terms, read=self.read_contents
        )

    def _in_old_terms(self, files: Files) -> Files:
        """Return files with the fingerprints recorded by older archives."""
        from provenn.data.given_tables import locate_table  # noqa: PLC0415 - a command starts without it
        from provenn.files.file_set import GIVEN, TABLE  # noqa: PLC0415

        if files.format == TABLE:
            from provenn.spark.tables.catalog_tables import compute_old_fingerprints  # noqa: PLC0415 - see above

            return files.in_old_terms(compute_old_fingerprints(self.pipeline().engine, files.location))
        if files.format == GIVEN:
            return files.in_old_terms(dict(locate_table(self.folder, files).in_old_terms().fingerprints))
        return files.in_old_terms()

    def read_contents(self, base: Base) -> Base:
        """Return a base catalog known by all bytes; an old base catalog is read and recorded now."""
        from provenn.archive.reading_progress import show_reading_progress  # noqa: PLC0415 - a command starts without it
        from provenn.data.changed_files import read_contents  # noqa: PLC0415
        from provenn.files.file_set import TABLE  # noqa: PLC0415

        if base.files.format == TABLE:
            from provenn.spark.base_checks import ensure_contents  # noqa: PLC0415 - see above

            return ensure_contents(self.pipeline().engine, self.database, self.folder, base)
        with show_reading_progress(f"reading {base.files.location}", self._progress) as progress:
            return read_contents(self.database, self._folder, base, progress)

    def compare_new_keys(self, bases: Sequence[Base], new: Base) -> int | None:
        """Check that no key of new files is NULL, occurs twice, or occurs in other files; return the number of rows.

        None if a source is a row of a file, so that different files have different sources. Spark is started only to
        compare with further files, or for very many keys.

        Parameters
        ----------
        bases
            The base catalogs of other files that may have the same keys.
        new
            The base catalog of the new files.
        """
        from provenn.targets.recovering import compute_despite_damage  # noqa: PLC0415 - most commands plan nothing

        if new.files.row_key:
            return None
        rows = self.check_first_keys(new)
        if rows is not None and not bases:
            self.check_bases([new])
            return rows
        return compute_despite_damage(
            self.database, self.folder_if_known, lambda: self.pipeline().compare_new_keys(bases, new)
        )

    def compare_layer(self, core: HatsParts, layer: HatsParts, key: Sequence[str]) -> int:
        """Make sure, without Spark, that a layer has the keys of its core; return the number of rows."""
        from provenn.archive.reading_progress import show_reading_progress  # noqa: PLC0415 - a command starts without it
        from provenn.files.hats_layers import compare_keys  # noqa: PLC0415

        with show_reading_progress(f"comparing keys of {layer.folder}", self._progress) as progress:
            return compare_keys(core, layer, key, progress)

    def check_first_keys(self, base: Base) -> int | None:
        """Check, without Spark, that the first keys of a base catalog identify sources; see `check_first_keys`."""
        from provenn.catalogs.key_values import check_first_keys  # noqa: PLC0415 - a command starts without it
        from provenn.data.given_tables import locate_table  # noqa: PLC0415
        from provenn.files.file_set import GIVEN  # noqa: PLC0415

        return check_first_keys(
            base, locate_table(self.folder, base.files) if base.files.format == GIVEN else base.files
        )

    def check_bases(self, bases: Iterable[Base]) -> None:
        """Check that the files or tables of base catalogs are unchanged; only tables of Spark's catalog start Spark.

        Raises
        ------
        FilesMissingError, FilesChangedError
            If they are missing or changed.
        """
        from provenn.catalogs.roots import check_roots  # noqa: PLC0415 - a command starts without it
        from provenn.data.changed_files import check_base  # noqa: PLC0415
        from provenn.files.file_set import TABLE  # noqa: PLC0415

        for base in bases:
            if base.files.format == TABLE:
                self.pipeline().check((base,))
                continue
            check_roots((base,), self._roots)
            check_base(self.database, self._folder, base)

    def keep_table(self, table: pa.Table) -> AbstractContextManager[Files]:
        """Keep an in-memory table in the store, as the base of a catalog defined in the body of the context."""
        from provenn.data.given_tables import keep_table  # noqa: PLC0415 - few tables come from memory

        return keep_table(self.database, self.folder, table)

    def count_key_rows(self, base: Base) -> int:
        """Check that the key of a base catalog identifies the sources; return the number of sources."""
        from provenn.targets.recovering import compute_despite_damage  # noqa: PLC0415 - see above

        return compute_despite_damage(self.database, self.folder_if_known, lambda: self.pipeline().count_key_rows(base))
