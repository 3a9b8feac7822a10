"""Reduce bitwise operations on a term to its single bits, ``term & 4 = 4``.

``& | ^ ~`` with constants make each bit of the result from the same bit of the term: fixed, copied or flipped. Two
numbers compare as their bits do, from the highest to the lowest, with the bit of the sign inverted: in two's complement
a set bit of the sign means a lower number. So a cut is a chain of conditions on single bits, as long as the number of
bits. The bit of the sign of the term is ``term < 0``.
"""

from __future__ import annotations

from collections.abc import Sequence

from provenn.criteria.conditions import join_by_and, join_by_or, negate_condition
from provenn.criteria.domains import Key, get_domain
from provenn.criteria.folding import evaluate
from provenn.criteria.nodes import Call, Condition, Constant, Node, Nulls, Truth
from provenn.criteria.ranges import Ranges
from provenn.criteria.reductions.memberships import build_inside, build_present
from provenn.criteria.types import INTEGRAL, Type
from provenn.criteria.writing import CANONICAL, write

__all__ = ["count_bits", "peel_widening", "reduce_bitwise"]

_MOST_BITS = 16
"""The maximum number of bits of a term that a condition may depend on."""
_MOST_CUTS = 40
"""The maximum number of cuts of the ranges: each repeats the bits."""

_OPERATORS = frozenset(["&", "|", "^", "~"])
_NEGATIVE = Ranges(True, (0,))
_Bit = bool | tuple[int, bool]
"""A bit of a result: fixed, or the number of a bit of the term and whether it is flipped."""


def reduce_bitwise(term: Node, where: Ranges) -> Condition | None:
    """Return the condition on single bits that a bitwise operation with constants lies in some ranges.

    Sound, because the condition compares all bits of the result; widening an integer repeats the bit of its sign.
    ``~t`` alone is ``-1 - t`` and reverses the order, and ``t & 4`` itself is a single bit already.
    """
    if not (isinstance(term, Call) and term.operator in _OPERATORS and term.type in INTEGRAL):
        return None
    if not where.cuts:
        return join_by_and([Truth(where.first), *map(build_present, term.arguments)])
    if term.operator == "~":
        return build_inside(term.arguments[0], _reflect_ranges(where))
    bits = _read_bits(term)
    if bits is None or len(where.cuts) > _MOST_CUTS:
        return None
    inner, sources = bits
    used = {bit[0] for bit in sources if isinstance(bit, tuple)}
    if len(used) > _MOST_BITS or (len(used) == 1 and _is_single_bit(term, inner, sources)):
        return None
    present = build_present(inner)
    return join_by_or(
        join_by_and(
            [
                present,
                Truth(True) if high is None else _build_below(inner, sources, high),
                Truth(True) if low is None else negate_condition(_build_below(inner, sources, low)),
            ]
        )
        for low, high in where.intervals()
    )


def count_bits(kind: Type) -> int:
    """Return the number of bits of an integral type."""
    within = get_domain(kind)
    if within is None or within.highest is None:
        raise TypeError(f"{kind} is no integral type")
    return within.highest.bit_length() + 1


def peel_widening(node: Node) -> Node:
    """Return the integer inside casts to wider integers, which keep its value."""
    while isinstance(node, Call) and node.operator in ("coerce", "cast") and node.type in INTEGRAL:
        (inner,) = node.arguments
        if inner.type not in INTEGRAL or INTEGRAL.index(inner.type) > INTEGRAL.index(node.type):
            break
        node = inner
    return node


def _reflect_ranges(where: Ranges) -> Ranges:
    """Return the integers v for which ``-1 - v`` lies in some ranges."""
    inside_at_highest = where.first != (len(where.cuts) % 2 == 1)
    return Ranges(inside_at_highest, tuple(-cut for cut in reversed(where.cuts) if isinstance(cut, int)))


def _read_bits(term: Node) -> tuple[Node, list[_Bit]] | None:
    """Return the term whose bits a bitwise operation reads, and the bits of the result, the lowest first."""
    width = count_bits(term.type)
    match term:
        case Call("~", (operand,)):
            bits = _read_bits(operand)
            return None if bits is None else (bits[0], [_flip_bit(bit) for bit in bits[1]])
        case Call("&" | "|" | "^" as operator, (left, right)):
            constant = evaluate(left) or evaluate(right)
            operand = left if evaluate(left) is None else right
            bits = None if constant is None or not isinstance(constant.key, int) else _read_bits(operand)
            if bits is None or constant is None or not isinstance(constant.key, int):
                return None
            known = [bool(constant.key >> number & 1) for number in range(width)]
            return bits[0], [_join_bits(operator, *pair) for pair in zip(bits[1], known, strict=True)]
        case _ if evaluate(term) is None:
            inner = peel_widening(term)
            highest = count_bits(inner.type) - 1
            return inner, [(min(number, highest), False) for number in range(width)]
    return None


def _flip_bit(bit: _Bit) -> _Bit:
    return (bit[0], not bit[1]) if isinstance(bit, tuple) else not bit


def _join_bits(operator: str, bit: _Bit, known: bool) -> _Bit:
    """Return a bit after a bitwise operation with a known bit."""
    if operator == "^":
        return _flip_bit(bit) if known else bit
    absorbing = operator == "|"
    return absorbing if known == absorbing else bit


def _is_single_bit(term: Call, inner: Node, sources: Sequence[_Bit]) -> bool:
    """Tell whether a term is the canonical term of a single bit."""
    number = next(bit[0] for bit in sources if isinstance(bit, tuple))
    return number < count_bits(inner.type) - 1 and write(term, CANONICAL) == write(
        _build_bit_term(inner, number), CANONICAL
    )


def _build_bit_term(inner: Node, number: int) -> Call:
    """Return the canonical term of a single bit: ``inner & 4``."""
    operands = sorted((inner, Constant(inner.type, 1 << number)), key=lambda node: write(node, CANONICAL))
    return Call("&", tuple(operands), inner.type, Nulls.ANY)


def _build_bit(inner: Node, number: int) -> Condition:
    """Return the condition that a bit of a term is set; it is FALSE at NULL."""
    if number == count_bits(inner.type) - 1:
        return build_inside(inner, _NEGATIVE)
    return build_inside(_build_bit_term(inner, number), Ranges(False, (1 << number,)))


def _build_below(inner: Node, sources: Sequence[_Bit], key: Key) -> Condition:
    """Return the condition, for rows where the inner term is not NULL, that a result lies below a key.

    From the lowest bit upwards: the bits so far are below those of the key if the new bit is lower, or if it is equal
    and the earlier bits are below.
    """
    if not isinstance(key, int):
        raise TypeError(f"{key!r} is no integer")
    below: Condition = Truth(False)
    for number, bit in enumerate(sources):
        is_sign = number == len(sources) - 1
        source = _flip_bit(bit) if is_sign else bit
        wanted = bool(key >> number & 1) != is_sign
        if isinstance(source, bool):
            if source != wanted:
                below = Truth(wanted)
            continue
        high = _build_bit(inner, source[0])
        high = negate_condition(high) if source[1] else high
        below = join_by_or([negate_condition(high), below]) if wanted else join_by_and([negate_condition(high), below])
    return below
