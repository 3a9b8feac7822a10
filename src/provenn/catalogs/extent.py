"""The set of sources of a catalog, as a set expression over base sets and atoms, in canonical form.

An extent is a leaf, an intersection of extents, or a complement of either; a union is the complement of an intersection
of complements. Construction keeps the form canonical. The digest is computed from the digests of the parts, so sets
equal by construction have the same digest in every process. `Knowledge` recognises all other equal sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar

from provenn.digests import content_digest
from provenn.logic.terms import BooleanAlgebra, Op, Term, chain, check_label
from provenn.logic.terms import nothing as no_object

__all__ = ["Extent", "build_extent", "everything", "intersection", "leaf", "nothing", "union"]

B = TypeVar("B", bound=BooleanAlgebra)

_MOST_PAIRED = 100
"""The longest list of operands that is joined pair by pair."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Extent:
    """A set of sources. Made by `leaf`, `everything`, `nothing` and ``& | - ^ ~``; equal if the digests are.

    Parameters
    ----------
    label
        The label of a leaf: the digest of a base, or the label of an atom. None for an intersection.
    parts
        The parts of an intersection, by digest.
    complemented
        Whether the extent is the complement of this leaf or intersection.
    digest
        The hash of its canonical form, in 64 hexadecimal digits.
    opposite
        The digest of its complement.

    Examples
    --------
    >>> stars, bright, near = leaf("stars"), leaf("vmag < 6"), leaf("plx > 100")
    >>> stars & bright & near == (stars & near) & (bright & stars)
    True
    >>> stars - (stars & bright) == stars - bright
    True
    """

    label: str | None
    parts: tuple[Extent, ...]
    complemented: bool
    digest: str
    opposite: str

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the leaves, sorted."""
        seen: set[str] = set()
        labels: set[str] = set()
        stack = [self]
        while stack:
            extent = stack.pop()
            if extent.label is not None:
                labels.add(extent.label)
            for part in extent.parts:
                if part.digest not in seen and part.opposite not in seen:
                    seen.add(part.digest)
                    stack.append(part)
        return tuple(sorted(labels))

    def evaluate(self, value: Callable[[str], B], everything: B) -> B:
        """Return the value of the extent in a Boolean algebra, from the values of the leaves."""
        known: dict[str, B] = {}
        stack = [self]
        while stack:
            extent = stack[-1]
            missing = [part for part in extent.parts if part.digest not in known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if extent.digest in known:
                continue
            result = everything if extent.label is None else value(extent.label)
            for part in extent.parts:
                result = result & known[part.digest]
            known[extent.digest] = everything ^ result if extent.complemented else result
        return known[self.digest]

    def to_term(self, longest: int = 10_000) -> Term | None:
        """Return the extent as a term over the labels of its leaves; None if the term would be too long."""
        terms: dict[str, Term] = {}
        stack = [self]
        while stack:
            extent = stack[-1]
            missing = [part for part in extent.parts if part.digest not in terms]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            operands = tuple(terms[part.digest] for part in extent.parts)
            if sum(len(operand.postfix) for operand in operands) > longest:
                return None
            positive = Term((extent.label,)) if extent.label is not None else chain(Op.AND, operands or (~no_object,))
            terms[extent.digest] = ~positive if extent.complemented else positive
        return terms[self.digest]

    def __and__(self, other: Extent) -> Extent:
        return intersection([self, other])

    def __or__(self, other: Extent) -> Extent:
        return union([self, other])

    def __sub__(self, other: Extent) -> Extent:
        return intersection([self, ~other])

    def __xor__(self, other: Extent) -> Extent:
        # Complements go outwards first, so that a ^ ~b and ~(a ^ b) have one form.
        odd = self.complemented != other.complemented
        left, right = (~side if side.complemented else side for side in (self, other))
        result = (left - right) | (right - left)
        return ~result if odd else result

    def __invert__(self) -> Extent:
        return Extent(self.label, self.parts, not self.complemented, self.opposite, self.digest)

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Extent) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<Extent {self.digest[:12]}>"


def _make_extent(content: dict[str, str], label: str | None, parts: tuple[Extent, ...]) -> Extent:
    """Return an extent without complement, with its digest and the digest of its complement."""
    digest = content_digest("extent", content)
    return Extent(label, parts, False, digest, content_digest("extent", {"complement": digest}))


def leaf(label: str) -> Extent:
    """Return the set with a label."""
    return _make_extent({"set": check_label(label)}, label, ())


everything = _make_extent({"intersection": ""}, None, ())
"""All objects."""

nothing = ~everything
"""No object."""


def union(extents: Iterable[Extent]) -> Extent:
    """Return the union of the sets."""
    return ~intersection(~extent for extent in extents)


def intersection(extents: Iterable[Extent]) -> Extent:
    """Return the intersection of the sets.

    Nested intersections are flattened. Nested unions are shortened where a single comparison suffices: ``A & (A | B)``
    is ``A``, ``A & (~A | B)`` is ``A & B``, and ``(A | B) & (A | B | C)`` is ``A | B``.
    """
    pending = sorted(extents, key=lambda extent: len(extent.parts))
    # The longest intersection is canonical already, so no two of its parts shorten each other.
    parts = {part.digest: part for part in pending.pop().parts} if pending and _is_intersection(pending[-1]) else {}
    while pending:
        for extent in _flatten(pending):
            if extent.opposite in parts or extent.opposite == everything.digest:
                return nothing
            parts[extent.digest] = extent
        dropped, pending = _shorten_unions(parts)
        for digest in dropped:
            del parts[digest]
    digests = sorted(parts)
    if len(digests) == 1:
        return parts[digests[0]]
    return _make_extent({"intersection": " ".join(digests)}, None, tuple(map(parts.__getitem__, digests)))


def build_extent(term: Term, value: Callable[[str], Extent]) -> Extent:
    """Return a term as an extent, from the extents of its labels.

    Long lists of operands are joined at once. Pair by pair, each step would copy all operands joined before, and a list
    of n values would take n * n steps.
    """
    stack: list[tuple[Op, list[Extent]]] = []  # operators, with operands that are not joined yet
    for token in term.postfix:
        if isinstance(token, str):
            stack.append((Op.AND, [value(token)]))
        elif token is Op.EMPTY:
            stack.append((Op.AND, [nothing]))
        elif token is Op.NOT:
            stack.append((Op.AND, [~_join_extents(*stack.pop())]))
        else:
            right, left = stack.pop(), stack.pop()
            if token is Op.XOR:
                stack.append((Op.AND, [_join_extents(*left) ^ _join_extents(*right)]))
                continue
            operator = Op.OR if token is Op.OR else Op.AND
            last = _join_extents(*right)
            operands = left[1] if left[0] is operator else [_join_extents(*left)]
            operands.append(~last if token is Op.MINUS else last)
            stack.append((operator, operands))
    return _join_extents(*stack[0])


def _join_extents(operator: Op, extents: list[Extent]) -> Extent:
    """Return the union or intersection of extents."""
    if len(extents) > _MOST_PAIRED:
        return union(extents) if operator is Op.OR else intersection(extents)
    # Joining nested unions at once can give another canonical form: existing digests must not change.
    return reduce(Extent.__or__ if operator is Op.OR else Extent.__and__, extents)


def _flatten(extents: list[Extent]) -> Iterable[Extent]:
    """Yield the extents, with the parts of intersections in place of the intersections."""
    for extent in extents:
        if _is_intersection(extent):
            yield from extent.parts
        else:
            yield extent


def _shorten_unions(parts_by_digest: dict[str, Extent]) -> tuple[list[str], list[Extent]]:
    """Return the digests of unions to drop from an intersection, and shorter unions to add in their place.

    Each union is compared with sets inside the union's own expression, or with a union of fewer members. So no two
    unions depend on each other.
    """
    unions = [extent for extent in parts_by_digest.values() if extent.label is None]
    by_rarest = _index_unions(unions) if len(unions) > 1 else {}
    dropped, shorter = [], []
    for extent in unions:
        # The union is the complement of the intersection of its parts: its members are their complements.
        parts = {part.digest for part in extent.parts}
        larger = bool(by_rarest) and any(
            len(smaller.parts) < len(parts) and parts.issuperset(part.digest for part in smaller.parts)
            for rarest in parts
            for smaller in by_rarest.get(rarest, ())
        )
        if larger or any(_covers_opposite(part, parts_by_digest) for part in extent.parts):
            dropped.append(extent.digest)
            continue
        rest = [part for part in extent.parts if not _avoids_opposite(part, parts_by_digest)]
        if len(rest) < len(parts):
            dropped.append(extent.digest)
            shorter.append(~intersection(rest))
    return dropped, shorter


def _index_unions(unions: Iterable[Extent]) -> dict[str, list[Extent]]:
    """Return unions by the digest of the part that the fewest of them have.

    A union inside a second union shares all its parts with it, so also its rarest part: few unions have that part.
    """
    occurrences = Counter(part.digest for extent in unions for part in extent.parts)
    by_rarest: dict[str, list[Extent]] = {}
    for extent in unions:
        rarest = min((part.digest for part in extent.parts), key=occurrences.__getitem__)
        by_rarest.setdefault(rarest, []).append(extent)
    return by_rarest


def _covers_opposite(extent: Extent, parts: dict[str, Extent]) -> bool:
    """Whether the parts show that their intersection lies inside the complement of an extent."""
    # A version of a base catalog is a union of many leaves: no complement is built to compare one of them.
    return extent.opposite in parts or (
        extent.label is None and extent.complemented and all(part.digest in parts for part in extent.parts)
    )


def _avoids_opposite(extent: Extent, parts: dict[str, Extent]) -> bool:
    """Whether the parts show that their intersection lies outside the complement of an extent."""
    return extent.digest in parts or (
        extent.label is None and extent.complemented and any(part.opposite in parts for part in extent.parts)
    )


def _is_intersection(extent: Extent) -> bool:
    """Whether an extent is an intersection, not a leaf or a complement."""
    return extent.label is None and not extent.complemented
