"""MOCs: any coverage, as cells of HEALPix (the IVOA's Multi-Order Coverage maps)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from provenn.errors import ExpansionError, FileError, FilesMissingError, RegionError
from provenn.gate.entrances import entrance
from provenn.gate.local_paths import expand_home
from provenn.sky.angles import read_position_names
from provenn.sky.cells import DEEPEST, Cells, build_cells, merge_ranges, split_into_cells
from provenn.sky.moc_library import LIBRARY, PREFIX, parse_digest
from provenn.sky.points import Cap, measure_separation
from provenn.sky.region import INSIDE, OUTSIDE, Sides

__all__ = ["INLINE", "LARGEST_FILE", "LONGEST", "Moc", "moc", "read_moc_text", "write_canonical_cells"]

INLINE = 100_000
"""The most characters of cells that a criterion contains; it names longer cells by digest."""
LONGEST = 10_000_000
"""The most characters that the cells of a MOC may have: about a million cells."""
LARGEST_FILE = 32 * 2**20
"""The most bytes that the file of a MOC may have: twice the size of the longest MOC in FITS."""
_CLAIMED_SIZE = re.compile(rb"NAXIS([12]) *= *(-?\d+)")
_MOC_TEXT = re.compile(r"[\d\s,/-]*")
_HINT = "pass a file, a mocpy.MOC, or a text such as '3/1-4 5/200'"
_TEXT_HINT = "write the cells, for example '3/1-4 5/200'"

Ranges = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Moc:
    """The positions in cells of HEALPix. Build it with `moc`.

    Parameters
    ----------
    text
        The cells in the IVOA's text format: the largest cells that make up the coverage, sorted. If that text is longer
        than `INLINE`, its digest: ``moc:…``.
    on
        The attributes that hold the position of a source; None if UCDs or usual names decide.
    """

    text: str
    on: tuple[str, str] | None = None

    function: ClassVar[str] = "in_moc"

    @property
    def constants(self) -> tuple[str]:
        """The text."""
        return (self.text,)

    @property
    def cells_text(self) -> str:
        """The cells in the IVOA's text format, also if a digest names the MOC."""
        return _look_up_cells(self.text)

    @property
    def ranges(self) -> Ranges:
        """The covered cells of the last order: the first number of each range, and one past its last."""
        return _compute_ranges(self.text)

    @property
    def cells(self) -> dict[int, Ranges]:
        """The numbers of the cells, by order."""
        return _compute_cells(self.text)

    @property
    def missing_cells(self) -> dict[int, Ranges]:
        """The numbers of the cells that make up the rest of the sky, by order."""
        return _compute_missing_cells(self.text)

    @property
    def cap(self) -> Cap:
        """A cap about the middle of the cells."""
        return _compute_cap(self.text)

    def sides(self, cells: Cells) -> Sides:
        """Return for each cell whether the MOC covers it, touches it, or does neither."""
        size = 1 << (2 * (DEEPEST - cells.order))
        first = cells.compute_numbers() * size
        return self.sides_of(first, first + size)

    def sides_of(self, first: Ranges, end: Ranges) -> Sides:
        """Return for each range of cells of the last order whether the MOC covers it, touches it, or does neither."""
        ranges = self.ranges
        index = np.searchsorted(ranges[:, 1], first, side="right")  # of the first range that ends after `first`
        nearest = ranges[np.minimum(index, len(ranges) - 1)]
        beyond = index == len(ranges)
        outside = beyond | (nearest[:, 0] >= end)
        inside = ~beyond & (nearest[:, 0] <= first) & (nearest[:, 1] >= end)
        return np.where(outside, OUTSIDE, np.where(inside, INSIDE, 0)).astype(np.int8)


def moc(what: Any, on: Sequence[str] | None = None) -> Moc:  # noqa: ANN401 - see below
    """Return a coverage map as a region.

    Parameters
    ----------
    what
        A MOC of mocpy; a file in FITS, JSON or text format; a text such as ``"3/1-4 5/200"``; or the digest of a large
        MOC that an open archive holds: ``"moc:…"``.
    on
        The attributes that hold the position of a source; without them, UCDs or usual names decide.

    Raises
    ------
    RegionError
        If `what` is not a MOC, covers nothing, or has too many cells.
    FileError
        If the file cannot be read.
    ExpansionError
        If the file is too large, or claims more cells than it can hold.
    FilesMissingError
        If `what` is the digest of a MOC that no open archive holds.

    Examples
    --------
    >>> moc("3/0-4 5/80").text
    '2/0 3/4 5/80'
    """
    names = read_position_names(on)
    text = write_canonical_cells(what)
    if len(text) > INLINE:
        text = PREFIX + LIBRARY.remember(text)
    return Moc(text, names)


