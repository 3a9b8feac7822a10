"""A match in a look: which matches need no Spark, and the files of both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
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
    from provenn.look.located_rows import LocatedRows, SkyBox
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
        scan = find_scan(side)
        files = [None] if scan is None else list_files(scan)
        rows = partial(_locate_file, partial(read, side, wanted), coordinates, taken)
        parts = [_make_part(partial(rows, file), file, scan, coordinates) for file in files]
        sides.append(MatchedSide(parts, {} if counts else columns, key))
    left, right = sides
    return left, right


def _locate_file(
    read: Callable[[File | None], Iterator[pa.Table]],
    inputs: tuple[Coordinate, ...],
    taken: Sequence[AttributeIdentity],
    file: File | None,
) -> LocatedRows:
    """Read the rows of a side that come from a file, or all, and return those with a position."""
    import numpy as np  # noqa: PLC0415 - see above

    from provenn.look.located_rows import LocatedRows, join_rows, locate_rows  # noqa: PLC0415
    from provenn.look.near_pairs import SkyRows  # noqa: PLC0415

    ra, dec, *others = inputs
    parts = [locate_rows(table, (ra, dec), taken, others[0] if others else None) for table in read(file)]
    return join_rows(parts) if parts else LocatedRows(SkyRows(np.zeros(0), np.zeros(0)))


def _make_part(
    read: Callable[[], LocatedRows], file: File | None, scan: Scan | None, inputs: tuple[Coordinate, ...]
) -> SideFile:
    """Return rows of a side: those that come from a file of a scan, or all."""
    from provenn.look.matching import SideFile  # noqa: PLC0415 - see above

    if file is None or scan is None:
        return SideFile(read)
    (ra, ra_unit), (dec, dec_unit), *_ = inputs
    names = [scan.attributes[name].name if name in scan.attributes else "" for name in (ra, dec)]
    files = scan.base.files
    rows = (files.row_count or 0) // max(1, len(files.fingerprints))
    return SideFile(read, _find_box(file, names, (ra_unit, dec_unit)), rows)


def _find_box(file: File, names: Sequence[str], units: tuple[str, str]) -> SkyBox:
    """Return where the rows of a file are, by what the file says of itself."""
    from provenn.look.located_rows import make_box  # noqa: PLC0415 - see above
    from provenn.look.parquet_rows import read_column_ranges  # noqa: PLC0415

    with file.open() as opened:
        ra, dec = read_column_ranges(opened, file.name, names)
    return make_box(ra, dec, units)
