"""The pairs of cross-matches as sets made of the sets of both sides, so that matches of different catalogs compare.

A pair is two sources. So a set of sources of the left side is also a set of pairs: those whose left source is in it, a
preimage. Preimages commute with union, intersection and complement, and a pair has the attributes of its two sources:

- All pairs of two catalogs are the close pairs of positions whose left source is in the left catalog, and whose right
  source is in the right one. How close a pair is depends on the positions alone, and so on the attributes of the two.
- The best pairs are the nearest pairs, with a right catalog, of any left sources, whose left source is in the left
  catalog. Which right source is nearest depends on the left source and the right catalog, not on the left catalog. A
  nearest source of the right catalog that lies in a part of it is also the nearest in that part; the converse is false.
- The separation of a pair of a match is the very number that a match of any radius compares with its radius, as ``<=``;
  the tests before it, which are quicker, are wide enough to let all such pairs pass. So the pairs of a match up to a
  separation are the close pairs up to it. The nearest pair of a source, if it is close enough, is also its nearest
  within a smaller radius.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise, permutations

from provenn.catalogs.catalog import Pairing
from provenn.catalogs.extent import Extent
from provenn.catalogs.match_sets import (
    Side,
    describe_match,
    make_close_term,
    make_match_atom,
    make_nearest_term,
)
from provenn.catalogs.sample_sources import parse_sample_label
from provenn.criteria import Atom, AttributeIdentity, backquoted, order_facts
from provenn.criteria.domains import INFINITY, decode_number
from provenn.criteria.types import DOUBLE
from provenn.criteria.writing import identities_in, with_identities
from provenn.digests import CatalogDigest
from provenn.logic import Statement, disjoint, equal, subset
from provenn.logic.terms import Op, Term, chain, term

__all__ = ["PairSets", "lift_label", "relate_pairs", "split_lifted_label"]

SIDES: tuple[Side, Side] = ("left", "right")

_DEEPEST, _LONGEST = 20, 1000
"""The maximum depth and length of the extent of a side that is lifted in full."""

_MOST_PARTS = 1000
"""The maximum number of pairs of right catalogs of best matches that are compared."""

_LIFTED = re.compile(r"(left|right) in \((.*)\)", re.DOTALL)


def lift_label(side: Side, label: str) -> str:
    """Return the label of the pairs whose source on a side is in the set with a label."""
    return f"{side} in ({label})"


def split_lifted_label(label: str) -> tuple[str, str] | None:
    """Return the side and the label of the lifted set; None for any other label.

    >>> split_lifted_label(lift_label("left", "vmag < 6"))
    ('left', 'vmag < 6')
    """
    match = _LIFTED.fullmatch(label)
    return match and (match[1], match[2])


@dataclass(slots=True)
class PairSets:
    """What is known about pairs.

    Parameters
    ----------
    statements
        Statements about pairs, each with the digest of the match that defines them.
    order
        The statements that nest the sets of close and of nearest pairs by radius.
    lifted
        The criteria of each side whose sets are lifted, by label.
    """

    statements: list[tuple[CatalogDigest, Statement]] = field(default_factory=list)
    order: tuple[Statement, ...] = ()
    lifted: dict[Side, dict[str, Atom]] = field(default_factory=lambda: {"left": {}, "right": {}})


def relate_pairs(matches: Sequence[Pairing], atoms: Iterable[Atom]) -> PairSets:
    """Return what is known about the pairs of matches, and about criteria on their attributes.

    Parameters
    ----------
    matches
        The matches.
    atoms
        The atoms of all criteria, on pairs and on the sides.
    """
    by_label = {atom.label: atom for atom in atoms}
    result = PairSets()
    radii: dict[str, Atom] = {}
    for match in matches:
        for statement in _state_match(match, radii, result.lifted, by_label):
            result.statements.append((match.digest, statement))
    for match, atom in _find_pair_criteria(matches, by_label.values()):
        for statement in _state_criterion(match, atom, radii, result.lifted):
            result.statements.append((match.digest, statement))
    result.order = (
        *order_facts(radii.values()),
        *_nest_nearest(radii.values()),
        *_relate_parts(matches, radii.values()),
    )
    for side in SIDES:
        _add_surrounding(result.lifted[side], by_label)
    return result


def _state_match(
    match: Pairing, radii: dict[str, Atom], lifted: Mapping[Side, dict[str, Atom]], by_label: Mapping[str, Atom]
) -> Iterator[Statement]:
    """Yield what a match is, as a set of pairs."""
    left = _lift_extent("left", match.left.extent, lifted["left"], by_label)
    right = _lift_extent("right", match.right.extent, lifted["right"], by_label)
    close = _add_atom(radii, make_match_atom(make_close_term(match.coordinates), match.radius))
    if match.matches == "all":
        yield equal(match.digest, close & left & right)
        return
    text = make_nearest_term(match.coordinates, match.right.extent)
    nearest = _add_atom(radii, make_match_atom(text, match.radius, *close.labels))
    yield equal(match.digest, nearest & left)
    yield subset(nearest, right)


def _add_atom(atoms: dict[str, Atom], atom: Atom) -> Term:
    """Keep an atom, and return its set."""
    atoms[atom.label] = atom
    return term(atom.label)


def _lift_extent(side: Side, extent: Extent, lifted: dict[str, Atom], by_label: Mapping[str, Atom]) -> Term:
    """Return the pairs whose source on a side is in an extent; keep the criteria in it."""
    built = _build_term(extent, side, _DEEPEST)
    if built is None:
        return term(lift_label(side, extent.digest))
    lifted.update((label, by_label[label]) for label in extent.labels if label in by_label)
    return built


def _build_term(extent: Extent, side: Side, depth: int) -> Term | None:
    """Return a lifted extent as a term, or None if the term would be long or deep."""
    if extent.label is not None:
        leaf = term(lift_label(side, extent.label))
        return ~leaf if extent.complemented else leaf
    if not depth or not extent.parts:
        return None
    parts = [_build_term(~part if extent.complemented else part, side, depth - 1) for part in extent.parts]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or sum(len(part.postfix) for part in known) > _LONGEST:
        return None
    return chain(Op.OR if extent.complemented else Op.AND, tuple(known))


def _find_pair_criteria(matches: Sequence[Pairing], atoms: Iterable[Atom]) -> Iterator[tuple[Pairing, Atom]]:
    """Yield each match with each atom that reads attributes of its pairs alone."""
    by_identity: dict[AttributeIdentity, list[Pairing]] = {}
    for match in matches:
        for attribute in match.schema.attributes:
            by_identity.setdefault(attribute.identity, []).append(match)
    for atom in atoms:
        # The sets of matches and samples are no criteria on attributes, although their labels name some.
        is_criterion = describe_match(atom.label) is None and parse_sample_label(atom.label) is None
        identities = identities_in(atom.label) if is_criterion else ()
        if identities:
            readers = [by_identity.get(identity, ()) for identity in identities]
            yield from ((match, atom) for match in readers[0] if all(match in others for others in readers[1:]))


def _state_criterion(
    match: Pairing, atom: Atom, radii: dict[str, Atom], lifted: Mapping[Side, dict[str, Atom]]
) -> Iterator[Statement]:
    """Yield what a criterion on pairs says about their separation, or about the sources on one side."""
    pairs, criterion = term(match.digest), term(atom.label)
    if atom.term == backquoted(match.separation.identity) and isinstance(atom.cut, int):
        # The greatest number below the cut; the largest of all, NaN, is no separation.
        largest = float(decode_number(DOUBLE, min(atom.cut - 1, INFINITY[DOUBLE])))
        if largest < 0:
            yield disjoint(pairs, criterion)
        elif largest >= match.radius:
            yield subset(pairs, criterion)
        else:
            close = _add_atom(radii, make_match_atom(make_close_term(match.coordinates), largest))
            yield equal(pairs & criterion, pairs & close)
            if match.matches == "best":
                text = make_nearest_term(match.coordinates, match.right.extent)
                _add_atom(radii, make_match_atom(text, largest, *close.labels))
        return
    columns = set(identities_in(atom.label))
    for side in SIDES:
        names = {pair.identity: own.identity for pair, own in match.attributes_of(side)}
        if columns <= names.keys():
            own = _rename_columns(atom, names)
            lifted[side][own.label] = own
            yield equal(pairs & criterion, pairs & lift_label(side, own.label))


def _rename_columns(atom: Atom, names: Mapping[AttributeIdentity, AttributeIdentity]) -> Atom:
    """Return an atom on pairs as the atom on the attributes of a side: the same text with other attributes."""

    def rename(text: str) -> str:
        return with_identities(text, names)

    inside = tuple(part.relabelled(rename) for part in atom.inside)
    return Atom(rename(atom.label), rename(atom.term), atom.cut, inside)


def _nest_nearest(atoms: Iterable[Atom]) -> Iterator[Statement]:
    """Yield that nearest pairs are close, and that nearest pairs within a smaller radius stay the nearest."""
    by_term: dict[str, list[Atom]] = {}
    for atom in atoms:
        if atom.inside:
            yield subset(atom.label, atom.inside[0])
            by_term.setdefault(atom.term, []).append(atom)
    for nested in by_term.values():
        nested.sort(key=lambda atom: atom.cut)  # type: ignore[arg-type, return-value] # numbers alone
        for smaller, larger in pairwise(nested):
            yield subset(term(larger.label) & smaller.inside[0], smaller.label)


def _relate_parts(matches: Iterable[Pairing], atoms: Iterable[Atom]) -> Iterator[Statement]:
    """Yield that the nearest source of a catalog, if it is in a part of the catalog, is the nearest of the part.

    A part is recognised by the form of the extents.
    """
    best = {
        make_nearest_term(match.coordinates, match.right.extent): match for match in matches if match.matches == "best"
    }
    by_term: dict[str, list[Atom]] = {text: [] for text in best}
    for atom in sorted(atoms, key=lambda atom: atom.cut):  # type: ignore[arg-type, return-value] # as above
        if atom.term in by_term:
            by_term[atom.term].append(atom)
    for (text, match), (part_text, part) in islice(permutations(best.items(), 2), _MOST_PARTS):
        inner, outer = part.right.extent, match.right.extent
        lifted = _build_term(inner, "right", _DEEPEST)
        if part.coordinates != match.coordinates or lifted is None or inner & outer != inner:
            continue
        for atom in by_term[text]:
            larger = next((other for other in by_term[part_text] if other.cut >= atom.cut), None)  # type: ignore[operator] # as above
            if larger is not None:
                yield subset(term(atom.label) & lifted, larger.label)


def _add_surrounding(lifted: dict[str, Atom], by_label: Mapping[str, Atom]) -> None:
    """Add the atoms that hold the lifted atoms: where their terms are not NULL."""
    pending = list(lifted.values())
    while pending:
        atom = pending.pop()
        for label in (label for part in atom.inside for label in part.labels):
            if label in by_label and label not in lifted:
                lifted[label] = by_label[label]
                pending.append(by_label[label])