def read_moc_text(text: str) -> Moc:
    """Return the coverage map that a text in a query or a criterion describes: cells, JSON or a digest, never a file.

    Whoever may query an archive may not therefore open the files of the machine.

    Raises
    ------
    RegionError
        If the text does not describe a MOC, the MOC covers nothing, or it has too many cells.
    FilesMissingError
        If the text is the digest of a MOC that no open archive holds.

    Examples
    --------
    >>> read_moc_text("3/0-4 5/80").text
    '2/0 3/4 5/80'
    """
    if not (_MOC_TEXT.fullmatch(text) or text.lstrip().startswith("{") or text.startswith(PREFIX)):
        raise RegionError(f"{text[:40]!r} does not describe the cells of a MOC", hint=_TEXT_HINT)
    return moc(text)


def write_canonical_cells(what: Any) -> str:  # noqa: ANN401 - as above
    """Return the cells of a MOC in the IVOA's text format: the largest possible cells, sorted.

    `moc` describes the parameter and the exceptions.
    """
    if isinstance(what, str) and parse_digest(what):
        return _look_up_cells(what)
    ranges = _read_ranges(what)
    if not len(ranges):
        raise RegionError("the MOC covers nothing", hint=_HINT)
    text = _write_text(ranges)
    if len(text) > LONGEST:
        raise RegionError(
            f"the MOC takes {len(text):,} characters as text, more than {LONGEST:,}",
            hint="make its cells larger: mocpy.MOC.degrade_to_order(12)",
        )
    return text


def _read_ranges(what: Any) -> Ranges:  # noqa: ANN401 - as above
    """Return the ranges of cells of the last order of a MOC in any form that `moc` takes, but a digest."""
    if hasattr(what, "to_depth29_ranges"):
        return np.asarray(what.to_depth29_ranges, np.int64).reshape(-1, 2)
    if isinstance(what, str) and _MOC_TEXT.fullmatch(what):
        return _merge_parts(_parse_text(what))
    if isinstance(what, str) and what.lstrip().startswith("{"):
        return _merge_parts(_parse_json(what))
    if isinstance(what, str) and what.startswith(PREFIX):
        raise RegionError(
            f"{what!r} does not name a MOC", hint=f"{PREFIX} and the 64 digits of a digest name a large MOC"
        )
    if isinstance(what, str | Path):
        return _read_file(expand_home(what))
    raise RegionError(f"expected a MOC, got {what!r}", hint=_HINT)


def _look_up_cells(text: str) -> str:
    """Return the cells of a MOC in text format, for a text of cells or for a digest."""
    digest = parse_digest(text)
    if digest is None:
        return text
    cells = LIBRARY.find(digest)
    if cells is None:
        raise FilesMissingError(
            f"no open archive holds the MOC {PREFIX}{digest[:12]}…",
            hint="open the archive that has it, restore it from a backup, or read its file: provenn.sky.moc(file)",
        )
    return cells


@entrance("file of a MOC", "expansion", "length", "types")
def _read_file(path: Path) -> Ranges:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}", hint=_HINT) from None
    if len(content) > LARGEST_FILE:
        raise ExpansionError(
            f"{path} has more than {LARGEST_FILE // 2**20} MB, more than any MOC that can be used",
            hint="make its cells larger: mocpy.MOC.degrade_to_order(12)",
        )
    if content.startswith(b"SIMPLE"):
        _check_claims(content, path)
        from mocpy import MOC  # type: ignore[import-untyped]  # noqa: PLC0415 - brings astropy with it

        try:
            return np.asarray(MOC.load(str(path), format="fits").to_depth29_ranges, np.int64).reshape(-1, 2)
        except Exception as error:  # noqa: BLE001 - mocpy raises errors of any class
            raise FileError(f"{path} cannot be read as a MOC: {error}") from None
    text = content.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        return _merge_parts(_parse_json(text))
    if not _MOC_TEXT.fullmatch(text):
        raise RegionError(f"{path} is not a MOC", hint=_HINT)
    return _merge_parts(_parse_text(text))


