"""The sets that a match on the sky defines, and their labels.

Only the match decides whether a source or a pair is in one of these sets; the row does not. Known without matching:
sets of the same term are nested by radius.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from provenn.catalogs.extent import Extent
from provenn.criteria import Atom, AttributeIdentity, backquoted
from provenn.criteria.domains import encode_double
from provenn.logic.terms import term

__all__ = [
    "Coordinate",
    "Matches",
    "Side",
    "describe_match",
    "make_close_term",
    "make_match_atom",
    "make_near_term",
    "make_nearest_term",
    "make_pairs_term",
]

Matches = Literal["best", "all"]
"""The pairs to keep: for every source of the left catalog the nearest source of the right; or every pair."""

Side = Literal["left", "right"]
"""One of the two catalogs."""

Coordinate = tuple[AttributeIdentity, str]
"""The identity of an attribute, and its unit, a key of `provenn.sky.positions.DEGREES`."""


def make_match_atom(text: str, radius: float, *inside: str) -> Atom:
    """Return the atom of a set defined by a match.

    The radius cuts the term of the atom. The set lies inside the sets with the labels `inside`.
    """
    return Atom(f"{text} <= {radius!r}", text, encode_double(radius), tuple(map(term, inside)))


def make_pairs_term(extents: Sequence[str], coordinates: Iterable[Coordinate]) -> str:
    """Return the term of the sets of all pairs of two extents, given by their digests; the radius nests these sets."""
    return f"pairs({', '.join([*extents, *map(_format_coordinate, coordinates)])})"


def make_near_term(own: Sequence[Coordinate], extent: Extent, others: Sequence[Coordinate]) -> str:
    """Return the term of the sets of sources near an extent; the radius nests these sets."""
    return f"near({', '.join([extent.digest, *map(_format_coordinate, (*own, *others))])})"


def make_close_term(coordinates: Sequence[Coordinate]) -> str:
    """Return the term of the sets of all pairs of positions, whatever their sources; the radius nests these sets."""
    return f"close({', '.join(map(_format_coordinate, coordinates))})"


def make_nearest_term(coordinates: Sequence[Coordinate], right: Extent) -> str:
    """Return the term of the sets of all left sources with the nearest source of `right`; the radius nests them."""
    return f"nearest({', '.join([right.digest, *map(_format_coordinate, coordinates)])})"


def _format_coordinate(coordinate: Coordinate) -> str:
    identity, unit = coordinate
    return f"{backquoted(identity)} {unit}"


_MATCHED = re.compile(r"(near|paired|pairs|best pairs|close|nearest)\(.*\) <= ([0-9.e+-]+)", re.DOTALL)
_NEAR = re.compile(r"near(?:est)?\(([0-9a-f]{64}),")


def describe_match(label: str) -> tuple[str, str | None] | None:
    """Return a description of the set of a match, in words; None for any other label.

    Returns
    -------
    tuple or None
        The words, and the digest of the nearby extent, to be named after the words, if there is one.

    >>> describe_match("vmag < 6")
    """
    match_label = _MATCHED.fullmatch(label)
    if match_label is None:
        return None
    within = f"within {float(match_label[2]):g} arcsec"
    near = _NEAR.search(label)
    match match_label[1]:
        case "near":
            return f"{within} of", near and near[1]
        case "paired":
            side = "left" if label.startswith("paired(left,") else "right"
            return f"on the {side} of such a pair {within} of", near and near[1]
        case "best pairs":
            return f"best pairs {within}", None
        case "nearest":
            return f"nearest {within} in", near and near[1]
    return f"pairs {within}", None
