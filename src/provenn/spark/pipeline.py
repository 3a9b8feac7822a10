"""The pipeline from files to results: the checks, pins and reports around every run of Spark."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from pyspark.sql import DataFrame

from provenn.catalogs import Base, Schema
from provenn.catalogs.key_values import check_first_keys
from provenn.catalogs.roots import Roots, check_roots
from provenn.data import fragments
from provenn.data.changed_files import add_recorded_contents
from provenn.data.file_memory import FileMemory
from provenn.data.fragments import Fragment
from provenn.data.given_tables import locate_table
from provenn.database.transactions import Database
from provenn.digests import CatalogDigest
from provenn.errors import TooLargeError
from provenn.files.data_folder import DataFolder
from provenn.files.file_set import GIVEN
from provenn.hints import Hint
from provenn.knowledge import verified_keys
from provenn.knowledge.stored_facts import Fact
from provenn.sizes import format_size
from provenn.spark.base_checks import check_bases, ensure_contents
from provenn.spark.columns import column
from provenn.spark.engine import Engine
from provenn.spark.keys import check_new_keys, verify_key
from provenn.spark.progress import Listener, watch_run
from provenn.spark.reading import read_base
from provenn.spark.spark_errors import translate_errors

__all__ = ["Pipeline", "PreparedData"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PreparedData:
    """Data that are ready to be computed.

    Parameters
    ----------
    frame
        The frame that computes the data.
    schema
        The attributes of the data; the columns of the frame.
    what
        The name of the data in messages.
    bases
        The base catalogs whose files are read.
    fragments
        The fragments that are read.
    most
        The most rows that the data can have, if that is known without counting.
    """

    frame: DataFrame
    schema: Schema
    what: str
    bases: tuple[Base, ...]
    fragments: tuple[Fragment, ...] = ()
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The database, folder and engine for data, and the listeners of a run.

    Parameters
    ----------
    database
        The metadata of the archive.
    folder
        The folder of fragments.
    engine
        Spark.
    listener
        Receives the progress of long work; None for no listener.
    roots
        The folders in which files of base catalogs may lie; None for all folders.
    doubter
        Receives declared facts that data contradict; None for no receiver.
    """

    database: Database
    folder: DataFolder
    engine: Engine
    listener: Listener | None = None
    roots: Roots | None = None
    doubter: Callable[[Sequence[Fact]], None] | None = None

    def report_doubted_facts(self, facts: Sequence[Fact]) -> None:
        """Report to `doubter` the declared facts that are suspended because data contradict them."""
        if facts and self.doubter is not None:
            self.doubter(facts)

    def read(self, base: Base, chosen: Collection[str] | None = None) -> DataFrame:
        """Return the rows of a base catalog, of all files or of those with the chosen fingerprints.

        The caller must verify the key before. All files are checked, also those that are not chosen.
        """
        check_roots((base,), self.roots)
        recorded = add_recorded_contents(self.database, base)
        return read_base(self.engine, recorded, self.folder, FileMemory(self.database), chosen)

    def verify(self, bases: Sequence[Base]) -> dict[CatalogDigest, int]:
        """Verify the keys of base catalogs that were not verified before; return the number of rows by digest.

        Raises
        ------
        KeyValuesError
            If a key is NULL or occurs twice.
        BaseFilesError
            If files lie outside `roots`.
        """
        check_roots(bases, self.roots)
        for base in bases:
            ensure_contents(self.engine, self.database, self.folder, base)
        with self.database.reading() as reading:
            rows = verified_keys.find_verified_counts(reading, [base.digest for base in bases])
        for base in bases:
            if base.digest in rows:
                continue
            rows[base.digest] = self.count_key_rows(base)
            self._record_verification(base, rows[base.digest])
        return rows

    def _record_verification(self, base: Base, rows: int) -> None:
        """Record that the key of a base catalog was verified, if the database can be written at once."""
        recorded = self.database.note(lambda writing: verified_keys.record_verification(writing, base.digest, rows))
        if recorded is not None:
            self.report_doubted_facts(recorded.suspended)

    def count_key_rows(self, base: Base) -> int:
        """Read and verify the keys of a base catalog, and return the number of rows.

        Raises
        ------
        KeyValuesError
            If a key is NULL or occurs twice.
        """
        check_roots((base,), self.roots)
        check_first_keys(base, locate_table(self.folder, base.files) if base.files.format == GIVEN else base.files)
        what = f"verifying the key {', '.join(base.key)} of {base.files.location}"
        with self._guard_bases(what, (base,)):
            return verify_key(
                self.engine, add_recorded_contents(self.database, base), self.folder, FileMemory(self.database)
            )

    def compare_new_keys(self, bases: Sequence[Base], new: Base) -> int:
        """Verify the keys of a base catalog, and compare them with the keys of others; return the number of rows.

        Raises
        ------
        KeyValuesError
            If a key is NULL, occurs twice, or occurs in another of the catalogs.
        """
        rows = self.count_key_rows(new)
        if not bases:
            return rows
        what = f"comparing the keys of {new.files.location} with all others"
        with self._guard_bases(what, (*bases, new)):
            check_new_keys([(base, self.read(base)) for base in bases], new, self.read(new))
        return rows

    @contextmanager
    def guard_run(self, prepared: PreparedData) -> Iterator[None]:
        """Let the body run Spark.

        Meanwhile fragments are not deleted, progress is shown, and errors are translated. If the files of a base
        change meanwhile, the results are not to be trusted.

        Raises
        ------
        FilesChangedError, FilesMissingError
            If the files of a base changed or vanished.
        """
        with self.pin_fragments(prepared), self._guard_bases(f"computing {prepared.what}", prepared.bases):
            yield

    @contextmanager
    def pin_fragments(self, prepared: PreparedData) -> Iterator[None]:
        """Keep the fragments of prepared data from being deleted while the body runs."""
        if not prepared.fragments:
            yield
            return
        with fragments.pin_fragments(self.database, [fragment.id for fragment in prepared.fragments]):
            yield

    def check(self, bases: Iterable[Base]) -> None:
        """Check that the files or tables of base catalogs are unchanged.

        Raises
        ------
        FilesChangedError, FilesMissingError
            If a file or table has changed or is missing.
        """
        for base in bases:
            check_roots((base,), self.roots)
            check_bases(self.engine, self.database, self.folder, (base,))

    @contextmanager
    def _guard_bases(self, what: str, bases: Sequence[Base]) -> Iterator[None]:
        """Translate errors and show progress while the body runs; check afterwards that the bases are unchanged."""
        with translate_errors(what), watch_run(self.engine, what, self.listener):
            yield
        self.check(bases)

    # -- results -------------------------------------------------------------------------------------------------

    def collect_data(self, prepared: PreparedData, limit: int | None, collect: Callable[[DataFrame], T]) -> T:
        """Bring data into this process.

        Parameters
        ----------
        prepared
            The data.
        limit
            The approximate number of bytes that the data may have; None for any number.
        collect
            Collects a frame.

        Raises
        ------
        TooLargeError
            If the data exceed the limit. Nothing was collected then.
        """
        if limit is not None:
            self._check_size(prepared, limit)
        with self.guard_run(prepared):
            return collect(prepared.frame)

    def _check_size(self, prepared: PreparedData, limit: int) -> None:
        width = sum(_WIDTHS.get(attribute.type.name, _UNKNOWN_WIDTH) for attribute in prepared.schema.attributes)
        if prepared.most is not None and prepared.most * width <= limit:
            return
        rows = self.count(prepared)
        if rows * width > limit:
            raise TooLargeError(
                f"{prepared.what} has {rows:,} sources, about {format_size(rows * width)}, "
                f"more than {format_size(limit)}",
                hint=Hint(
                    "write it to a file, request fewer attributes or sources, or pass limit=None",
                    command="write it to a file with --output, or request fewer attributes or sources",
                ),
            )

    def count(self, prepared: PreparedData) -> int:
        """Return the number of sources."""
        with self.guard_run(prepared):
            return prepared.frame.select(*(column(attribute.name) for attribute in prepared.schema.key)).count()


_WIDTHS = {"boolean": 1, "tinyint": 1, "smallint": 2, "int": 4, "float": 4, "date": 4, "bigint": 8, "double": 8}
_WIDTHS |= {"timestamp": 8, "timestamp_ntz": 8, "decimal": 16}
"""The bytes of a value by type."""
_UNKNOWN_WIDTH = 32
"""A guess for types whose values have different sizes, such as strings."""
