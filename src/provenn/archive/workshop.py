"""Where an archive computes data: what is needed for it is imported and started when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from provenn.archive.runs import recorded
from provenn.catalogs import Base, Files, cone
from provenn.catalogs.roots import Roots
from provenn.errors import ArchiveError, StoreError
from provenn.store.database import Database
from provenn.store.folder import DataFolder

if TYPE_CHECKING:
    import pyarrow as pa

    from provenn.spark.pipeline import Pipeline, Prepared
    from provenn.spark.writing import Written
    from provenn.targets.plan import Plan
    from provenn.targets.running import Keep

__all__ = ["Progress", "Workshop"]

Progress = Callable[..., None] | Literal[False] | None
"""Who is told of the progress of long work: a function, nobody, or by default whoever looks at a terminal."""


class Workshop:
    """Where an archive computes data.

    Parameters
    ----------
    database
        Its metadata.
    folder
        Where its data are kept, if that is known.
    spark
        Where data are computed: None, a URL, or a session.
    progress
        Who is told of it.
    beside
        The workshop whose Spark it uses, instead of one of its own.
    roots
        Where files of base catalogs may lie; None for anywhere.
    """

    def __init__(
        self,
        database: Database,
        folder: DataFolder | None,
        spark: object | None,
        progress: Progress,
        *,
        beside: Workshop | None = None,
        roots: Roots | None = None,
    ) -> None:
        self._database = database
        self._folder = folder
        self._spark = spark
        self._progress = progress
        self._beside = beside
        self._roots = roots
        self._starting = Lock()
        self._pipeline: Pipeline | None = None

    def watched(self, progress: Progress) -> Workshop:
        """Return a workshop with the same Spark, the progress of whose work somebody else is told of."""
        return self._another(self._database, progress, self._roots)

    def seen_by(self, database: Database, roots: Roots | None = None) -> Workshop:
        """Return a workshop with the same Spark, for another person, by whose archive's database it goes.

        Base files lie where they may here, or only below other places.
        """
        return self._another(database, self._progress, self._roots if roots is None else roots)

    def _another(self, database: Database, progress: Progress, roots: Roots | None) -> Workshop:
        return Workshop(database, self._folder, self._spark, progress, beside=self._beside or self, roots=roots)

    @property
    def folder_if_known(self) -> DataFolder | None:
        """Where data are kept, or None if nobody has said where."""
        return self._folder

    @property
    def folder(self) -> DataFolder:
        """Where data are kept.

        Raises
        ------
        ArchiveError
            If nobody has said where.
        """
        if self._folder is None:
            raise ArchiveError(
                f"nobody has said where the data of {self._database.place} are kept", hint='open it with store="…" once'
            )
        return self._folder

    def pipeline(self) -> Pipeline:
        """Return the way of data from files to results."""
        from provenn.spark.engine import Engine  # noqa: PLC0415 - most commands compute nothing
        from provenn.spark.pipeline import Pipeline  # noqa: PLC0415
        from provenn.spark.progress_bar import listener  # noqa: PLC0415

        if self._beside is not None:
            beside, told = self._beside.pipeline(), listener(self._progress)
            return replace(beside, database=self._database, roots=self._roots, listener=told)
        with self._starting:
            if self._pipeline is None:
                self._pipeline = Pipeline(
                    self._database, self.folder, Engine(self._spark), listener(self._progress), self._roots
                )
            return self._pipeline

    def close(self) -> None:
        """Stop what was started."""
        if self._beside is not None:
            self._beside.close()
        if self._pipeline is not None:
            self._pipeline.engine.close()
            self._pipeline = None

    def table(self, name: str) -> Files:
        """Look at a table of Spark's catalog, as the base of a catalog."""
        from provenn.spark.tables.catalog_tables import table_files  # noqa: PLC0415 - see above

        return table_files(self.pipeline().engine, name)

    def keeping(self, table: pa.Table) -> AbstractContextManager[Files]:
        """Keep a table that was in memory, as the base of a catalog that is defined in the body."""
        from provenn.store.given import keeping  # noqa: PLC0415 - few tables come from memory

        return keeping(self._database, self.folder, table)

    def key_rows(self, base: Base) -> int:
        """Make sure that the key of a base catalog identifies its sources; return how many there are."""
        return self.pipeline().key_rows(base)

    # -- results -------------------------------------------------------------------------------------------------

    def prepared(self, plan: Plan) -> Prepared:
        """Return data that are ready to be computed, by a plan that was made just now."""
        from provenn.targets.running import prepared  # noqa: PLC0415 - see above

        return prepared(self.pipeline(), plan)[1]

    def collected(self, replan: Callable[[], Plan], keep: Keep, limit: int | None) -> pa.Table:
        """Compute data into this process, as an Arrow table; none are computed if it is proved that there are none."""
        plan = replan()
        if plan.empty:
            from provenn.spark.arrow import no_rows  # noqa: PLC0415 - see above

            return no_rows(plan.schema)
        with recorded(self._database, plan) as run:
            from provenn.spark.arrow import described  # noqa: PLC0415
            from provenn.targets.learning import learn_count  # noqa: PLC0415 - see above
            from provenn.targets.running import answered  # noqa: PLC0415

            answer = answered(self.pipeline(), plan, replan, keep)
            run.plan, data = answer.plan, answer.data
            table = described(self.pipeline().collected(data, limit, lambda frame: frame.toArrow()), data.schema)
            run.rows = table.num_rows
            if plan.catalog is not None:
                learn_count(self._database, plan.catalog, table.num_rows, answer.facts)
        return table

    def first(self, replan: Callable[[], Plan], number: int) -> pa.Table:
        """Compute a few sources."""
        plan = replan()
        if plan.empty:
            from provenn.spark.arrow import no_rows  # noqa: PLC0415 - see above

            return no_rows(plan.schema)
        most = min(number, 2**31 - 1)  # Spark counts so far
        return self.pipeline().collected(self.prepared(plan), None, lambda frame: frame.limit(most).toArrow())

    def count(self, replan: Callable[[], Plan]) -> int:
        """Count sources, unless it is known how many there are, or follows from other counts."""
        plan = replan()
        known = 0 if plan.empty else plan.scene.rows.get(plan.before.extent.digest)
        if known is not None:
            return known
        from provenn.targets.dividing import derive_count  # noqa: PLC0415 - see above
        from provenn.targets.learning import learn_count  # noqa: PLC0415

        if plan.catalog is not None:
            with self._database.reading() as reading:
                derived = derive_count(reading, plan.catalog)
            if derived is not None:
                learn_count(self._database, plan.catalog, derived.rows, reason=derived.because)
                return derived.rows
        from provenn.targets.running import leaning, prepared  # noqa: PLC0415

        plan, data = prepared(self.pipeline(), plan)
        rows = self.pipeline().count(data)
        if plan.catalog is not None:
            learn_count(self._database, plan.catalog, rows, leaning(plan))
        return rows

    def written(
        self,
        replan: Callable[[], Plan],
        keep: Keep,
        path: str | PathLike[str],
        **options: Any,  # noqa: ANN401 - those of write
    ) -> Written:
        """Compute data into files."""
        from provenn.spark.writing import write  # noqa: PLC0415 - see above
        from provenn.targets.learning import learn_count  # noqa: PLC0415
        from provenn.targets.running import answered  # noqa: PLC0415

        pipeline = self.pipeline()
        plan = replan()
        self._check_place(path, plan)
        with recorded(self._database, plan) as run:
            answer = answered(pipeline, plan, replan, keep)
            run.plan, data = answer.plan, answer.data
            with pipeline.pinned(data):  # write itself shows progress and tells failures
                options |= {"listener": pipeline.listener, "check": lambda: pipeline.check(data.bases)}
                done = write(pipeline.engine, data.frame, data.schema, path, **options)
            run.rows = done.rows
            if plan.catalog is not None:
                learn_count(self._database, plan.catalog, done.rows, answer.facts)
        return done

    def _check_place(self, path: str | PathLike[str], plan: Plan) -> None:
        """Make sure that what is written replaces neither the archive nor the files that it is read from."""
        target = DataFolder.of(path)
        if not target.local:
            return
        place = Path(target.location).resolve()
        archive = [Path(one).resolve() for one in (self._database.place, self.folder.location) if "://" not in one]
        if any(one.is_relative_to(place) or place.is_relative_to(one) for one in archive):
            raise StoreError(f"the archive itself is kept at {place}", hint="choose another place")
        bases = plan.bases if plan.catalog is None else [one for one in cone(plan.catalog) if isinstance(one, Base)]
        read = (Path(base.files.location).resolve() for base in bases if Path(base.files.location).is_absolute())
        for one in read if place.exists() else ():
            if one.is_relative_to(place) or place.is_relative_to(one):
                raise StoreError(f"{plan.what} is read from {one}, which would be replaced", hint="choose another name")
