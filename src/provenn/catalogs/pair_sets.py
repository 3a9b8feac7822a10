"""The pairs of cross-matches as sets made of the sets of both sides, so that matches of different catalogs compare.

A pair is two sources. So a set of sources of the left side is also a set of pairs: those whose left source is in it, a
preimage. Preimages commute with union, intersection and complement, and a pair has the attributes of its two sources:

- All pairs of two catalogs are the close pairs of positions whose left source is in the left catalog, and whose right
  source is in the right one. How close a pair is depends on the positions alone, and so on the attributes of the two.
- The best pairs are the nearest pairs, with a right catalog, of any left sources, whose left source is in the left
  catalog. Which right source is nearest depends on the left source and the right catalog, not on the left catalog. A
  nearest source of the right catalog that lies in a part of it is also the nearest in that part; the converse is false.
- The same holds for the k nearest sources: among fewer candidates, a pair has the same rank or a smaller one. So the k
  nearest are among the k' nearest for k <= k'.
- The mutual pairs are the nearest pairs with a right catalog that are also the nearest pairs with a left catalog.
- The separation of a pair of a match is the very number that a match of any radius compares with its radius, as ``<=``;
  the tests before it, which are quicker, are wide enough to let all such pairs pass. So the pairs of a match up to a
  separation are the close pairs up to it. The nearest pair of a source, if it is close enough, is also its nearest
  within a smaller radius.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise, permutations
from math import nextafter

from provenn.catalogs.catalog import Pairing
from provenn.catalogs.extent import Extent
from provenn.catalogs.match_sets import (
    SIDES,
    Side,
    make_close_term,
    make_match_atom,
    make_nearest_term,
)
from provenn.catalogs.set_labels import is_criterion
from provenn.criteria import Atom, AttributeIdentity, backquoted, order_facts
from provenn.criteria.domains import INFINITY, decode_number
from provenn.criteria.types import DOUBLE
from provenn.criteria.writing import identities_in, with_identities
from provenn.digests import CatalogDigest
from provenn.logic import Statement, disjoint, equal, subset
from provenn.logic.terms import Op, Term, chain, term

__all__ = ["PairSets", "lift_label", "relate_pairs", "split_lifted_label"]

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
    close = _add_close(match, match.radius, radii)
    if match.matches == "all":
        yield equal(match.digest, close & left & right)
        return
    lifts = {"left": left, "right": right}
    kept = {"left": left}
    for nearest in _list_nearest(match):
        kept[nearest.side] = _add_atom(radii, make_match_atom(nearest.text, match.radius, close))
        yield subset(kept[nearest.side], lifts[nearest.side])
    yield equal(match.digest, kept["left"] & kept["right"])


@dataclass(frozen=True, slots=True)
class _Nearest:
    """The nearest pairs with a side of a match.

    Parameters
    ----------
    match
        The match.
    side
        The side whose sources are the nearest to those on the other side.
    """

    match: Pairing
    side: Side

    @property
    def extent(self) -> Extent:
        """The sources among which the nearest ones are."""
        return self.match.get_side(self.side).extent

    @property
    def most(self) -> int:
        """How many sources count as the nearest."""
        return self.match.rule.most or 1

    @property
    def text(self) -> str:
        """The term of these sets."""
        return make_nearest_term(
            self.match.places_of(), self.extent, self.side, self.most, self.match.rule.list_limits()
        )

    def includes_part(self, whole: _Nearest) -> bool:
        """Return whether a pair of `whole` that is a candidate here is also a pair of this set.

        It is if the candidates here are among those there, because then its rank here is not larger. Whether the
        extent is a part of the other is recognised by the form of the extents.
        """
        return (
            self._is_comparable(whole)
            and whole.match.rule.has_candidates_of(self.match.rule)
            and self.extent & whole.extent == self.extent
        )

    def includes_circles(self, circles: _Nearest) -> bool:
        """Return whether this set has all pairs of `circles`, which only looks within the radius of each left source.

        Nearer candidates of a left source lie within its radius, too: so a pair has the same rank here.
        """
        rule, own = circles.match.rule, self.match.rule
        return (
            self.side == "right"
            and self._is_comparable(circles)
            and (own.radius_column, own.min_radius) == (None, rule.min_radius)
            and self.extent == circles.extent
        )

    def _is_comparable(self, other: _Nearest) -> bool:
        return self.side == other.side and self.most >= other.most and self.match.places_of() == other.match.places_of()


def _list_nearest(match: Pairing) -> list[_Nearest]:
    """Return the sets of nearest pairs that define the pairs of a match; all pairs need none."""
    if match.rule.most is None:
        return []
    return [_Nearest(match, side) for side in (("right", "left") if match.rule.is_mutual else ("right",))]


def _add_atom(atoms: dict[str, Atom], atom: Atom) -> Term:
    """Keep an atom, and return its set."""
    atoms[atom.label] = atom
    return term(atom.label)


def _add_close(match: Pairing, radius: float, atoms: dict[str, Atom]) -> Term:
    """Return the set of the candidates of a match within a radius, whatever their sources; keep its atoms.

    A candidate is a close pair, within the radius of the left source, and no close pair below the smallest radius.
    """
    rule, plain = match.rule, make_close_term(match.places_of())
    close = _add_atom(atoms, make_match_atom(plain, radius))
    if rule.radius_column is not None:
        text = make_close_term(match.places_of(), replace(rule, min_radius=0.0).list_limits())
        close = _add_atom(atoms, make_match_atom(text, radius, close))
    if rule.min_radius:
        close &= ~_add_atom(atoms, make_match_atom(plain, nextafter(rule.min_radius, 0)))
    return close


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
        identities = identities_in(atom.label) if is_criterion(atom.label) else ()
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
        if largest < match.rule.min_radius or largest < 0:
            yield disjoint(pairs, criterion)
        elif largest >= match.radius:
            yield subset(pairs, criterion)
        else:
            close = _add_atom(radii, make_match_atom(make_close_term(match.places_of()), largest))
            yield equal(pairs & criterion, pairs & close)
            candidates = _add_close(match, largest, radii)
            for nearest in _list_nearest(match):
                _add_atom(radii, make_match_atom(nearest.text, largest, candidates))
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
    """Yield that nearest pairs with a catalog are nearest pairs with a part of the catalog, if they are in the part."""
    by_text = {nearest.text: nearest for match in matches for nearest in _list_nearest(match)}
    by_term: dict[str, list[Atom]] = {text: [] for text in by_text}
    for atom in sorted(atoms, key=lambda atom: atom.cut):  # type: ignore[arg-type, return-value] # as above
        if atom.term in by_term:
            by_term[atom.term].append(atom)
    for whole, part in islice(permutations(by_text.values(), 2), _MOST_PARTS):
        includes_all = part.includes_circles(whole)
        if not includes_all and not part.includes_part(whole):
            continue
        lifted = _build_term(part.extent, part.side, _DEEPEST)
        if lifted is None and part.extent != whole.extent:
            continue
        for atom in by_term[whole.text]:
            larger = next((other for other in by_term[part.text] if other.cut >= atom.cut), None)  # type: ignore[operator] # as above
            if larger is not None:
                pairs = term(atom.label)
                if not includes_all:
                    pairs = pairs & larger.inside[0] if lifted is None else pairs & lifted & larger.inside[0]
                yield subset(pairs, larger.label)


def _add_surrounding(lifted: dict[str, Atom], by_label: Mapping[str, Atom]) -> None:
    """Add the atoms that hold the lifted atoms: where their terms are not NULL."""
    pending = list(lifted.values())
    while pending:
        atom = pending.pop()
        for label in (label for part in atom.inside for label in part.labels):
            if label in by_label and label not in lifted:
                lifted[label] = by_label[label]
                pending.append(by_label[label])
