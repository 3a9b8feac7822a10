"""The set of sources of a catalog, as a set expression over base sets and atoms, in a canonical form.

An extent is a leaf, an intersection of extents, or the complement of one of these; a union is the complement of an
intersection of complements. The form is kept canonical while it is built, so that the digest, which is made of the
digests of the parts, is the same for sets that are equal by construction, in every process. Other equal sets are for
`Knowledge` to recognise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar

from provenn.catalogs.digest import content_digest
from provenn.logic.terms import BooleanAlgebra, Op, Term, check_label

__all__ = ["Extent", "everything", "extent_of", "intersection", "leaf", "nothing", "union"]

B = TypeVar("B", bound=BooleanAlgebra)

_MOST_PAIRED = 100
"""How many operands in a row are joined pair by pair."""


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
        Whether it is the complement of these.
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
            one = stack.pop()
            if one.label is not None:
                labels.add(one.label)
            for part in one.parts:
                if part.digest not in seen and part.opposite not in seen:
                    seen.add(part.digest)
                    stack.append(part)
        return tuple(sorted(labels))

    def evaluate(self, value: Callable[[str], B], everything: B) -> B:
        """Return the value in a Boolean algebra, given the values of the leaves."""
        known: dict[str, B] = {}
        stack = [self]
        while stack:
            one = stack[-1]
            missing = [part for part in one.parts if part.digest not in known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if one.digest in known:
                continue
            found = everything if one.label is None else value(one.label)
            for part in one.parts:
                found = found & known[part.digest]
            known[one.digest] = everything ^ found if one.complemented else found
        return known[self.digest]

    def __and__(self, other: Extent) -> Extent:
        return intersection([self, other])

    def __or__(self, other: Extent) -> Extent:
        return union([self, other])

    def __sub__(self, other: Extent) -> Extent:
        return intersection([self, ~other])

    def __xor__(self, other: Extent) -> Extent:
        # Complements go outwards first, so that a ^ ~b and ~(a ^ b) have one form.
        odd = self.complemented != other.complemented
        one, two = (~side if side.complemented else side for side in (self, other))
        result = (one - two) | (two - one)
        return ~result if odd else result

    def __invert__(self) -> Extent:
        return Extent(self.label, self.parts, not self.complemented, self.opposite, self.digest)

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Extent) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<Extent {self.digest[:12]}>"


def _positive(content: dict[str, str], label: str | None, parts: tuple[Extent, ...]) -> Extent:
    digest = content_digest("extent", content)
    return Extent(label, parts, False, digest, content_digest("extent", {"complement": digest}))


def leaf(label: str) -> Extent:
    """Return the set with a label."""
    return _positive({"set": check_label(label)}, label, ())


everything = _positive({"intersection": ""}, None, ())
"""All objects."""

nothing = ~everything
"""No object."""


def union(extents: Iterable[Extent]) -> Extent:
    """Return all the sets together."""
    return ~intersection(~one for one in extents)


def intersection(extents: Iterable[Extent]) -> Extent:
    """Return what the sets have in common.

    Intersections in it are flattened. Unions in it are written shorter where that is one look away: ``A & (A | B)``
    is ``A``, ``A & (~A | B)`` is ``A & B``, and ``(A | B) & (A | B | C)`` is ``A | B``.
    """
    pending = sorted(extents, key=lambda one: len(one.parts))
    # The longest one has no two parts that matter to each other, so it is taken as it is.
    found = {part.digest: part for part in pending.pop().parts} if pending and _joint(pending[-1]) else {}
    while pending:
        for one in _flat(pending):
            if one.opposite in found or one.opposite == everything.digest:
                return nothing
            found[one.digest] = one
        dropped, pending = _shorter_unions(found)
        for digest in dropped:
            del found[digest]
    digests = sorted(found)
    if len(digests) == 1:
        return found[digests[0]]
    return _positive({"intersection": " ".join(digests)}, None, tuple(map(found.__getitem__, digests)))


def extent_of(term: Term, value: Callable[[str], Extent]) -> Extent:
    """Return a term as an extent, given the extents of its labels.

    Many operands in a row are brought together at once. Pair by pair, each step would copy all that was joined before
    it, and a list of n values would take n * n steps.
    """
    stack: list[tuple[Op, list[Extent]]] = []  # operands that are still to be joined, by which operator
    for token in term.postfix:
        if isinstance(token, str):
            stack.append((Op.AND, [value(token)]))
        elif token is Op.EMPTY:
            stack.append((Op.AND, [nothing]))
        elif token is Op.NOT:
            stack.append((Op.AND, [~_together(*stack.pop())]))
        else:
            right, left = stack.pop(), stack.pop()
            if token is Op.XOR:
                stack.append((Op.AND, [_together(*left) ^ _together(*right)]))
                continue
            operator = Op.OR if token is Op.OR else Op.AND
            last = _together(*right)
            operands = left[1] if left[0] is operator else [_together(*left)]
            operands.append(~last if token is Op.MINUS else last)
            stack.append((operator, operands))
    return _together(*stack[0])


def _together(operator: Op, extents: list[Extent]) -> Extent:
    if len(extents) > _MOST_PAIRED:
        return union(extents) if operator is Op.OR else intersection(extents)
    # Unions in unions can come out in another form, if they are looked at together: what has a digest keeps it.
    return reduce(Extent.__or__ if operator is Op.OR else Extent.__and__, extents)


def _flat(extents: list[Extent]) -> Iterable[Extent]:
    for one in extents:
        if _joint(one):
            yield from one.parts
        else:
            yield one


def _shorter_unions(found: dict[str, Extent]) -> tuple[list[str], list[Extent]]:
    """Return the unions that an intersection does not need as they are, and what takes the place of some of them.

    Each is judged by sets that lie inside its own expression, or by a union with fewer members; so they never lean on
    one another.
    """
    unions = [one for one in found.values() if one.label is None]
    occurrences = Counter(part.digest for one in unions for part in one.parts)
    # A union inside another one has all its parts there, so also its rarest: few unions share that one.
    by_rarest: dict[str, list[Extent]] = {}
    for one in unions:
        rarest = min((part.digest for part in one.parts), key=occurrences.__getitem__)
        by_rarest.setdefault(rarest, []).append(one)
    dropped, shorter = [], []
    for one in unions:
        # The union is the complement of the intersection of its parts: its members are their complements.
        parts = {part.digest for part in one.parts}
        larger = any(
            len(other.parts) < len(parts) and parts.issuperset(part.digest for part in other.parts)
            for rarest in parts
            for other in by_rarest.get(rarest, ())
        )
        if larger or any(_holds(~part, found) for part in one.parts):
            dropped.append(one.digest)
            continue
        rest = [part for part in one.parts if not _fails(~part, found)]
        if len(rest) < len(parts):
            dropped.append(one.digest)
            shorter.append(~intersection(rest))
    return dropped, shorter


def _holds(one: Extent, found: dict[str, Extent]) -> bool:
    """Whether an intersection with these parts is seen to lie inside a set."""
    return one.digest in found or (_joint(one) and all(part.digest in found for part in one.parts))


def _fails(one: Extent, found: dict[str, Extent]) -> bool:
    """Whether an intersection with these parts is seen to lie outside a set."""
    return one.opposite in found or (_joint(one) and any(part.opposite in found for part in one.parts))


def _joint(one: Extent) -> bool:
    return one.label is None and not one.complemented
