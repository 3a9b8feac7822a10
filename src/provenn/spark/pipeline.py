"""The way of data from files to results: what every run does before and after Spark does its part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from pyspark.sql import DataFrame

from provenn.catalogs import Base, Catalog, CrossMatch, Schema, cone
from provenn.catalogs.files import GIVEN
from provenn.catalogs.key_values import check_first_keys
from provenn.catalogs.roots import Roots, check_roots
from provenn.errors import TooLargeError
from provenn.spark.base_checks import check_bases, known_by_content
from provenn.spark.columns import column
from provenn.spark.compile import compile_catalog
from provenn.spark.engine import Engine
from provenn.spark.failures import told
from provenn.spark.keys import verify_key
from provenn.spark.progress import Listener, watched
from provenn.spark.reading import read_base
from provenn.store import fragments, verifications
from provenn.store.base_files import with_recorded
from provenn.store.database import Database
from provenn.store.facts import Fact
from provenn.store.file_memory import FileMemory
from provenn.store.folder import DataFolder
from provenn.store.fragments import Fragment
from provenn.store.given import kept

__all__ = ["Pipeline", "Prepared"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Prepared:
    """Data that are ready to be computed.

    Parameters
    ----------
    frame
        Gives them.
    schema
        Their attributes; the columns of the frame.
    what
        What they are, for messages.
    bases
        The base catalogs whose files are read.
    fragments
        The fragments that are read.
    most
        How many rows there are at most, if that is known without counting.
    """

    frame: DataFrame
    schema: Schema
    what: str
    bases: tuple[Base, ...]
    fragments: tuple[Fragment, ...] = ()
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Where data are, where they are computed, and who watches.

    Parameters
    ----------
    database
        What is known of them.
    folder
        Where fragments lie.
    engine
        Spark.
    listener
        Told of the progress of long work, if anybody is.
    roots
        Where files of base catalogs may lie; None for anywhere.
    doubter
        Told of declared facts that data contradict, if anybody is.
    """

    database: Database
    folder: DataFolder
    engine: Engine
    listener: Listener | None = None
    roots: Roots | None = None
    doubter: Callable[[Sequence[Fact]], None] | None = None

    def doubt(self, facts: Sequence[Fact]) -> None:
        """Tell that declared facts are suspended, because data contradict them."""
        if facts and self.doubter is not None:
            self.doubter(facts)

    def plain(self, catalog: Catalog, what: str) -> Prepared:
        """Prepare a catalog literally, as its definition says: from its bases, whatever is stored."""
        bases = tuple(one for one in cone(catalog) if isinstance(one, Base))
        rows = self.verify(bases)
        with told(f"preparing {what}"):
            frame = compile_catalog(catalog, lambda one: self.read(one) if isinstance(one, Base) else None)
        several = any(isinstance(one, CrossMatch) and one.matches == "all" for one in cone(catalog))
        return Prepared(frame, catalog.schema, what, bases, most=None if several else sum(rows.values()))

    def read(self, base: Base) -> DataFrame:
        """Return the rows of a base catalog; its key is to be verified before."""
        check_roots((base,), self.roots)
        return read_base(self.engine, with_recorded(self.database, base), self.folder, FileMemory(self.database))

    def verify(self, bases: Sequence[Base]) -> dict[str, int]:
        """Make sure that the keys of base catalogs identify sources, where that was not seen before; count the rows.

        Raises
        ------
        KeyValuesError
            If a key is NULL or occurs twice.
        BaseFilesError
            If files lie where they may not be read.
        """
        check_roots(bases, self.roots)
        for base in bases:
            known_by_content(self.engine, self.database, self.folder, base)
        with self.database.reading() as reading:
            known = verifications.verified(reading, [base.digest for base in bases])
        for base in bases:
            if base.digest in known:
                continue
            known[base.digest] = self.key_rows(base)
            if not self.database.read_only:
                with self.database.writing() as writing:
                    seen = verifications.record(writing, base.digest, known[base.digest])
                self.doubt(seen.suspended)
        return known

    def key_rows(self, base: Base) -> int:
        """Read the keys of a base catalog; return how many there are, if they identify its sources.

        Raises
        ------
        KeyValuesError
            If a key is NULL or occurs twice.
        """
        check_roots((base,), self.roots)
        check_first_keys(base, kept(self.folder, base.files) if base.files.format == GIVEN else base.files)
        what = f"verifying the key {', '.join(base.key)} of {base.files.location}"
        with self._watched(what, (base,)):
            return verify_key(self.engine, with_recorded(self.database, base), self.folder, FileMemory(self.database))

    @contextmanager
    def running(self, prepared: Prepared) -> Iterator[None]:
        """Let the body run Spark.

        Fragments are kept from being deleted meanwhile, progress is shown, failures are told in words; and if the
        files of a base changed meanwhile, what was computed is not to be trusted.

        Raises
        ------
        FilesChangedError, FilesMissingError
            If that happened.
        """
        with self.pinned(prepared), self._watched(f"computing {prepared.what}", prepared.bases):
            yield

    @contextmanager
    def pinned(self, prepared: Prepared) -> Iterator[None]:
        """Keep the fragments that are read from being deleted while the body runs."""
        if not prepared.fragments:
            yield
            return
        with fragments.pinned(self.database, [one.id for one in prepared.fragments]):
            yield

    def check(self, bases: Iterable[Base]) -> None:
        """Make sure that what base catalogs are read from is what it was.

        Raises
        ------
        FilesChangedError, FilesMissingError
            If it is not.
        """
        for base in bases:
            check_roots((base,), self.roots)
            check_bases(self.engine, self.database, self.folder, (base,))

    @contextmanager
    def _watched(self, what: str, bases: Sequence[Base]) -> Iterator[None]:
        with told(what), watched(self.engine, what, self.listener):
            yield
        self.check(bases)

    # -- results -------------------------------------------------------------------------------------------------

    def collected(self, prepared: Prepared, limit: int | None, collect: Callable[[DataFrame], T]) -> T:
        """Bring data into this process.

        Parameters
        ----------
        prepared
            The data.
        limit
            How many bytes they may be, about; None for any number.
        collect
            Does it.

        Raises
        ------
        TooLargeError
            If they are more. Nothing was brought then.
        """
        if limit is not None:
            self._check_size(prepared, limit)
        with self.running(prepared):
            return collect(prepared.frame)

    def _check_size(self, prepared: Prepared, limit: int) -> None:
        width = sum(_WIDTHS.get(one.type.name, _WIDE) for one in prepared.schema.attributes)
        if prepared.most is not None and prepared.most * width <= limit:
            return
        rows = self.count(prepared)
        if rows * width > limit:
            raise TooLargeError(
                f"{prepared.what} has {rows:,} sources, about {_bytes(rows * width)}, more than {_bytes(limit)}",
                hint="write it to a file, take fewer attributes or sources, or say limit=None",
            )

    def count(self, prepared: Prepared) -> int:
        """Return how many sources there are."""
        with self.running(prepared):
            return prepared.frame.select(*(column(one.name) for one in prepared.schema.key)).count()


_WIDTHS = {"boolean": 1, "tinyint": 1, "smallint": 2, "int": 4, "float": 4, "date": 4, "bigint": 8, "double": 8}
_WIDTHS |= {"timestamp": 8, "timestamp_ntz": 8, "decimal": 16}
_WIDE = 32
"""The bytes of a value of a type; of one whose values differ, such as strings, a guess."""


def _bytes(size: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size //= 1000
    return f"{size:,} GB"
