"""The sets that a match on the sky defines, and their labels.

Only the match decides whether a source or a pair is in one of these sets; the row does not. Known without matching:
sets of the same term are nested by radius.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from provenn.catalogs.extent import Extent
from provenn.catalogs.match_rule import Coordinate, Matches
from provenn.catalogs.placements import Placement
from provenn.criteria import Atom, backquoted
from provenn.criteria.domains import encode_double
from provenn.logic.terms import Term, term

__all__ = [
    "SIDES",
    "Side",
    "describe_match",
    "make_close_term",
    "make_kept_term",
    "make_match_atom",
    "make_near_term",
    "make_nearest_term",
    "make_pairs_term",
    "write_place",
]

Side = Literal["left", "right"]
"""One of the two catalogs."""

SIDES: tuple[Side, Side] = ("left", "right")
"""Both catalogs, in order."""


def make_match_atom(text: str, radius: float, *inside: str | Term) -> Atom:
    """Return the atom of a set defined by a match.

    The radius cuts the term of the atom. The set lies inside the sets `inside`, which are labels or terms.
    """
    around = tuple(term(part) if isinstance(part, str) else part for part in inside)
    return Atom(f"{text} <= {radius!r}", text, encode_double(radius), around)


def make_pairs_term(extents: Sequence[str], places: Sequence[str], limits: Sequence[str] = ()) -> str:
    """Return the term of the sets of all pairs of two extents, given by their digests; the radius nests these sets.

    `places` are the positions of both sides, as `write_place` writes them, and `limits` the further limits of the
    separation, as `MatchRule.list_limits` writes them; here and below.
    """
    return f"pairs({', '.join([*extents, *places, *limits])})"


def make_kept_term(pairs: str, matches: Matches) -> str:
    """Return the term of the sets of the pairs that a match keeps, given the term of all pairs."""
    match matches:
        case "all":
            return pairs
        case "best" | "mutual":
            return f"{matches} {pairs}"
        case number:
            return f"best {number} {pairs}"


def make_near_term(own: Sequence[str], extent: Extent, others: Sequence[str], limits: Sequence[str] = ()) -> str:
    """Return the term of the sets of sources near an extent; the radius nests these sets."""
    return f"near({', '.join([extent.digest, *own, *others, *limits])})"


def make_close_term(places: Sequence[str], limits: Sequence[str] = ()) -> str:
    """Return the term of the sets of all pairs of positions, whatever their sources; the radius nests these sets."""
    return f"close({', '.join([*places, *limits])})"


def make_nearest_term(
    places: Sequence[str], extent: Extent, side: Side = "right", most: int = 1, limits: Sequence[str] = ()
) -> str:
    """Return the term of the sets of all pairs whose source on a side is among the nearest of an extent.

    The radius nests these sets.

    Parameters
    ----------
    places
        The positions of both sides.
    extent
        The sources among which the nearest ones are searched, on `side`.
    side
        The side of these sources: they are the nearest to the source on the other side, whatever its catalog.
    most
        How many sources count as the nearest.
    limits
        The further limits of the separation.
    """
    word = "nearest" + (" left" if side == "left" else "") + (f" {most}" if most > 1 else "")
    return f"{word}({', '.join([extent.digest, *places, *limits])})"


def write_place(coordinates: Iterable[Coordinate], placement: Placement) -> list[str]:
    """Return the texts of the positions of a side, as parts of terms."""
    return [*(f"{backquoted(identity)} {unit}" for identity, unit in coordinates), *placement.list_texts()]


_QUOTED = re.compile(r"`(?:[^`]|``)*`")
_SMALLEST, _OWN = re.compile(r", from ([0-9.e+-]+)[,)]"), re.compile(r", within (own |other )?")
_EPOCH, _FRAME = re.compile(r"moved by [^()]*? to ([0-9.]+)[,)]"), re.compile(r", frame (\w+)")


def _describe_limits(label: str, radius: float) -> str:
    """Return how close the sources of a set are, in words."""
    text = _QUOTED.sub("", label)
    smallest, own, epoch = (pattern.search(text) for pattern in (_SMALLEST, _OWN, _EPOCH))
    largest = f"{radius:g} arcsec"
    if own is not None:
        largest = f"{'its own' if own[1] == 'own ' else 'the left'} radius, at most {largest},"
    words = f"within {largest}" if smallest is None else f"from {float(smallest[1]):g} arcsec to {largest}"
    frames = " and ".join(dict.fromkeys(_FRAME.findall(text)))
    return words + (f" in {float(epoch[1]):g}" if epoch else "") + (f", turned from {frames}," if frames else "")


_MATCHED = re.compile(
    r"(near|paired|(?:best |best (\d+) |mutual )?pairs|close|nearest( left)?(?: (\d+))?)\(.*\) <= ([0-9.e+-]+)",
    re.DOTALL,
)
_NEAR = re.compile(r"near(?:est)?(?: left)?(?: \d+)?\(([0-9a-f]{64}),")


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
    word, number, is_left, most, radius = match_label.groups()
    within = _describe_limits(label, float(radius))
    near = _NEAR.search(label)
    if word.startswith("nearest"):
        ranked = ("left " if is_left else "") + (f"among the {most} nearest" if most else "nearest")
        return f"{ranked} {within} in", near and near[1]
    match word:
        case "near":
            return f"{within} of", near and near[1]
        case "paired":
            side = "left" if label.startswith("paired(left,") else "right"
            return f"on the {side} of such a pair {within} of", near and near[1]
    kind = f"{number} best " if number else word.removesuffix("pairs") if word != "close" else ""
    return f"{kind}pairs {within}", None
