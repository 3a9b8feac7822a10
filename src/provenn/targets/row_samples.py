"""The samples of rows that planning may use: those of base files and of usable fragments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from provenn.catalogs import Catalog, Extent, cone, list_bases
from provenn.criteria import AttributeIdentity
from provenn.database.transactions import Reading
from provenn.definitions.stored_samples import read_samples
from provenn.files.row_samples import SampledKeys
from provenn.knowledge.attribute_origins import AttributeOrigins
from provenn.targets.steps import FragmentScan

__all__ = ["RowSample", "SampledCondition", "collect_samples", "find_needed_attributes"]

_QUOTED = re.compile(r"`((?:[^`]|``)*)`")


@dataclass(frozen=True, slots=True)
class RowSample:
    """A few rows of a set of sources.

    Parameters
    ----------
    extent
        The set, of which these rows are a sample.
    columns
        The values of attributes in these rows, by identity; the same rows in the same order, which is random.
    """

    extent: Extent
    columns: Mapping[AttributeIdentity, SampledKeys]

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values()), ()))


class SampledCondition:
    """A condition on the rows of a sample, evaluated as far as needed; a set of rows is a whole number in bits.

    Parameters
    ----------
    evaluate
        Evaluates the condition on a row: whether it is TRUE, or None where that is uncertain. None if that is known.
    truths
        Whether the condition is TRUE, for the first rows.
    """

    __slots__ = ("_known", "_true", "evaluate")

    def __init__(self, evaluate: Callable[[int], bool | None] | None, truths: Sequence[bool] = ()) -> None:
        self.evaluate = evaluate
        self._known = (1 << len(truths)) - 1
        self._true = int("".join("01"[truth] for truth in reversed(truths)) or "0", 2)

    def find_true(self, rows: int) -> int:
        """Return those of some rows for which the condition is TRUE; uncertain ones are left out."""
        missing = rows & ~self._known
        while missing and self.evaluate is not None:
            lowest = missing & -missing
            if self.evaluate(lowest.bit_length() - 1):
                self._true |= lowest
            missing ^= lowest
        self._known |= rows
        return self._true & rows


def collect_samples(
    reading: Reading, catalogs: Iterable[Catalog], fragments: Iterable[FragmentScan]
) -> tuple[RowSample, ...]:
    """Return the samples of base catalogs and fragments, with the attributes that conditions need.

    Parameters
    ----------
    reading
        The transaction.
    catalogs
        The catalogs that are planned, which the viewer sees.
    fragments
        The fragments that the viewer may use.
    """
    lineage = cone(*catalogs)
    needed = find_needed_attributes(lineage)
    if not needed:
        return ()
    extents = {(base.digest, 0): base.extent for base in list_bases(lineage)}
    scans = {(scan.fragment.catalog, scan.fragment.id): scan.extent for scan in fragments}
    sampled = read_samples(reading, [digest for digest, _ in extents], scans, needed)
    return tuple(RowSample((extents | scans)[owner], columns) for owner, columns in sampled.items())


def find_needed_attributes(lineage: Iterable[Catalog]) -> frozenset[AttributeIdentity]:
    """Return the attributes in conditions of catalogs, and the inputs of expressions that define these attributes."""
    catalogs = list(lineage)
    conditions = [condition for catalog in catalogs if (condition := catalog.find_condition()) is not None]
    if not conditions:
        return frozenset()
    expressions = AttributeOrigins.of(catalogs).expressions
    pending = {identity for condition in conditions for label in condition.extent.labels for identity in _read(label)}
    needed: set[AttributeIdentity] = set()
    while pending:
        needed |= pending
        pending = {inner for identity in pending for inner in _read(expressions.get(identity, ""))} - needed
    return frozenset(needed)


def _read(text: str) -> Iterable[AttributeIdentity]:
    """Return the identities of the attributes in a canonical text."""
    return (AttributeIdentity(name.replace("``", "`")) for name in _QUOTED.findall(text))
