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

from provenn.errors import FileError, FilesMissingError, RegionError
from provenn.sky.angles import position_names
from provenn.sky.cells import DEEPEST, Cells, cells_at, cells_in, merged
from provenn.sky.moc_library import LIBRARY, PREFIX, digest_in
from provenn.sky.points import Cap, separation
from provenn.sky.region import INSIDE, OUTSIDE, Sides

__all__ = ["INLINE", "LONGEST", "Moc", "canonical_cells", "moc"]

INLINE = 100_000
"""How many characters the cells have at most that are written into criteria; longer ones are named by digest."""
LONGEST = 10_000_000
"""How many characters the cells of any MOC have at most: about a million cells."""
_TEXT = re.compile(r"[\d\s,/-]*")
_HINT = "a MOC is a file, a mocpy.MOC, or a text as '3/1-4 5/200'"

Ranges = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Moc:
    """The positions in some cells of HEALPix. Made by `moc`.

    Parameters
    ----------
    text
        The cells in the IVOA's text format: the largest that make up the coverage, sorted. If that is longer than
        `INLINE`, the digest of it: ``moc:…``.
    on
        The attributes that hold the position of a source; None if they are to be found.
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
        """The cells in the IVOA's text format, also of a MOC that is named by digest."""
        return _cells_text(self.text)

    @property
    def ranges(self) -> Ranges:
        """The cells of the last order that it covers: the first, and one past the last, of each range."""
        return _ranges(self.text)

    @property
    def cells(self) -> dict[int, Ranges]:
        """The numbers of its cells, by order."""
        return _cells(self.text)

    @property
    def missing_cells(self) -> dict[int, Ranges]:
        """The numbers of the cells that make up the rest of the sky, by order."""
        return _missing_cells(self.text)

    @property
    def cap(self) -> Cap:
        """A cap about the middle of its cells."""
        return _cap(self.text)

    def sides(self, cells: Cells) -> Sides:
        """Return which cells it covers, and which it does not touch."""
        size = 1 << (2 * (DEEPEST - cells.order))
        first = cells.numbers() * size
        return self.sides_of(first, first + size)

    def sides_of(self, first: Ranges, end: Ranges) -> Sides:
        """Return the same of ranges of cells of the last order."""
        ranges = self.ranges
        found = np.searchsorted(ranges[:, 1], first, side="right")  # the first that ends behind the beginning
        near = ranges[np.minimum(found, len(ranges) - 1)]
        beyond = found == len(ranges)
        outside = beyond | (near[:, 0] >= end)
        inside = ~beyond & (near[:, 0] <= first) & (near[:, 1] >= end)
        return np.where(outside, OUTSIDE, np.where(inside, INSIDE, 0)).astype(np.int8)


def moc(what: Any, on: Sequence[str] | None = None) -> Moc:  # noqa: ANN401 - many things are a MOC
    """Return a coverage map as a region.

    Parameters
    ----------
    what
        A MOC of mocpy; a file in FITS, JSON or text format; such a text: ``"3/1-4 5/200"``; or the digest of a large
        MOC that an open archive holds: ``"moc:…"``.
    on
        The attributes that hold the position of a source; found by UCD or by name if they are not given.

    Raises
    ------
    RegionError
        If it is no MOC, covers nothing, or has too many cells.
    FileError
        If the file cannot be read.
    FilesMissingError
        If it is the digest of a MOC that no open archive holds.

    Examples
    --------
    >>> moc("3/0-4 5/80").text
    '2/0 3/4 5/80'
    """
    names = position_names(on)
    text = canonical_cells(what)
    if len(text) > INLINE:
        text = PREFIX + LIBRARY.remember(text)
    return Moc(text, names)


def canonical_cells(what: Any) -> str:  # noqa: ANN401 - as above
    """Return the cells of a MOC in the IVOA's text format, the largest that make it up, sorted.

    The parameters and exceptions are those of `moc`.
    """
    if isinstance(what, str) and digest_in(what):
        return _cells_text(what)
    ranges = _any_ranges(what)
    if not len(ranges):
        raise RegionError("the MOC covers nothing", hint=_HINT)
    text = _written(ranges)
    if len(text) > LONGEST:
        raise RegionError(
            f"the MOC takes {len(text):,} characters as text, more than {LONGEST:,}",
            hint="make its cells larger: mocpy.MOC.degrade_to_order(12)",
        )
    return text


def _any_ranges(what: Any) -> Ranges:  # noqa: ANN401 - as above
    if hasattr(what, "to_depth29_ranges"):
        return np.asarray(what.to_depth29_ranges, np.int64).reshape(-1, 2)
    if isinstance(what, str) and _TEXT.fullmatch(what):
        return _read(_texts(what))
    if isinstance(what, str) and what.lstrip().startswith("{"):
        return _read(_json(what))
    if isinstance(what, str) and what.startswith(PREFIX):
        raise RegionError(f"{what!r} names no MOC", hint=f"{PREFIX} and the 64 digits of a digest name a large MOC")
    if isinstance(what, str | Path):
        return _read_file(Path(what))
    raise RegionError(f"{what!r} is no MOC", hint=_HINT)