def _check_claims(content: bytes, path: Path) -> None:
    """Refuse a FITS file with headers that claim more than the file holds: mocpy would exhaust the memory."""
    for axis, number in _CLAIMED_SIZE.findall(content):
        if not 0 <= int(number[:20]) <= len(content):
            raise ExpansionError(f"{path} claims {int(number[:20]):,} in NAXIS{axis.decode()}, more than it can hold")


def _parse_text(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the order, first cell and last cell of each part of a MOC in text format."""
    order = None
    for part in re.split(r"[\s,]+", text.strip()):
        before, slash, rest = part.rpartition("/")
        if slash:
            order = _parse_number(before, part)
        if rest:
            ends = [_parse_number(number, part) for number in rest.split("-")]
            if order is None or len(ends) > 2:
                raise RegionError(f"{part!r} has no meaning in a MOC", hint=_HINT)
            yield order, ends[0], ends[-1]


def _parse_json(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the order, first cell and last cell (the same) of each cell of a MOC in JSON."""
    try:
        content = json.loads(text)
        pairs = [(int(order), cell) for order, cells in content.items() for cell in cells]
    except (ValueError, TypeError, AttributeError):
        raise RegionError("this is not a MOC in JSON", hint='for example {"3": [1, 2], "5": [200]}') from None
    for order, cell in pairs:
        if not isinstance(cell, int):
            raise RegionError(f"{cell!r} is not the number of a cell", hint=_HINT)
        yield order, cell, cell


def _parse_number(text: str, part: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise RegionError(f"{part!r} has no meaning in a MOC", hint=_HINT)
    return int(text)


def _merge_parts(parts: Iterator[tuple[int, int, int]]) -> Ranges:
    """Return the ranges of cells of the last order that parts of a MOC cover, sorted and merged."""
    ranges = []
    for order, first, last in parts:
        if not 0 <= order <= DEEPEST or not 0 <= first <= last < 12 << (2 * order):
            raise RegionError(f"there are no cells {order}/{first}-{last}", hint=f"orders go from 0 to {DEEPEST}")
        shift = 2 * (DEEPEST - order)
        ranges.append((first << shift, (last + 1) << shift))
    return merge_ranges(np.array(ranges, np.int64).reshape(-1, 2))


def _write_text(ranges: Ranges) -> str:
    """Return ranges of cells of the last order in the IVOA's text format."""
    parts = []
    for order, numbers in split_into_cells(ranges).items():
        numbers.sort()
        breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
        runs = [
            (int(numbers[start]), int(numbers[end - 1])) for start, end in pairwise([0, *breaks.tolist(), len(numbers)])
        ]
        parts.append(f"{order}/" + " ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs))
    return " ".join(parts)


@lru_cache(maxsize=100)
def _compute_ranges(text: str) -> Ranges:
    return _merge_parts(_parse_text(_look_up_cells(text)))


@lru_cache(maxsize=100)
def _compute_cells(text: str) -> dict[int, Ranges]:
    return split_into_cells(_compute_ranges(text))


@lru_cache(maxsize=100)
def _compute_missing_cells(text: str) -> dict[int, Ranges]:
    ends = np.concatenate([[0], _compute_ranges(text).ravel(), [12 << (2 * DEEPEST)]]).reshape(-1, 2)
    return split_into_cells(ends[ends[:, 0] < ends[:, 1]])


@lru_cache(maxsize=100)
def _compute_cap(text: str) -> Cap:
    groups = [build_cells(order, numbers) for order, numbers in _compute_cells(text).items()]
    middle = sum(cells.centres.vectors.sum(axis=0) * cells.radius**2 for cells in groups)
    length = float(np.linalg.norm(middle))
    if length < 1e-6:
        return Cap(np.array([0.0, 0.0, 1.0]), 180)
    centre = np.asarray(middle) / length
    return Cap(
        centre,
        min(
            180.0,
            max(float(measure_separation(cells.centres.vectors, centre).max()) + cells.radius for cells in groups),
        ),
    )
