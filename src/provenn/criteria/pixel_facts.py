"""Facts about a set of sources with positions in pixels of HEALPix: regions far from the pixels have no source.

The program that divided the sources into pixels rounds in a particular way, so a position at the edge of a pixel may be
beyond the edge for another program. A region counts as away from a pixel only with the margin of `provenn.sky`: a
region that touches a pixel, or nearly does, is assumed to share sources with it. A source without a position is in no
region.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from provenn.criteria.atoms import Atom
from provenn.errors import FilesMissingError, RegionError
from provenn.logic import Statement, disjoint
from provenn.sky import Moc, is_far, moc, read_call

__all__ = ["state_pixels"]


def state_pixels(label: str, position: str, pixels: str, atoms: Iterable[Atom]) -> Iterator[Statement]:
    """Yield the facts that a set of sources is disjoint from regions.

    Parameters
    ----------
    label
        The label of the set.
    position
        The canonical text of right ascension and declination, in degrees, as `provenn.sky.read_call` returns it.
    pixels
        The pixels that hold the positions of all sources with a position, as ``order/number`` in a text.
    atoms
        The atoms of conditions; those of other positions, and those that are no regions, say nothing.
    """
    coverage: Moc | None = None
    for atom in atoms:
        if atom.cut is None or atom.label != atom.term or position not in atom.term:
            continue
        try:
            position_and_region = read_call(atom.term)
            coverage = coverage or moc(pixels)
        except (FilesMissingError, RegionError):
            continue
        if position_and_region and position_and_region[0] == position and is_far(coverage, position_and_region[1]):
            yield disjoint(label, atom.label)
