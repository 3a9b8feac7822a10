"""The order of terms: what follows from comparisons of terms together, beyond the values of each term.

``a < b`` and ``b < c`` give ``a < c``; a circle with ``<`` in it is impossible, and a circle of ``<=`` makes its terms
equal. Terms of the same operation are ordered as their arguments are, where the operation keeps the order: ``x + 0.1 <=
x + 0.2``, because rounding never reverses an order. The sign of a difference is the order of its operands, unless the
difference is NaN: numbers that differ have a difference that is not rounded to zero, since small differences are exact.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final, NamedTuple

from provenn.criteria.nodes import Call
from provenn.criteria.theory.arithmetic import Arithmetic
from provenn.criteria.theory.propagation import EQUAL, GREATER, LESS, NoValueError, Propagation
from provenn.criteria.theory.values import Values

__all__ = ["Ordering"]

_MOST_CALLS: Final = 60
"""The most sums, differences, products and quotients that are compared with each other."""


class _Order(NamedTuple):
    """That a term is below another, or equal to it if not `strict`, and the conditions for which it is."""

    strict: bool
    reasons: int


class Ordering:
    """The order of the classes of terms, at one moment of a propagation.

    Parameters
    ----------
    propagation
        The values of the terms.
    """

    def __init__(self, propagation: Propagation) -> None:
        self._propagation = propagation
        self._graph = propagation.graph
        self._comparisons = [
            number
            for number, node in enumerate(self._graph.nodes)
            if isinstance(node, Call) and node.operator == "compare"
        ]
        self._above: dict[int, dict[int, _Order]] = {}  # class -> the classes above it
        self._differences = [
            number
            for number, arithmetic in enumerate(self._graph.arithmetic)
            if arithmetic is not None and arithmetic.operator == "-"
        ]
        for number in self._comparisons:
            self._add_comparison(number)
        for number in self._differences:
            self._add_difference(number)
        self._close()
        if self._add_calls():
            self._close()

    def apply(self) -> bool:
        """Narrow the propagation by the order; return whether anything changed.

        Raises
        ------
        NoValueError
            If a term would lie below itself.
        """
        changed = False
        for lower, above in self._above.items():
            for upper, order in above.items():
                if upper == lower and order.strict:
                    raise NoValueError(order.reasons)
                if upper != lower and lower in self._above.get(upper, ()):
                    reasons = order.reasons | self._above[upper][lower].reasons
                    changed |= self._propagation.merge(lower, upper, reasons)
        for number in self._comparisons:
            changed |= self._narrow_comparison(number)
        for number in self._differences:
            changed |= self._narrow_difference(number)
        return changed

    def _narrow_comparison(self, number: int) -> bool:
        values = self._propagation.get_values(number)
        if values is None:
            return False
        kind = self._graph.get_type(number)
        left, right = map(self._propagation.find_class, self._graph.arguments[number])
        narrowed, reasons = values, 0
        upwards, downwards = self._above.get(left, {}).get(right), self._above.get(right, {}).get(left)
        if upwards is not None:
            narrowed = narrowed.restrict(kind, None, LESS + 1 if upwards.strict else EQUAL + 1)
            reasons |= upwards.reasons
        if downwards is not None:
            narrowed = narrowed.restrict(kind, GREATER if downwards.strict else EQUAL, None)
            reasons |= downwards.reasons
        return self._propagation.narrow(number, narrowed, reasons | self._propagation.get_reasons(left, right))

    def _add(self, lower: int, upper: int, order: _Order) -> bool:
        """Note that a class is below another; return whether that is new."""
        above = self._above.setdefault(lower, {})
        if upper in above and above[upper].strict >= order.strict:
            return False
        above[upper] = order
        return True

    def _add_comparison(self, number: int) -> None:
        """Record the order that follows from a comparison that is not NULL."""
        values = self._propagation.get_values(number)
        if values is None or values.null or not values.is_ordered:
            return
        left, right = map(self._propagation.find_class, self._graph.arguments[number])
        first, last = int(values.low), int(values.high or 0) - 1
        reasons = self._propagation.get_reasons(number, left, right)
        if last <= EQUAL:
            self._add(left, right, _Order(last == LESS, reasons))
        if first >= EQUAL:
            self._add(right, left, _Order(first == GREATER, reasons))

    def _add_difference(self, number: int) -> None:
        """Note what the sign of a difference says that is neither NULL nor NaN."""
        values = self._propagation.get_values(number)
        if values is None or values.null or values.nan or not values.is_ordered:
            return
        left, right = map(self._propagation.find_class, self._graph.arguments[number])
        lowest, highest = int(values.low), int(values.high or 0) - 1
        reasons = self._propagation.get_reasons(number, left, right)
        if highest <= 0:
            self._add(left, right, _Order(highest < 0, reasons))
        if lowest >= 0:
            self._add(right, left, _Order(lowest > 0, reasons))

    def _narrow_difference(self, number: int) -> bool:
        """Narrow a difference by the order of its operands; NaN stays possible."""
        values = self._propagation.get_values(number)
        if values is None:
            return False
        left, right = map(self._propagation.find_class, self._graph.arguments[number])
        upwards, downwards = self._above.get(left, {}).get(right), self._above.get(right, {}).get(left)
        low, high = int(values.low), int(values.high or 0)
        reasons = self._propagation.get_reasons(left, right)
        if upwards is not None or left == right:
            high = min(high, 0 if upwards is not None and upwards.strict else 1)
        if downwards is not None or left == right:
            low = max(low, 1 if downwards is not None and downwards.strict else 0)
        for order in (upwards, downwards):
            reasons |= 0 if order is None else order.reasons
        return self._propagation.narrow(number, values._replace(low=low, high=max(low, high)), reasons)

    def _close(self) -> None:
        """Add all orders that follow from two others (Warshall's algorithm)."""
        for middle in list(self._above):
            for lower in list(self._above):
                first = self._above[lower].get(middle)
                if first is not None:
                    for upper, second in list(self._above[middle].items()):
                        order = _Order(first.strict or second.strict, first.reasons | second.reasons)
                        self._add(lower, upper, order)

    # -- calls ---------------------------------------------------------------------------------------------------

    def _add_calls(self) -> bool:
        """Order calls of the same operation by their arguments; return whether any order is new."""
        calls = [number for number, arithmetic in enumerate(self._graph.arithmetic) if arithmetic is not None]
        if len(calls) > _MOST_CALLS:
            return False
        changed = False
        for number, other in combinations(calls, 2):
            operation, further = self._graph.arithmetic[number], self._graph.arithmetic[other]
            if operation is None or further is None or not operation.is_same(further):
                continue
            for lower, upper in ((number, other), (other, number)):
                if self._is_below(operation, lower, upper):
                    below, above = map(self._propagation.find_class, (lower, upper))
                    changed |= below != above and self._add(below, above, self._justify_calls(lower, upper))
        return changed

    def _justify_calls(self, lower: int, upper: int) -> _Order:
        """Return the order of two calls, with the reasons of their arguments and of the order of these."""
        arguments = (*self._graph.arguments[lower], *self._graph.arguments[upper])
        reasons = self._propagation.get_reasons(lower, upper, *arguments)
        classes = set(map(self._propagation.find_class, arguments))
        for below in classes:
            for above in classes & self._above.get(below, {}).keys():
                reasons |= self._above[below][above].reasons
        return _Order(strict=False, reasons=reasons)

    def _is_below(self, operation: Arithmetic, lower: int, upper: int) -> bool:
        """Return whether a call is never greater than another call of the same operation, and neither is NULL.

        The operands are replaced one after the other: ``f(a, b) <= f(a', b) <= f(a', b')``. NaN is the largest value,
        so that the larger side of a step must be NaN where the smaller side is. A NaN operand makes both sides NaN if
        the sides share it, or if the call grows with it, since then the operand that replaces it is NaN, too. NaN must
        not arise from numbers on the smaller side.
        """
        propagation = self._propagation
        if any(values is None or values.null for values in map(propagation.get_values, (lower, upper))):
            return False
        first, second = self._graph.arguments[lower]
        orders = [self._graph.arguments[upper]]
        if operation.operator in "+*":
            orders.append(orders[0][::-1])
        return any(
            self._never_falls(operation, 0, (first, after), second)
            and self._never_falls(operation, 1, (second, other_after), after)
            for after, other_after in orders
        )

    def _never_falls(self, operation: Arithmetic, place: int, replaced: tuple[int, int], other: int) -> bool:
        """Return whether a call is not greater before an operand is replaced than after, for the same other operand."""
        before, after = map(self._propagation.find_class, replaced)
        if before == after:
            return True
        operand, replacement, shared = map(self._propagation.get_values, (before, after, other))
        if operand is None or replacement is None or shared is None:
            return False
        if operation.operator == "/" and place == 1 and not _have_same_sign(operand, replacement):
            return False
        if operation.can_create_nan(*((operand, shared) if place == 0 else (shared, operand))):
            return False
        direction = operation.find_direction(place, shared)
        if direction > 0:
            return self._is_known_below(before, after)
        return direction < 0 and not operand.nan and self._is_known_below(after, before)

    def _is_known_below(self, lower: int, upper: int) -> bool:
        """Return whether a class is known to be below another, or equal to it."""
        if lower == upper or upper in self._above.get(lower, ()):
            return True
        kind = self._graph.get_type(lower)
        below, above = self._propagation.values[lower], self._propagation.values[upper]
        if below is None or above is None or below.null or above.null or not (below.is_present and above.is_present):
            return False
        highest = below.find_ends(kind)[1]
        low = above.find_ends(kind)[0]
        return isinstance(highest, int) and isinstance(low, int) and highest - 1 <= low


def _have_same_sign(values: Values, others: Values) -> bool:
    """Return whether two numbers lie on the same side of zero."""
    both_positive = int(values.low) > 0 and int(others.low) > 0
    return both_positive or (int(values.high or 0) <= 0 and int(others.high or 0) <= 0)
