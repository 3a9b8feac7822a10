"""The place where an archive computes; Spark is imported and started only when data are first needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Literal, Self

from provenn.errors import ArchiveError, EngineError
from provenn.hints import SET_STORE

if TYPE_CHECKING:
    from provenn.archive.notices import Notify
    from provenn.catalogs.roots import Roots
    from provenn.database.platform import Platform
    from provenn.database.transactions import Database
    from provenn.files.data_folder import DataFolder
    from provenn.knowledge.stored_facts import Fact
    from provenn.spark.confinement import Confinement
    from provenn.spark.engine import Engine
    from provenn.spark.engine_platform import EnginePlatform
    from provenn.spark.pipeline import Pipeline

__all__ = ["Progress", "SparkPlace"]

Progress = Callable[..., None] | Literal[False] | None
"""The listener for the progress of long work: a function, False for none, by default a bar on a terminal."""


class SparkPlace:
    """Starts the Spark of an archive when data are first needed.

    Parameters
    ----------
    database
        The metadata of the archive.
    folder
        The folder of the archive's data, if known.
    spark
        The Spark to compute with: None, a URL, or a session.
    progress
        The listener for progress.
    beside
        A place whose Spark is shared, instead of starting another Spark.
    roots
        The folders in which files of base catalogs may lie; None for anywhere.
    notify
        The listener for notices about answers.
    confinement
        How calculator processes are confined; by default as environment variables say.

    Attributes
    ----------
    database
        The metadata of the archive; a transaction finds the platform of this Spark.
    notices
        The notices about answers.
    latest_run
        The number of the last run that began here.
    """

    def __init__(
        self,
        database: Database,
        folder: DataFolder | None,
        spark: object | None,
        progress: Progress,
        *,
        beside: SparkPlace | None = None,
        roots: Roots | None = None,
        notify: Notify = None,
        confinement: Confinement | None = None,
    ) -> None:
        from provenn.archive.notices import Notices  # noqa: PLC0415 - a command starts without it

        self.notices = Notices(notify)
        self.latest_run: int | None = None
        self.database = database if beside is not None else replace(database, platform=self.find_platform)
        self._folder = folder
        self._spark = spark
        self._progress = progress
        self._beside = beside
        self._confinement = confinement
        self._roots = roots
        self._starting = Lock()
        self._engine: Engine | None = None
        self._platform: EnginePlatform | None = None
        self._pipeline: Pipeline | None = None

    def with_listeners(self, progress: Progress, notify: Notify) -> Self:
        """Return a place with the same Spark and new listeners for progress and notices."""
        return self._make_sibling(self.database, progress, self._roots, notify)

    def for_person(self, database: Database, roots: Roots | None = None) -> Self:
        """Return a place with the same Spark and the database view of another person.

        Base files may lie below `roots`; without `roots`, in the same places as here.
        """
        return self._make_sibling(
            database, self._progress, self._roots if roots is None else roots, self.notices.notify
        )

    def _make_sibling(self, database: Database, progress: Progress, roots: Roots | None, notify: Notify) -> Self:
        """Return a place sharing the Spark of this place."""
        beside = self._beside or self
        return type(self)(database, self._folder, self._spark, progress, beside=beside, roots=roots, notify=notify)

    @property
    def roots(self) -> Roots | None:
        """The permitted folders of files; None for any place."""
        return self._roots

    @property
    def folder_if_known(self) -> DataFolder | None:
        """The folder of the archive's data, or None if no folder was ever set."""
        return self._folder

    @property
    def folder(self) -> DataFolder:
        """The folder of the archive's data.

        Raises
        ------
        ArchiveError
            If no folder was ever set.
        """
        if self._folder is None:
            raise ArchiveError(f"the archive {self.database.place} has no place for data", hint=SET_STORE)
        return self._folder

    def pipeline(self) -> Pipeline:
        """Return the pipeline that brings data from files to results; start it at the first call."""
        from provenn.spark.pipeline import Pipeline  # noqa: PLC0415 - most commands compute nothing
        from provenn.spark.progress import report_start  # noqa: PLC0415
        from provenn.spark.progress_bar import choose_listener  # noqa: PLC0415

        if self._beside is not None:
            beside, progress_listener = self._beside.pipeline(), choose_listener(self._progress)
            return replace(
                beside,
                database=self.database,
                roots=self._roots,
                listener=progress_listener,
                doubter=self.report_suspended_facts,
            )
        with self._starting:
            if self._pipeline is None:
                progress_listener = choose_listener(self._progress)
                engine = self._get_engine()
                engine.report_start = partial(report_start, progress_listener)
                self._pipeline = Pipeline(
                    self.database, self.folder, engine, progress_listener, self._roots, self.report_suspended_facts
                )
            return self._pipeline

    def _get_engine(self) -> Engine:
        """Return the engine of this place; made at the first call."""
        from provenn.spark.engine import Engine  # noqa: PLC0415 - most commands compute nothing

        if self._engine is None:
            self._engine = Engine(self._spark, confinement=self._confinement)
            self._engine.report_refusal = self._report_refusal
        return self._engine

    def _report_refusal(self, reason: str) -> None:
        """Announce why the warm Spark is not used."""
        from provenn.archive.notices import Notice  # noqa: PLC0415 - a command starts without it

        self.notices.tell([Notice("not warm", f"the warm Spark is not used: {reason}")])

    def find_platform(self) -> Platform:
        """Return the platform for computing data, or `UNKNOWN` if Spark is not available."""
        from provenn.database.platform import UNKNOWN  # noqa: PLC0415 - a command starts without it

        if self._beside is not None:
            return self._beside.find_platform()
        from provenn.spark.engine_platform import EnginePlatform  # noqa: PLC0415 - few archives hold what depends on it

        with self._starting:
            if self._platform is None:
                try:
                    self._platform = EnginePlatform(self._get_engine())
                except EngineError:
                    return UNKNOWN
        return self._platform()

    def close(self) -> None:
        """Stop Spark if started."""
        if self._beside is not None:
            self._beside.close()
        if self._pipeline is not None:
            self._pipeline.engine.close()
            self._pipeline = None
        elif self._engine is not None:
            self._engine.close()  # it may have been started only to find its platform

    def report_suspended_facts(self, facts: Sequence[Fact]) -> None:
        """Announce the suspension of declared facts contradicted by data."""
        from provenn.archive.notices import make_suspension_notices  # noqa: PLC0415 - a command starts without it
        from provenn.words.vocabulary import name_facts  # noqa: PLC0415

        if facts:
            with self.database.reading() as reading:
                notices = make_suspension_notices(name_facts(reading, facts))
            self.notices.tell(notices)
