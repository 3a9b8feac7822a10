"""A look at the data of a plan without Spark: the explained steps, as tables of Arrow in this process.

A look takes the same steps as Spark and the same precautions: the files of base catalogs are checked before and after,
keys are verified when data are first used, and fragments are compared and pinned. Whatever is not certain to have the
same answer is left to Spark, which remains the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
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
from provenn.digests import content_digest
from provenn.errors import StoreError
from provenn.knowledge import verified_keys
from provenn.look.allowance import LARGEST_MATCH, MOST_MATCHED_FILES, Allowance
from provenn.look.array_types import parse_array_type
from provenn.look.refusal import NeedsSpark
from provenn.look.suitability import check_base_kind, check_condition, is_exact_term, is_readable_type
from provenn.targets.look_sizes import check_size, walk_needed
from provenn.targets.match_looking import check_match, make_sides
from provenn.targets.match_steps import Match, Matched
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
)
from provenn.targets.workplace import DataPlace

if TYPE_CHECKING:
    import pyarrow as pa

    from provenn.criteria.nodes import Condition
    from provenn.files.listing import File
    from provenn.look.row_groups import RegionRows

__all__ = ["check_steps", "count_rows", "find_refusal", "take_look"]

T = TypeVar("T")

_STEPS = (Scan, FragmentScan, Nothing, Select, Derive, Restrict, Exclude, Combine, Concat, Fill, Match, Matched)
_FEW = 1 << 13
_FEW_ARRAYS = 1 << 9
"""The rows that are read at once if a few rows are enough, and those with arrays, which may be long."""


def check_steps(plan: Plan, *, few: bool = False, counts: bool = False) -> None:
    """Make sure, without reading a file, that a look can read what a plan reads.

    Parameters
    ----------
    plan
        The plan.
    few
        Whether the first rows are enough, so that the size of the data does not matter.
    counts
        Whether the number of rows is enough, whatever the attributes of the plan.

    Raises
    ------
    NeedsSpark
        If it cannot, as far as the plan shows.
    """
    for step, needed in walk_needed(plan.after, plan.needed):
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
            case Match():
                check_match(step, frozenset() if counts and step is plan.after else needed)
            case Matched(key=key):
                _check_matched_key(step, key)
    for column in plan.columns:
        if not is_readable_type(column.type) and parse_array_type(column.type) is None:
            raise NeedsSpark(f"{column.name} has the type {column.type}")
    if not few:
        check_size(plan)


def find_refusal(plan: Plan) -> str:
    """Return why Spark must compute a plan, as a clause that follows "because"; empty if a look can read it.

    Only files show the rest: the types of stored columns, and their size.
    """
    try:
        check_steps(plan)
    except NeedsSpark as refusal:
        return refusal.reason
    return ""


def count_rows(place: DataPlace, plan: Plan) -> int:
    """Return the number of rows of a plan, read in this process.

    Raises
    ------
    NeedsSpark, FilesMissingError, FilesChangedError, BaseFilesError
        As for `take_look`.
    """
    check_steps(plan, counts=True)
    return _take(_Look(place, plan, None), lambda look: look.count_result())


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

    def take_tables(look: _Look) -> T:
        with closing(look.read_result()) as tables:
            return take(tables)

    has_arrays = any(parse_array_type(column.type) for column in plan.columns)
    return _take(_Look(place, plan, (_FEW_ARRAYS if has_arrays else _FEW) if few else None), take_tables)


def _take(look: _Look, take: Callable[[_Look], T]) -> T:
    """Return what a function makes of a look, with the precautions before and after."""
    look.check_fragments()
    look.verify_keys()
    numbers = [fragment.id for fragment in look.plan.fragments]
    try:
        with fragments.pin_fragments_of_look(look.place.database, numbers):
            answer = take(look)
    except StoreError as error:
        if not numbers:
            raise
        raise NeedsSpark(f"a fragment cannot be read, or was deleted meanwhile: {error.message}") from error
    look.place.check_bases(look.plan.bases)
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
        self.match_allowance = Allowance(LARGEST_MATCH, MOST_MATCHED_FILES)
        self.files: dict[str, Sequence[File]] = {}

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

    def count_result(self) -> int:
        """Return the number of rows of the plan."""
        step = self.plan.after
        if not isinstance(step, Match) or step.catalog.rule.is_mutual:
            return sum(table.num_rows for table in self._read(step, self.plan.needed))
        from provenn.look.matching import count_pairs  # noqa: PLC0415 - pyarrow takes a while to import

        read = partial(self._read, keys=False)
        return count_pairs(*make_sides(step, frozenset(), read, self._list_files, counts=True), step.catalog.rule)

    def _read(
        self,
        step: PlanStep,
        needed: frozenset[AttributeIdentity],
        file: File | None = None,
        *,
        keys: bool = True,
    ) -> Iterator[pa.Table]:
        """Yield the rows of a step, with the key and the needed attributes under their identities.

        Parameters
        ----------
        step, needed
            The step, and the attributes that are needed of it.
        file
            The file to read, for the scan of a step that takes its rows one by one; None for all files.
        keys
            Whether such a step gives the key, too.
        """
        reads = step.reads(needed)
        match step:
            case Scan() | FragmentScan():
                return self._read_stored(step, needed, file, keys=keys)
            case Nothing():
                return iter(())
            case Select(input=Scan() as scan):
                rows = self._read_stored(scan, reads[0], file, keys=keys, region=self._find_region(step))
                return self._select_rows(step, rows)
            case Select():
                return self._select_rows(step, self._read(step.input, reads[0], file, keys=keys))
            case Derive():
                return self._derive(step, self._read(step.input, reads[0], file, keys=keys))
            case Match():
                from provenn.look.matching import read_pairs  # noqa: PLC0415 - pyarrow takes a while to import

                return read_pairs(*make_sides(step, needed, self._read, self._list_files), step.catalog.rule)
            case Matched(key=(pair_key,)):
                from provenn.look.joins import filter_by_key  # noqa: PLC0415 - see above

                (key,) = find_key(step.attributes)
                pairs = (pair.rename_columns({pair_key: key}) for pair in self._read(step.pairs, reads[1]))
                return filter_by_key(self._read(step.input, reads[0]), pairs, key, is_in=True)
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

    def _list_files(self, scan: Scan) -> Sequence[File]:
        """Return the files of a scan that is read file by file, after checking all files of its catalog once."""
        from provenn.look.base_rows import check_base_files  # noqa: PLC0415 - see above

        name = content_digest("scan", [scan.base.digest, sorted(scan.chosen or ())])
        if name not in self.files:
            base = self._restore(scan.base)
            self.files[name] = check_base_files(base, self.place.folder_if_known, self.memory, scan.chosen)
        return self.files[name]

    def _find_region(self, step: Select) -> RegionRows | None:
        """Return the rows that a selection may take, if it takes those in a region alone."""
        from provenn.look.row_groups import find_region_rows  # noqa: PLC0415 - see above

        label = step.condition.label
        return None if label is None else find_region_rows(_read_condition(label, step.input))

    def _read_stored(
        self,
        step: Scan | FragmentScan,
        needed: frozenset[AttributeIdentity],
        file: File | None,
        *,
        keys: bool,
        region: RegionRows | None = None,
    ) -> Iterator[pa.Table]:
        """Yield the rows of a base catalog or a fragment."""
        from provenn.look.base_rows import read_base_rows, read_fragment_rows  # noqa: PLC0415 - see above
        from provenn.look.parquet_rows import ReadColumn  # noqa: PLC0415

        key = find_key(step.attributes)
        identities = [*(key if keys else ()), *sorted(needed.difference(key))]
        names = dict(step.fragment.columns) if isinstance(step, FragmentScan) else {}
        attributes = [step.attributes[identity] for identity in identities]
        columns = [
            ReadColumn(names.get(attribute.identity, attribute.name), attribute.identity, attribute.type)
            for attribute in attributes
        ]
        folder = self.place.folder_if_known
        if isinstance(step, Scan) and file is not None:
            return read_base_rows(
                step.base,
                folder,
                self.memory,
                columns,
                self.match_allowance,
                most=self.batch,
                checked=[file],
                region=region,
            )
        if isinstance(step, Scan):
            base = self._restore(step.base)
            options: dict[str, Any] = {"chosen": step.chosen, "most": self.batch, "region": region}
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


def _check_matched_key(step: PlanStep, key: Sequence[AttributeIdentity]) -> None:
    """Make sure that the keys of sources in pairs are compared in Arrow as in Spark."""
    own = find_key(step.attributes)
    if len(key) > 1 or len(own) > 1 or step.attributes[own[0]].type not in (*INTEGRAL, DATE, STRING):
        raise NeedsSpark("sources in pairs are found by keys that only Spark compares")


def _check_joined_keys(step: PlanStep) -> None:
    """Make sure that keys are compared in Arrow as in Spark: a single whole number, date or text of the same type."""
    keys = [find_key(member.attributes) for member in step.inputs]
    if any(len(key) > 1 for key in keys):
        raise NeedsSpark("keys of several attributes are compared")
    kinds = {member.attributes[key].type for member, (key,) in zip(step.inputs, keys, strict=True)}
    if len(kinds) > 1 or not kinds <= {*INTEGRAL, DATE, STRING}:
        raise NeedsSpark(f"keys of the type {' and '.join(sorted(map(str, kinds)))} are compared")
