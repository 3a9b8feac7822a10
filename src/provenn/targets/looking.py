"""A look at the data of a plan without Spark: the explained steps, as tables of Arrow in this process.

A look takes the same steps as Spark and the same precautions: the files of base catalogs are checked before and after,
keys are verified when data are first used, and fragments are compared and pinned. Whatever is not certain to have the
same answer is left to Spark, which remains the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from provenn.catalogs import Base
from provenn.catalogs.roots import check_roots
from provenn.catalogs.sample_sources import parse_sample_rule
from provenn.criteria import AttributeIdentity, Type, parse_criterion
from provenn.criteria.cut_labels import read_cut
from provenn.criteria.types import DATE, INTEGRAL, STRING
from provenn.data import fragments
from provenn.data.changed_files import add_recorded_contents, read_contents
from provenn.data.file_memory import FileMemory
from provenn.data.usable_fragments import select_usable
from provenn.errors import StoreError
from provenn.knowledge import verified_keys
from provenn.look.allowance import LARGEST, Allowance
from provenn.look.refusal import NeedsSpark
from provenn.look.suitability import check_base_kind, check_condition, is_exact_term, is_readable_type
from provenn.targets.plan import Plan
from provenn.targets.steps import (
    Combine,
    Concat,
    Derive,
    Exclude,
    Fill,
    FragmentScan,
    Nothing,
    PlanStep,
    Restrict,
    Scan,
    Select,
    find_key,
    walk_steps,
)
from provenn.targets.workplace import DataPlace

if TYPE_CHECKING:
    import pyarrow as pa

    from provenn.criteria.nodes import Condition

__all__ = ["check_steps", "find_refusal", "take_look"]

T = TypeVar("T")

_STEPS = (Scan, FragmentScan, Nothing, Select, Derive, Restrict, Exclude, Combine, Concat, Fill)
_FEW = 1 << 13
"""The rows that are read at once if a few rows are enough."""


def check_steps(plan: Plan, *, few: bool = False) -> None:
    """Make sure, without reading a file, that a look can read what a plan reads.

    Parameters
    ----------
    plan
        The plan.
    few
        Whether the first rows are enough, so that the size of the data does not matter.

    Raises
    ------
    NeedsSpark
        If it cannot, as far as the plan shows.
    """
    for step in walk_steps(plan.after):
        if not isinstance(step, _STEPS):
            raise NeedsSpark(f"the plan has the step {step.word}")
        match step:
            case Scan(base=base):
                check_base_kind(base)
            case Select(condition=condition, input=source):
                for label in condition.labels:
                    check_condition(_read_condition(label, source))
            case Derive(attribute=attribute, expression=expression) if not is_exact_term(expression.node):
                raise NeedsSpark(f"{attribute.name} is computed by more than arithmetic of floating-point numbers")
            case Restrict() | Exclude() | Combine() | Concat(is_disjoint=False):
                _check_joined_keys(step)
    for column in plan.columns:
        if not is_readable_type(column.type):
            raise NeedsSpark(f"{column.name} has the type {column.type}")
    if not few and (size := _estimate_size(plan)) > LARGEST:
        raise NeedsSpark(f"the plan reads about {size / 2**20:,.0f} MB, and a look at most {LARGEST >> 20} MB")


def find_refusal(plan: Plan) -> str:
    """Return why Spark must compute a plan, as a clause that follows "because"; empty if a look can read it.

    Only files show the rest: the types of stored columns, and their size.
    """
    try:
        check_steps(plan)
    except NeedsSpark as refusal:
        return refusal.reason
    return ""


def take_look(place: DataPlace, plan: Plan, take: Callable[[Iterator[pa.Table]], T], *, few: bool = False) -> T:
    """Read the rows of a plan in this process, and return what `take` makes of the tables.

    The tables have the columns of the plan. `take` need not read all tables.

    Parameters
    ----------
    place
        Where the data are.
    plan
        The plan.
    take
        Takes the tables, and returns the answer.
    few
        Whether `take` is likely to read only the first rows.

    Raises
    ------
    NeedsSpark
        If Spark must read the rows. Nothing was changed.
    FilesMissingError, FilesChangedError
        If files of base catalogs are missing, have changed, or change meanwhile.
    BaseFilesError
        If files lie outside the permitted folders, or their format is not allowed.
    """
    check_steps(plan, few=few)
    look = _Look(place, plan, _FEW if few else None)
    look.check_fragments()
    look.verify_keys()
    numbers = [fragment.id for fragment in plan.fragments]
    try:
        with fragments.pin_fragments_of_look(place.database, numbers), closing(look.read_result()) as tables:
            answer = take(tables)
    except StoreError as error:
        if not numbers:
            raise
        raise NeedsSpark(f"a fragment cannot be read, or was deleted meanwhile: {error.message}") from error
    place.check_bases(plan.bases)
    return answer


class _Look:
    """Reads the steps of a plan.

    Parameters
    ----------
    place, plan
        Where the data are, and what is read.
    batch
        The most rows that are read at once; None for the usual number.
    """

    def __init__(self, place: DataPlace, plan: Plan, batch: int | None) -> None:
        from provenn.look.base_rows import BATCH  # noqa: PLC0415 - pyarrow takes a while to import

        self.place = place
        self.plan = plan
        self.batch = batch or BATCH
        self.allowance = Allowance()

    @cached_property
    def memory(self) -> FileMemory:
        """The digests of files that the archive remembers."""
        return FileMemory(self.place.database)

    # -- precautions ---------------------------------------------------------------------------------------------

    def check_fragments(self) -> None:
        """Leave a plan to Spark if a fragment of the plan is damaged: it must be planned anew."""
        if not self.plan.fragments:
            return
        folder = self.place.folder_if_known
        if folder is None or len(select_usable(self.place.database, folder, self.plan.fragments)) < len(
            self.plan.fragments
        ):
            raise NeedsSpark("a fragment is damaged")

    def verify_keys(self) -> None:
        """Verify the keys of base catalogs that were not verified before, and record that they are sound."""
        from provenn.look.base_rows import count_unique_keys  # noqa: PLC0415 - pyarrow takes a while to import

        bases, folder, database = self.plan.bases, self.place.folder_if_known, self.place.database
        check_roots(bases, self.place.roots)
        for base in bases:
            read_contents(database, folder, base)
        with database.reading() as reading:
            verified = verified_keys.find_verified_counts(reading, [base.digest for base in bases])
        for base in bases:
            if base.digest not in verified:
                rows = count_unique_keys(self._restore(base), folder, self.memory, self.allowance)
                self.place.check_bases((base,))
                recorded = database.note(partial(verified_keys.record_verification, base=base.digest, rows=rows))
                if recorded is not None:
                    self.place.report_suspended_facts(recorded.suspended)

    def _restore(self, base: Base) -> Base:
        """Return a base catalog with the contents recorded for its files."""
        return add_recorded_contents(self.place.database, base)

    # -- rows ----------------------------------------------------------------------------------------------------

    def read_result(self) -> Generator[pa.Table]:
        """Yield the rows of the plan, under the names of its attributes."""
        names = [column.name for column in self.plan.columns]
        identities = [column.identity for column in self.plan.columns]
        for table in self._read(self.plan.after, self.plan.needed):
            yield table.select(identities).rename_columns(names)

    def _read(self, step: PlanStep, needed: frozenset[AttributeIdentity]) -> Iterator[pa.Table]:
        """Yield the rows of a step, with the key and the needed attributes under their identities."""
        reads = step.reads(needed)
        match step:
            case Scan() | FragmentScan():
                return self._read_stored(step, needed)
            case Nothing():
                return iter(())
            case Select():
                return self._select_rows(step, self._read(step.input, reads[0]))
            case Derive():
                return self._derive(step, self._read(step.input, reads[0]))
            case Restrict() | Exclude():
                from provenn.look.joins import filter_by_key  # noqa: PLC0415 - pyarrow takes a while to import

                (key,) = find_key(step.attributes)
                others = self._read(step.other, reads[1])
                return filter_by_key(self._read(step.input, reads[0]), others, key, is_in=isinstance(step, Restrict))
            case Combine(members=members):
                from provenn.look.joins import join_by_key  # noqa: PLC0415 - see above

                (key,) = find_key(step.attributes)
                return join_by_key([self._read(*pair) for pair in zip(members, reads, strict=True)], key)
            case Concat():
                return self._concatenate(step, needed)
            case Fill(missing=missing):
                return self._fill(
                    self._read(step.input, reads[0]), {column.identity: column.type for column in missing}
                )
        raise NeedsSpark(f"the plan has the step {step.word}")

    def _read_stored(self, step: Scan | FragmentScan, needed: frozenset[AttributeIdentity]) -> Iterator[pa.Table]:
        """Yield the rows of a base catalog or a fragment."""
        from provenn.look.base_rows import read_base_rows, read_fragment_rows  # noqa: PLC0415 - see above
        from provenn.look.parquet_rows import ReadColumn  # noqa: PLC0415

        key = find_key(step.attributes)
        identities = [*key, *sorted(needed.difference(key))]
        names = dict(step.fragment.columns) if isinstance(step, FragmentScan) else {}
        attributes = [step.attributes[identity] for identity in identities]
        columns = [
            ReadColumn(names.get(attribute.identity, attribute.name), attribute.identity, attribute.type)
            for attribute in attributes
        ]
        folder = self.place.folder_if_known
        if isinstance(step, Scan):
            base = self._restore(step.base)
            options: dict[str, Any] = {"chosen": step.chosen, "most": self.batch}
            return read_base_rows(base, folder, self.memory, columns, self.allowance, **options)
        if folder is None:
            raise NeedsSpark("the archive has no place for data")
        return read_fragment_rows(folder, step.fragment, columns, self.allowance, most=self.batch)

    def _select_rows(self, step: Select, tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """Yield the rows for which the condition of a selection is true."""
        import numpy as np  # noqa: PLC0415 - see above

        from provenn.look.row_conditions import filter_rows, find_true_rows  # noqa: PLC0415

        conditions = {label: _read_condition(label, step.input) for label in step.condition.labels}
        for table in tables:

            def find_rows(label: str, table: pa.Table = table) -> Any:  # noqa: ANN401 - a mask of NumPy
                return find_true_rows(conditions[label], table.num_rows, table.column)

            mask = step.condition.evaluate(find_rows, np.ones(table.num_rows, dtype=bool))
            yield filter_rows(table, mask)

    def _derive(self, step: Derive, tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """Yield rows with an attribute that is computed by arithmetic."""
        from provenn.look.row_conditions import compute_column  # noqa: PLC0415 - see above

        for table in tables:
            column = compute_column(step.expression.node, table.num_rows, table.column)
            yield table.append_column(step.attribute.identity, column)

    def _concatenate(self, step: Concat, needed: frozenset[AttributeIdentity]) -> Iterator[pa.Table]:
        """Yield the rows of all members; the first member with a source gives its row."""
        from provenn.look.joins import filter_by_key  # noqa: PLC0415 - see above

        key = find_key(step.attributes)
        columns = [pair for pair in step.columns if pair[0].identity in needed or pair[0].identity in key]
        reads = step.reads(needed)
        for position, member in enumerate(step.members):
            rows = self._read(member, reads[position])
            for earlier in range(0 if step.is_disjoint else position):
                others = self._read(step.members[earlier], frozenset())
                rows = filter_by_key(rows, others, key[0], is_in=False)
            for table in rows:
                yield table.select([identities[position] for _, identities in columns]).rename_columns(
                    [attribute.identity for attribute, _ in columns]
                )

    def _fill(self, tables: Iterator[pa.Table], missing: Mapping[AttributeIdentity, Type]) -> Iterator[pa.Table]:
        """Yield rows with NULL for missing attributes."""
        import pyarrow as pa  # noqa: PLC0415 - see above

        from provenn.look.arrow_tables import find_result_type  # noqa: PLC0415

        for table in tables:
            filled = table
            for identity, kind in missing.items():
                filled = filled.append_column(identity, pa.nulls(table.num_rows, find_result_type(kind)))
            yield filled


def _read_condition(label: str, source: PlanStep) -> Condition:
    """Return the condition with the label of an atom.

    Raises
    ------
    NeedsSpark
        If the atom is a sample.
    """
    if parse_sample_rule(label) is not None:
        raise NeedsSpark("the plan takes a sample")
    cut = read_cut(label, source.attributes)
    return parse_criterion(label, dict(source.attributes.items()), canonical=True).condition if cut is None else cut


def _check_joined_keys(step: PlanStep) -> None:
    """Make sure that keys are compared in Arrow as in Spark: a single whole number, date or text of the same type."""
    keys = [find_key(member.attributes) for member in step.inputs]
    if any(len(key) > 1 for key in keys):
        raise NeedsSpark("keys of several attributes are compared")
    kinds = {member.attributes[key].type for member, (key,) in zip(step.inputs, keys, strict=True)}
    if len(kinds) > 1 or not kinds <= {*INTEGRAL, DATE, STRING}:
        raise NeedsSpark(f"keys of the type {' and '.join(sorted(map(str, kinds)))} are compared")


_WIDTH = 8
"""The bytes of a value, roughly."""


def _estimate_size(plan: Plan) -> int:
    """Return roughly how many bytes the scans of a plan read; scans of unknown size count nothing."""
    return sum(_estimate_scan(step, needed) for step, needed in _walk_scans(plan.after, plan.needed))


def _walk_scans(
    step: PlanStep, needed: frozenset[AttributeIdentity]
) -> Iterator[tuple[PlanStep, frozenset[AttributeIdentity]]]:
    """Yield the scans below a step, with the attributes that are needed of each."""
    stack: list[tuple[PlanStep, frozenset[AttributeIdentity]]] = [(step, needed)]
    while stack:
        current, wanted = stack.pop()
        if isinstance(current, Scan | FragmentScan):
            yield current, wanted
        stack.extend(zip(current.inputs, current.reads(wanted), strict=True))


def _estimate_scan(step: PlanStep, needed: frozenset[AttributeIdentity]) -> int:
    """Return roughly how many bytes a scan reads."""
    columns = len(needed.union(find_key(step.attributes)))
    if isinstance(step, FragmentScan):
        return step.fragment.rows * columns * _WIDTH
    if isinstance(step, Scan):
        total = len(step.base.files.fingerprints)
        return (step.base.files.row_count or 0) * step.file_count // max(1, total) * columns * _WIDTH
    return 0
