"""Reduce remainders of integers by constants: ``id % 10``, ``pmod(id, 10)``.

How remainders by several numbers relate to each other, and to the number itself, is the subject of `periodic_facts`.
"""

from __future__ import annotations

from dataclasses import dataclass

from provenn.criteria.domains import get_domain
from provenn.criteria.folding import evaluate
from provenn.criteria.nodes import Call, Condition, Constant, Node, Truth
from provenn.criteria.ranges import Ranges
from provenn.criteria.reductions.memberships import build_inside, build_present
from provenn.criteria.types import INTEGRAL

__all__ = ["Remainder", "read_remainder", "reduce_remainder"]


@dataclass(frozen=True, slots=True)
class Remainder:
    """A remainder of a term by a constant.

    Parameters
    ----------
    inner
        The term that is divided.
    modulus
        The constant. It may be zero or negative.
    positive
        Whether the remainder is ``pmod``, not ``%``.
    """

    inner: Node
    modulus: int
    positive: bool


def read_remainder(term: Node) -> Remainder | None:
    """Return the remainder of an integer by a constant that a term is, or None."""
    match term:
        case Call("%" | "pmod" as operator, (inner, divisor), kind) if kind in INTEGRAL and evaluate(inner) is None:
            constant = evaluate(divisor)
            if constant is not None and isinstance(constant.key, int):
                return Remainder(inner, constant.key, operator == "pmod")
    return None


def reduce_remainder(term: Node, where: Ranges) -> Condition | None:
    """Return a simpler condition that a remainder lies in some ranges, or None if it is as simple as possible.

    A remainder by zero is NULL; any other is NULL exactly where its operand is. ``t % m`` has the sign of t and is
    smaller than the absolute value of m, whose sign does not matter: so ranges are limited to these values.
    ``pmod(t, m)`` is not negative for a positive m, and ``t % m`` for a negative one.
    """
    remainder = read_remainder(term)
    if remainder is None or not isinstance(term, Call):
        return None
    if remainder.modulus == 0:
        return Truth(False)
    within = get_domain(term.type)
    if within is None or remainder.modulus == within.lowest:
        return None  # the lowest integer has no absolute value
    modulus = abs(remainder.modulus)
    if not remainder.positive or remainder.modulus > 0:
        lowest = 0 if remainder.positive else 1 - modulus
        limited = Ranges(lowest in where, tuple(cut for cut in where.cuts if _lies_between(cut, lowest, modulus)))
        if not limited.cuts:
            return build_present(remainder.inner) if limited.first else Truth(False)
        if limited != where:
            return build_inside(term, limited)
    if remainder.modulus < 0:
        return build_inside(Call("%", (remainder.inner, Constant(term.type, modulus)), term.type, term.nulls), where)
    return None


def _lies_between(cut: int | str, lowest: int, modulus: int) -> bool:
    """Tell whether a cut divides the remainders from the lowest to the highest."""
    return isinstance(cut, int) and lowest < cut < modulus
