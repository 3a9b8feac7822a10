"""The sinks of a run: an Arrow table, the first rows, a count, or files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, Protocol, Self, TypeVar

from provenn.catalogs import cone, list_bases
from provenn.data.pins import hold_outside
from provenn.database.transactions import Reading
from provenn.errors import StoreError
from provenn.files.data_folder import DataFolder
from provenn.files.export_notes import FileNotes
from provenn.files.file_set import EXTERNAL, TABLE
from provenn.knowledge.stored_facts import Fact, get_fact
from provenn.look.allowance import LARGEST
from provenn.look.refusal import NeedsSpark
from provenn.targets.dividing import derive_count
from provenn.targets.engine_choice import choose_engine
from provenn.targets.leaning import find_supporting_facts
from provenn.targets.learning import learn_count
from provenn.targets.look_sizes import is_short
from provenn.targets.looking import count_rows, find_refusal, take_look
from provenn.targets.plan import Plan
from provenn.targets.workplace import DataPlace

if TYPE_CHECKING:
    import pyarrow as pa

    from provenn.spark.pipeline import PreparedData
    from provenn.spark.writing import WrittenFiles

__all__ = [
    "CountSink",
    "FilesSink",
    "FirstRowsSink",
    "KnownAnswer",
    "PictureSink",
    "Sink",
    "TableSink",
    "TakenRows",
    "make_empty_answer",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_LARGEST_LIMIT = 2**31 - 1
"""The largest limit of Spark."""

_FEW = 10_000
"""The most rows for which a look reads without a limit on the size of the whole."""


@dataclass(frozen=True, slots=True)
class KnownAnswer(Generic[T_co]):
    """An answer for which no data are read.

    Attributes
    ----------
    answer
        The answer.
    is_reasoned
        Whether the answer follows from the facts behind the plan, and not from an earlier count.
    suspended
        The declared facts that are suspended because the answer contradicts them.
    """

    answer: T_co
    is_reasoned: bool
    suspended: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class TakenRows(Generic[T_co]):
    """The rows that a sink has taken.

    Attributes
    ----------
    answer
        The answer to the caller.
    rows
        The number of sources; None if the sink cannot say it.
    table
        The rows, if they are in this process.
    """

    answer: T_co
    rows: int | None
    table: pa.Table | None = None


class Sink(Protocol[T_co]):
    """Takes the rows of an answer."""

    is_recorded: ClassVar[bool]
    """Whether the sink takes the whole answer: then the run is recorded, and costly results are kept."""
    is_compared: ClassVar[bool]
    """Whether an impossible number of rows makes the run repeat without declared facts."""

    def find_known_answer(self, place: DataPlace, plan: Plan, /) -> KnownAnswer[T_co] | None:
        """Return the answer if no data are needed for it; raise an error if the run must not begin."""

    def take_look(self, place: DataPlace, plan: Plan, /) -> TakenRows[T_co]:
        """Read the rows without Spark; raise `NeedsSpark` if Spark must compute them."""

    def take_rows(self, place: DataPlace, plan: Plan, data: PreparedData, /) -> TakenRows[T_co]:
        """Compute the rows."""

    def repeat(self) -> Self:
        """Return the sink for a second run, which replaces the answer of the first run."""


@dataclass(frozen=True, slots=True)
class TableSink:
    """Takes all rows into this process, as an Arrow table.

    Parameters
    ----------
    limit
        The approximate limit of the size in bytes; None for no limit.
    """

    is_recorded: ClassVar[bool] = True
    is_compared: ClassVar[bool] = True
    limit: int | None

    def find_known_answer(self, place: DataPlace, plan: Plan, /) -> KnownAnswer[pa.Table] | None:
        """Return a table without rows, if the answer is proved to be empty."""
        return make_empty_answer(place, plan)

    def take_look(self, place: DataPlace, plan: Plan, /) -> TakenRows[pa.Table]:
        """Collect the rows without Spark, unless they might exceed the limit."""
        if self.limit is not None and self.limit < LARGEST:
            raise NeedsSpark("the result has a small limit")
        table = take_look(place, plan, partial(_collect_tables, plan))
        return TakenRows(table, table.num_rows, table)

    def take_rows(self, place: DataPlace, plan: Plan, data: PreparedData, /) -> TakenRows[pa.Table]:  # noqa: ARG002 - a sink
        """Collect the rows; field metadata hold unit, description and UCD."""
        from provenn.look.arrow_tables import add_field_metadata  # noqa: PLC0415 - planning runs without Spark

        collected = place.pipeline().collect_data(data, self.limit, lambda frame: frame.toArrow())
        table = add_field_metadata(collected, data.schema)
        return TakenRows(table, table.num_rows, table)

    def repeat(self) -> Self:
        """Return the same sink."""
        return self


@dataclass(frozen=True, slots=True)
class PictureSink(TableSink):
    """Takes all rows for a picture: the run is not recorded, and nothing is kept."""

    is_recorded: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class FirstRowsSink:
    """Takes a few arbitrary rows into this process, as an Arrow table."""

    is_recorded: ClassVar[bool] = False
    is_compared: ClassVar[bool] = False
    number: int

    def find_known_answer(self, place: DataPlace, plan: Plan, /) -> KnownAnswer[pa.Table] | None:
        """Return a table without rows, if the answer is proved to be empty."""
        return make_empty_answer(place, plan)

    def take_look(self, place: DataPlace, plan: Plan, /) -> TakenRows[pa.Table]:
        """Collect the rows without Spark."""
        most = min(self.number, _LARGEST_LIMIT)
        table = take_look(place, plan, partial(_collect_tables, plan, most=most), few=most <= _FEW)
        return self._make_answer(plan, table)

    def take_rows(self, place: DataPlace, plan: Plan, data: PreparedData, /) -> TakenRows[pa.Table]:
        """Collect the rows. Fewer rows than requested are all rows: then they are compared with declared facts."""
        most = min(self.number, _LARGEST_LIMIT)
        table = place.pipeline().collect_data(data, None, lambda frame: frame.limit(most).toArrow())
        return self._make_answer(plan, table)

    def _make_answer(self, plan: Plan, table: pa.Table) -> TakenRows[pa.Table]:
        """Return the first rows; their number is that of all rows if there are fewer than requested."""
        all_read = table.num_rows < min(self.number, _LARGEST_LIMIT) and plan.scene.has_declared_facts
        return TakenRows(table, table.num_rows if all_read else None)

    def repeat(self) -> Self:
        """Return the same sink."""
        return self


@dataclass(frozen=True, slots=True)
class CountSink:
    """Counts the rows, unless the count is known or follows from other counts."""

    is_recorded: ClassVar[bool] = False
    is_compared: ClassVar[bool] = True

    def find_known_answer(self, place: DataPlace, plan: Plan, /) -> KnownAnswer[int] | None:
        """Return the known count, zero for an answer proved to be empty, or a count that follows from other counts.

        A known count is returned only where reading the same sources would succeed; otherwise the same error is raised.
        """
        known_count = self.find_recorded_count(place, plan)
        if known_count is not None:
            return KnownAnswer(known_count, is_reasoned=False)
        if plan.empty:
            check_remembered(place, plan)
            return KnownAnswer(0, is_reasoned=True)
        if plan.catalog is None:
            return None
        is_counted_soon = choose_engine("auto") != "spark" and is_short(plan) and not find_refusal(plan)
        with place.database.reading() as reading:
            derived = derive_count(reading, plan.catalog, is_counted_soon=is_counted_soon)
        if derived is None:
            return None
        check_remembered(place, plan)
        suspended = learn_count(place.database, plan.catalog, derived.rows, reason=derived.because)
        return KnownAnswer(derived.rows, is_reasoned=False, suspended=suspended)

    def find_recorded_count(self, place: DataPlace, plan: Plan, /) -> int | None:
        """Return the count if the sources were counted before; nothing is derived from other counts."""
        known_count = plan.scene.rows.get(plan.before.extent.digest)
        if known_count is not None:
            check_remembered(place, plan)
        return known_count

    def take_look(self, place: DataPlace, plan: Plan, /) -> TakenRows[int]:
        """Count the rows without Spark."""
        rows = count_rows(place, plan)
        return TakenRows(rows, rows)

    def take_rows(self, place: DataPlace, plan: Plan, data: PreparedData, /) -> TakenRows[int]:  # noqa: ARG002 - a sink
        """Count the rows."""
        rows = place.pipeline().count(data)
        return TakenRows(rows, rows)

    def repeat(self) -> Self:
        """Return the same sink."""
        return self


@dataclass(frozen=True, slots=True)
class FilesSink:
    """Writes all rows into files.

    Parameters
    ----------
    path
        The file or folder to write.
    make_notes
        Makes the notes about the contents that the files hold.
    options
        The options of `provenn.spark.writing.write`.
    """

    is_recorded: ClassVar[bool] = True
    is_compared: ClassVar[bool] = True
    path: str | PathLike[str]
    make_notes: Callable[[Reading, Plan], FileNotes]
    options: Mapping[str, Any] = field(default_factory=dict)

    def find_known_answer(self, place: DataPlace, plan: Plan, /) -> KnownAnswer[WrittenFiles] | None:
        """Check the form and place of the files; write one file without rows if the answer is proved to be empty."""
        from provenn.spark.output_forms import read_output_form  # noqa: PLC0415 - few answers are files

        if fspath(self.path):  # otherwise the form is wrong
            _check_output_place(place, self.path, plan)
        read_output_form(plan.schema, self.path, **self.options)
        place.check_bases(base for base in plan.bases if base.files.format not in (TABLE, EXTERNAL))
        if not plan.empty:
            return None
        from provenn.spark.empty_files import write_empty_file  # noqa: PLC0415 - few answers are empty

        check_remembered(place, plan)
        with place.database.reading() as reading:
            notes = self.make_notes(reading, plan)
        written = write_empty_file(plan.schema, self.path, notes, hold_outside(place.database), **self.options)
        return None if written is None else KnownAnswer(written, is_reasoned=True)

    def take_look(self, place: DataPlace, plan: Plan, /) -> NoReturn:  # noqa: ARG002 - a sink
        """Leave the rows to Spark, which writes files."""
        raise NeedsSpark("Spark writes files")

    def take_rows(self, place: DataPlace, plan: Plan, data: PreparedData, /) -> TakenRows[WrittenFiles]:
        """Write the rows."""
        from provenn.spark.writing import write  # noqa: PLC0415 - planning runs without Spark

        pipeline = place.pipeline()
        with pipeline.pin_fragments(data):  # `write` itself shows progress and reports failures
            with place.database.reading() as reading:
                notes = self.make_notes(reading, plan)
            usual = {"listener": pipeline.listener, "check": lambda: pipeline.check(data.bases), "notes": notes}
            hold = hold_outside(place.database)
            options: dict[str, Any] = {**self.options, **usual}
            written = write(pipeline.engine, data.frame, data.schema, self.path, hold=hold, **options)
        return TakenRows(written, written.rows)

    def repeat(self) -> Self:
        """Return the sink that replaces the files."""
        return replace(self, options={**self.options, "overwrite": True})


def _collect_tables(plan: Plan, tables: Iterator[pa.Table], most: int | None = None) -> pa.Table:
    """Return the rows of tables as a single table, at most `most`; field metadata hold unit, description and UCD."""
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import

    from provenn.look.arrow_tables import make_empty_table  # noqa: PLC0415

    empty = make_empty_table(plan.schema)
    kept, rows = [], 0
    while (most is None or rows < most) and (table := next(tables, None)) is not None:
        kept.append(table.cast(empty.schema))
        rows += table.num_rows
    return pa.concat_tables([empty, *kept]).slice(0, most)


def check_remembered(place: DataPlace, plan: Plan) -> None:
    """Check that the base files are unchanged, so that an earlier observation of data still holds.

    The base files checked are the files that reading the sources would read. If nothing would be read, because data
    showed that the result is empty, all files of the lineage are checked. Conclusions from definitions and
    declarations alone do not depend on files.
    """
    bases = plan.bases
    if plan.empty:
        with place.database.reading() as reading:
            seen = any(get_fact(reading, number).origin == "observed" for number in find_supporting_facts(plan))
        lineage = cone(*plan.scene.catalogs) if plan.catalog is None else cone(plan.catalog)
        base_catalogs = (catalog for catalog in list_bases(lineage) if catalog.files.format != EXTERNAL)
        bases = tuple(base_catalogs) if seen else ()
    place.check_bases(bases)


def make_empty_answer(place: DataPlace, plan: Plan) -> KnownAnswer[pa.Table] | None:
    """Return a table without rows, if the answer of a plan is proved to be empty."""
    if not plan.empty:
        return None
    from provenn.look.arrow_tables import make_empty_table  # noqa: PLC0415 - planning runs without Spark

    check_remembered(place, plan)
    return KnownAnswer(make_empty_table(plan.schema), is_reasoned=True)


def _check_output_place(place: DataPlace, path: str | PathLike[str], plan: Plan) -> None:
    """Check that writing to a path replaces neither the archive nor the files from which the result is read."""
    output = DataFolder.of(path)
    if not output.is_local:
        return
    written = Path(output.location).resolve()
    locations = (place.database.place, place.pipeline().folder.location)
    archive_places = [Path(location).resolve() for location in locations if "://" not in location]
    if any(
        archive_place.is_relative_to(written) or written.is_relative_to(archive_place)
        for archive_place in archive_places
    ):
        raise StoreError(f"the archive itself is stored at {written}", hint="choose another place")
    bases = plan.bases if plan.catalog is None else list_bases(cone(plan.catalog))
    sources = (Path(base.files.location).resolve() for base in bases if Path(base.files.location).is_absolute())
    for source in sources if written.exists() else ():
        if source.is_relative_to(written) or written.is_relative_to(source):
            raise StoreError(f"{plan.what} reads {source}, which this would replace", hint="choose another name")
