"""Where an archive computes data: what is needed for it is imported and started when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from provenn.archive.ingesting import find_old_base
from provenn.archive.notices import Notices, Notify, notice_of_rest, notice_of_suspension, notices_of_checks
from provenn.archive.reading_progress import reading_progress
from provenn.archive.runs import Recorder, recorded
from provenn.archive.words import in_names
from provenn.catalogs import Base, Files, cone
from provenn.catalogs.files import EXTERNAL, GIVEN, TABLE
from provenn.catalogs.fingerprints import Trust
from provenn.catalogs.key_values import check_first_keys
from provenn.catalogs.roots import Roots, check_roots
from provenn.errors import ArchiveError, StoreError
from provenn.store.base_files import check_base, read_contents
from provenn.store.database import Database
from provenn.store.facts import Fact, fact
from provenn.store.file_memory import FileMemory
from provenn.store.folder import DataFolder
from provenn.store.given import kept

if TYPE_CHECKING:
    import pyarrow as pa

    from provenn.spark.pipeline import Pipeline, Prepared
    from provenn.spark.writing import Written
    from provenn.targets.plan import Plan
    from provenn.targets.running import Keep

__all__ = ["Progress", "Workshop"]

Replan = Callable[[], "Plan"]
"""Plans, with what is known and stored now."""

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
    notify
        Who is told what to know of answers.

    Attributes
    ----------
    notices
        What was to be known of answers.
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
        beside: Workshop | None = None,
        roots: Roots | None = None,
        notify: Notify = None,
    ) -> None:
        self.notices = Notices(notify)
        self.latest_run: int | None = None
        self._database = database
        self._folder = folder
        self._spark = spark
        self._progress = progress
        self._beside = beside
        self._roots = roots
        self._starting = Lock()
        self._pipeline: Pipeline | None = None

    def watched(self, progress: Progress, notify: Notify) -> Workshop:
        """Return a workshop with the same Spark; somebody else is told of its progress, and what to know of answers."""
        return self._another(self._database, progress, self._roots, notify)

    def seen_by(self, database: Database, roots: Roots | None = None) -> Workshop:
        """Return a workshop with the same Spark, for another person, by whose archive's database it goes.

        Base files lie where they may here, or only below other places.
        """
        return self._another(database, self._progress, self._roots if roots is None else roots, self.notices.notify)

    def _another(self, database: Database, progress: Progress, roots: Roots | None, notify: Notify) -> Workshop:
        beside = self._beside or self
        return Workshop(database, self._folder, self._spark, progress, beside=beside, roots=roots, notify=notify)

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
            return replace(beside, database=self._database, roots=self._roots, listener=told, doubter=self.doubt)
        with self._starting:
            if self._pipeline is None:
                told = listener(self._progress)
                engine = Engine(self._spark)
                self._pipeline = Pipeline(self._database, self.folder, engine, told, self._roots, self.doubt)
            return self._pipeline

    def close(self) -> None:
        """Stop what was started."""
        if self._beside is not None:
            self._beside.close()
        if self._pipeline is not None:
            self._pipeline.engine.close()
            self._pipeline = None

    # -- base files ----------------------------------------------------------------------------------------------

    def files(self, location: str | PathLike[str], **options: Any) -> Files:  # noqa: ANN401 - those of Files.at
        """Look at files, as the base of a catalog; `options` are those of `Files.at`."""
        with reading_progress(f"reading {fspath(location)}", self._progress) as progress:
            return Files.at(location, **options, memory=FileMemory(self._database), progress=progress)

    def table(self, name: str, trust: Trust | None = None) -> Files:
        """Look at a table of Spark's catalog, as the base of a catalog."""
        from provenn.spark.tables.catalog_tables import table_files  # noqa: PLC0415 - see above

        return table_files(self.pipeline().engine, name, trust, FileMemory(self._database))

    def old_base(self, base: Base, name: str) -> Base | None:
        """Return the base catalog that an older archive has of the files of a new one, or None; see `find_old_base`."""
        return find_old_base(
            self._database, self._folder, base, name, in_old_terms=self._in_old_terms, read=self.read_contents
        )

    def _in_old_terms(self, files: Files) -> Files:
        if files.format == TABLE:
            from provenn.spark.tables.catalog_tables import old_table_fingerprints  # noqa: PLC0415 - see above

            return files.in_old_terms(old_table_fingerprints(self.pipeline().engine, files.location))
        if files.format == GIVEN:
            return files.in_old_terms(dict(kept(self.folder, files).in_old_terms().fingerprints))
        return files.in_old_terms()

    def read_contents(self, base: Base) -> Base:
        """Return a base catalog that is known by all its bytes; an old one is read now, and its contents recorded."""
        if base.files.format == TABLE:
            from provenn.spark.base_checks import known_by_content  # noqa: PLC0415 - see above

            return known_by_content(self.pipeline().engine, self._database, self.folder, base)
        with reading_progress(f"reading {base.files.location}", self._progress) as progress:
            return read_contents(self._database, self._folder, base, progress)

    def check_first_keys(self, base: Base) -> None:
        """Make sure that the first keys of a base catalog identify sources, without Spark; see `check_first_keys`."""
        check_first_keys(base, kept(self.folder, base.files) if base.files.format == GIVEN else base.files)

    def check_bases(self, bases: Iterable[Base]) -> None:
        """Make sure that what base catalogs are read from is what it was; Spark is started only for its own tables.

        Raises
        ------
        FilesMissingError, FilesChangedError
            If it is not.
        """
        for base in bases:
            if base.files.format == TABLE:
                self.pipeline().check((base,))
                continue
            check_roots((base,), self._roots)
            check_base(self._database, self._folder, base)

    def keeping(self, table: pa.Table) -> AbstractContextManager[Files]:
        """Keep a table that was in memory, as the base of a catalog that is defined in the body."""
        from provenn.store.given import keeping  # noqa: PLC0415 - few tables come from memory

        return keeping(self._database, self.folder, table)

    def key_rows(self, base: Base) -> int:
        """Make sure that the key of a base catalog identifies its sources; return how many there are."""
        return self.pipeline().key_rows(base)

    # -- results -------------------------------------------------------------------------------------------------

    def prepared(self, replan: Replan, *, check: bool = False) -> Prepared:
        """Return data that are ready to be computed."""
        from provenn.targets.running import prepared  # noqa: PLC0415 - see above

        plan, data = prepared(self.pipeline(), self._begun(replan, check=check)())
        self._tell(plan)
        return data

    def collected(self, replan: Replan, keep: Keep, limit: int | None, *, check: bool = False) -> pa.Table:
        """Compute data into this process, as an Arrow table; none are computed if it is proved that there are none."""
        replan = self._begun(replan, check=check)
        plan = replan()
        if plan.empty:
            return self._no_rows(plan)
        from provenn.spark.arrow import described  # noqa: PLC0415

        with self._recorded(plan) as run:
            data = self._answered(run, replan, keep)
            with run.reading():
                table = described(self.pipeline().collected(data, limit, lambda frame: frame.toArrow()), data.schema)
            run.rows = table.num_rows
            run.doubtful = not check and self._is_doubtful(run.plan, table.num_rows, table)
        if run.doubtful:
            return self.collected(replan, keep, limit, check=True)
        return table

    def first(self, replan: Replan, number: int, *, check: bool = False) -> pa.Table:
        """Compute a few sources."""
        plan = self._begun(replan, check=check)()
        if plan.empty:
            return self._no_rows(plan)
        from provenn.targets.running import prepared  # noqa: PLC0415 - see above

        plan, data = prepared(self.pipeline(), plan)
        most = min(number, 2**31 - 1)  # Spark counts so far
        table = self.pipeline().collected(data, None, lambda frame: frame.limit(most).toArrow())
        self._compare_few(plan, table.num_rows, most)
        return table

    def count(self, replan: Replan, *, check: bool = False) -> int:
        """Count sources, unless it is known how many there are, or follows from other counts.

        What is known is told where reading the same sources would give them, and otherwise the same is raised.
        """
        plan = self._begun(replan, check=check)()
        known = plan.scene.rows.get(plan.before.extent.digest)
        if known is not None:
            self._check_remembered(plan)
            return known
        if plan.empty:
            self._check_remembered(plan)
            self._tell(plan)
            return 0
        derived = self._derived_count(plan)
        if derived is not None:
            return derived
        from provenn.targets.leaning import leaning  # noqa: PLC0415 - see above
        from provenn.targets.running import prepared  # noqa: PLC0415

        plan, data = prepared(self.pipeline(), plan)
        rows = self.pipeline().count(data)
        if not check and self._is_doubtful(plan, rows):
            return self.count(replan, check=True)
        self._tell(plan, self._learned(plan, rows, leaning(plan)))
        return rows

    def _derived_count(self, plan: Plan) -> int | None:
        """Return how many sources there are, if that follows from other counts; remember it."""
        if plan.catalog is None:
            return None
        from provenn.targets.dividing import derive_count  # noqa: PLC0415 - see above
        from provenn.targets.learning import learn_count  # noqa: PLC0415

        with self._database.reading() as reading:
            derived = derive_count(reading, plan.catalog)
        if derived is None:
            return None
        self._check_remembered(plan)
        self.doubt(learn_count(self._database, plan.catalog, derived.rows, reason=derived.because))
        return derived.rows

    def _check_remembered(self, plan: Plan) -> None:
        """Make sure that what was seen in data before may be told now: the base files are what they were.

        Those files count that reading the sources would read. If nothing would be read, because data showed that there
        are no such sources, all files of the lineage count. What follows from definitions and declarations alone does
        not depend on files.
        """
        bases = plan.bases
        if plan.empty:
            from provenn.targets.leaning import leaning  # noqa: PLC0415 - see above

            with self._database.reading() as reading:
                seen = any(fact(reading, number).origin == "observed" for number in leaning(plan))
            lineage = cone(*plan.scene.catalogs) if plan.catalog is None else cone(plan.catalog)
            found = (one for one in lineage if isinstance(one, Base) and one.files.format != EXTERNAL)
            bases = tuple(found) if seen else ()
        self.check_bases(bases)

    def written(
        self,
        replan: Replan,
        keep: Keep,
        path: str | PathLike[str],
        *,
        check: bool = False,
        **options: Any,  # noqa: ANN401 - those of write
    ) -> Written:
        """Compute data into files."""
        from provenn.archive.exported import file_notes  # noqa: PLC0415 - see above
        from provenn.spark.writing import write  # noqa: PLC0415 - see above

        pipeline = self.pipeline()
        replan = self._begun(replan, check=check)
        plan = replan()
        self._check_place(path, plan)
        if plan.empty:
            self._check_remembered(plan)
        with self._recorded(plan) as run:
            data = self._answered(run, replan, keep)
            with pipeline.pinned(data), run.reading():  # write itself shows progress and tells failures
                with self._database.reading() as reading:
                    notes = file_notes(reading, plan)
                usual = {"listener": pipeline.listener, "check": lambda: pipeline.check(data.bases), "notes": notes}
                done = write(pipeline.engine, data.frame, data.schema, path, **options | usual)
            run.rows = done.rows
            run.doubtful = not check and self._is_doubtful(run.plan, done.rows)
        if run.doubtful:
            return self.written(replan, keep, path, check=True, **options | {"overwrite": True})
        return done

    @contextmanager
    def _recorded(self, plan: Plan) -> Iterator[Recorder]:
        """Record a run; learn from it when it has ended well, and tell what it rests on."""
        suspended: Sequence[Fact] = ()
        with recorded(self._database, plan) as run:
            self.latest_run = run.number
            yield run
            if not run.doubtful:
                suspended = self._learned(run.plan, run.rows or 0, run.facts)
        if not run.doubtful:
            self._tell(run.plan, suspended)

    def _answered(self, run: Recorder, replan: Replan, keep: Keep) -> Prepared:
        """Return the data of a plan; what is to be kept is stored before, and read from there."""
        from provenn.targets.running import answered  # noqa: PLC0415 - see above

        answer = answered(self.pipeline(), run.plan, replan, keep)
        run.plan, run.facts = answer.plan, answer.facts
        before = {fragment.id for fragment in run.plan.fragments}
        run.computed = sum(fragment.rows for fragment in answer.data.fragments if fragment.id not in before)
        return answer.data

    # -- declared facts ------------------------------------------------------------------------------------------

    def _begun(self, replan: Replan, *, check: bool) -> Replan:
        """Return how to plan: if declared facts are to be checked, they are now, and no plan leans on any."""
        if not check:
            return replan
        from provenn.targets.checking import check_facts  # noqa: PLC0415 - see above
        from provenn.targets.leaning import declared_facts  # noqa: PLC0415
        from provenn.targets.planning import without_declared  # noqa: PLC0415

        facts = declared_facts(replan())
        checked = check_facts(self.pipeline(), facts) if facts else []
        self.doubt([fact for one in checked for fact in one.suspended])
        with self._database.reading() as reading:
            told = notices_of_checks(checked, partial(in_names, reading))
        self.notices.tell(told)
        return lambda: without_declared(replan())

    def doubt(self, facts: Sequence[Fact]) -> None:
        """Tell that declared facts are suspended, because data contradict them."""
        if facts:
            with self._database.reading() as reading:
                told = notice_of_suspension(in_names(reading, facts))
            self.notices.tell(told)

    def _tell(self, plan: Plan, suspended: Sequence[Fact] = ()) -> None:
        """Tell on which declared facts an answer rests, and which ones it contradicts."""
        self.doubt(suspended)
        self.notices.tell(notice_of_rest(plan.what, plan.rests_on, empty=plan.empty))

    def _no_rows(self, plan: Plan) -> pa.Table:
        from provenn.spark.arrow import no_rows  # noqa: PLC0415 - see above

        self._check_remembered(plan)
        self._tell(plan)
        return no_rows(plan.schema)

    def _learned(self, plan: Plan, rows: int, facts: Collection[int]) -> tuple[Fact, ...]:
        """Take note of how many sources there are; return the declared facts that are suspended for it."""
        from provenn.targets.learning import learn_count  # noqa: PLC0415 - see above

        return () if plan.catalog is None else learn_count(self._database, plan.catalog, rows, facts)

    def _compare_few(self, plan: Plan, rows: int, most: int) -> None:
        """Compare a few sources that were read with what was declared: if there are no more, all were read."""
        from provenn.targets.leaning import leaning  # noqa: PLC0415 - see above

        all_read = rows < most and plan.scene.has_declared
        self._tell(plan, self._learned(plan, rows, leaning(plan)) if all_read else ())

    @staticmethod
    def _is_doubtful(plan: Plan, rows: int, table: pa.Table | None = None) -> bool:
        """Whether a result that rests on declared facts cannot be right: so many sources there are not, or one twice.

        Both are seen for free. Bounds on the steps as they are defined lean on no declared fact, and a key is unique.
        """
        if not plan.rests_on:
            return False
        from provenn.targets.bounds import known_rows  # noqa: PLC0415 - see above

        known = known_rows(plan.scene, (plan.before,))
        if rows < known.low or (known.high is not None and rows > known.high):
            return True
        key = [column.name for column in plan.schema.key]
        return table is not None and table.group_by(key).aggregate([]).num_rows < rows

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