def _cells_text(text: str) -> str:
    """Return the cells that a text is, or names by digest."""
    digest = digest_in(text)
    if digest is None:
        return text
    cells = LIBRARY.find(digest)
    if cells is None:
        raise FilesMissingError(
            f"no open archive holds the MOC {PREFIX}{digest[:12]}…",
            hint="open the archive that has it, bring it back from a backup, or read its file: provenn.sky.moc(file)",
        )
    return cells


def _read_file(path: Path) -> Ranges:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}", hint=_HINT) from None
    if content.startswith(b"SIMPLE"):
        from mocpy import MOC  # type: ignore[import-untyped]  # noqa: PLC0415 - brings astropy with it

        try:
            return np.asarray(MOC.load(str(path), format="fits").to_depth29_ranges, np.int64).reshape(-1, 2)
        except Exception as error:  # noqa: BLE001 - it raises what it likes
            raise FileError(f"{path} is no MOC that can be read: {error}") from None
    text = content.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        return _read(_json(text))
    if not _TEXT.fullmatch(text):
        raise RegionError(f"{path} is no MOC", hint=_HINT)
    return _read(_texts(text))


def _texts(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield order, first and last cell of each part of a MOC as text."""
    order = None
    for part in re.split(r"[\s,]+", text.strip()):
        before, slash, rest = part.rpartition("/")
        if slash:
            order = _number(before, part)
        if rest:
            ends = [_number(one, part) for one in rest.split("-")]
            if order is None or len(ends) > 2:
                raise RegionError(f"{part!r} has no meaning in a MOC", hint=_HINT)
            yield order, ends[0], ends[-1]


def _json(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield order, first and last cell of each cell of a MOC in JSON."""
    try:
        content = json.loads(text)
        pairs = [(int(order), cell) for order, cells in content.items() for cell in cells]
    except (ValueError, TypeError, AttributeError):
        raise RegionError("this is no MOC in JSON", hint='it is as {"3": [1, 2], "5": [200]}') from None
    for order, cell in pairs:
        if not isinstance(cell, int):
            raise RegionError(f"{cell!r} is not the number of a cell", hint=_HINT)
        yield order, cell, cell


def _number(text: str, part: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise RegionError(f"{part!r} has no meaning in a MOC", hint=_HINT)
    return int(text)


def _read(parts: Iterator[tuple[int, int, int]]) -> Ranges:
    """Return the ranges of cells of the last order, sorted and merged."""
    found = []
    for order, first, last in parts:
        if not 0 <= order <= DEEPEST or not 0 <= first <= last < 12 << (2 * order):
            raise RegionError(f"there are no cells {order}/{first}-{last}", hint=f"orders go from 0 to {DEEPEST}")
        shift = 2 * (DEEPEST - order)
        found.append((first << shift, (last + 1) << shift))
    return merged(np.array(found, np.int64).reshape(-1, 2))


def _written(ranges: Ranges) -> str:
    parts = []
    for order, numbers in cells_in(ranges).items():
        numbers.sort()
        breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
        runs = [(int(numbers[a]), int(numbers[b - 1])) for a, b in pairwise([0, *breaks.tolist(), len(numbers)])]
        parts.append(f"{order}/" + " ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs))
    return " ".join(parts)


@lru_cache(maxsize=100)
def _ranges(text: str) -> Ranges:
    return _read(_texts(_cells_text(text)))


@lru_cache(maxsize=100)
def _cells(text: str) -> dict[int, Ranges]:
    return cells_in(_ranges(text))


@lru_cache(maxsize=100)
def _missing_cells(text: str) -> dict[int, Ranges]:
    ends = np.concatenate([[0], _ranges(text).ravel(), [12 << (2 * DEEPEST)]]).reshape(-1, 2)
    return cells_in(ends[ends[:, 0] < ends[:, 1]])


@lru_cache(maxsize=100)
def _cap(text: str) -> Cap:
    found = [cells_at(order, numbers) for order, numbers in _cells(text).items()]
    middle = sum(one.centres.vectors.sum(axis=0) * one.radius**2 for one in found)
    length = float(np.linalg.norm(middle))
    if length < 1e-6:
        return Cap(np.array([0.0, 0.0, 1.0]), 180)
    centre = np.asarray(middle) / length
    return Cap(
        centre, min(180.0, max(float(separation(one.centres.vectors, centre).max()) + one.radius for one in found))
    )
