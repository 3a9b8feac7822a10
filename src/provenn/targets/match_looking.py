"""A match in a look: which matches need no Spark, and the files of both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from provenn.catalogs.match_rule import Coordinate
from provenn.catalogs.placements import IN_PLACE
from provenn.criteria import AttributeIdentity
from provenn.criteria.types import DOUBLE, FLOAT, INTEGRAL
from provenn.look.refusal import NeedsSpark
from provenn.sky.positions import DEGREES
from provenn.targets.match_steps import Match, list_side_reads
from provenn.targets.steps import Derive, PlanStep, Scan, Select, find_key

if TYPE_CHECKING:
    import pyarrow as pa

    from provenn.files.listing import File
    from provenn.look.matching import MatchedSide, SideFile

__all__ = ["check_match", "find_scan", "make_sides"]

_LARGEST_RADIUS = 30 * 3600.0
"""As in `provenn.look.near_pairs`, which takes a while to import."""

ReadRows = Callable[[PlanStep, frozenset[AttributeIdentity], "File | None"], "Iterator[pa.Table]"]
"""Reads the rows of a step with the needed attributes, or those that come from one file."""


def check_match(step: Match, needed: frozenset[AttributeIdentity]) -> None:
    """Make sure that a look finds the same pairs as Spark, and all that is needed of them.

    Raises
    ------
    NeedsSpark
        If it does not.
    """
    match = step.catalog
    if match.separation.identity in needed:
        raise NeedsSpark("the last digits of a separation are those that Spark computes")
    if any(placement != IN_PLACE for placement in match.placements):
        raise NeedsSpark("positions are moved to another epoch or frame")
    if match.rule.radius > _LARGEST_RADIUS:
        raise NeedsSpark("sources are matched far from each other")
    for side, coordinates in ((step.left, match.inputs_of("left")), (step.right, match.inputs_of("right"))):
        for name, unit in coordinates:
            if unit not in DEGREES or side.attributes[name].type not in (DOUBLE, FLOAT, *INTEGRAL):
                raise NeedsSpark(f"the position in {side.attributes[name].name} is no number")


def find_scan(step: PlanStep) -> Scan | None:
    """Return the scan whose rows a step takes one by one; None if the step does more."""
    while isinstance(step, Select | Derive):
        step = step.input
    return step if isinstance(step, Scan) else None


def make_sides(
    step: Match,
    needed: frozenset[AttributeIdentity],
    read: ReadRows,
    list_files: Callable[[Scan], Sequence[File]],
    *,
    counts: bool = False,
) -> tuple[MatchedSide, MatchedSide]:
    """Return the sides of a match, as the look reads them.

    Parameters
    ----------
    step
        The match.
    needed
        The attributes that are needed of pairs.
    read
        Reads rows.
    list_files
        Returns the files of a scan, which were checked.
    counts
        Whether only the number of pairs matters.
    """
    from provenn.look.matching import MatchedSide  # noqa: PLC0415 - pyarrow takes a while to import

    match = step.catalog
    sides = []
    inputs = ((step.left, match.inputs_of("left")), (step.right, match.inputs_of("right")))
    reads = list_side_reads(match, needed)
    for (side, coordinates), columns, wanted in zip(inputs, step.columns(needed), reads, strict=True):
        key = find_key(side.attributes)
        taken = () if counts else tuple(dict.fromkeys([*columns.values(), *key]))
        files = _list_side_files(side, coordinates, wanted, taken, read, list_files)
        sides.append(MatchedSide(files, {} if counts else columns, key))
    left, right = sides
    return left, right


def _list_side_files(
    step: PlanStep,
    inputs: tuple[Coordinate, ...],
    needed: frozenset[AttributeIdentity],
    taken: Sequence[AttributeIdentity],
    read: ReadRows,
    list_files: Callable[[Scan], Sequence[File]],
) -> list[SideFile]:
    """Return the rows of a side, divided by the files from which they come, if each row comes from one."""
    from provenn.look.located_rows import LocatedRows, join_rows, locate_rows  # noqa: PLC0415 - see above
    from provenn.look.matching import SideFile  # noqa: PLC0415
    from provenn.look.near_pairs import SkyRows  # noqa: PLC0415

    ra, dec, *others = inputs
    radius = others[0] if others else None

    def read_file(file: File | None) -> LocatedRows:
        import numpy as np  # noqa: PLC0415 - see above

        parts = [locate_rows(table, (ra, dec), taken, radius) for table in read(step, needed, file)]
        return join_rows(parts) if parts else LocatedRows(SkyRows(np.zeros(0), np.zeros(0)))

    scan = find_scan(step)
    if scan is None:
        return [SideFile(lambda: read_file(None))]
    names = [scan.attributes[name].name if name in scan.attributes else "" for name, _ in (ra, dec)]
    files = list_files(scan)
    rows = (scan.base.files.row_count or 0) // max(1, len(scan.base.files.fingerprints))
    return [
        SideFile(lambda file=file: read_file(file), _find_box(file, names, (ra[1], dec[1])), rows)  # type: ignore[misc] # the default binds the file
        for file in files
    ]


def _find_box(file: File, names: Sequence[str], units: tuple[str, str]):
    from provenn.look.located_rows import make_box  # noqa: PLC0415 - see above
    from provenn.look.parquet_rows import read_column_ranges  # noqa: PLC0415

    with file.open() as opened:
        ra, dec = read_column_ranges(opened, file.name, names)
    return make_box(ra, dec, units)
