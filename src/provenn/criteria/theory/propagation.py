"""Narrow the values of terms until nothing changes, or some term has no value left.

Each rule leaves out only values that no source can have, given the values of the other terms; so a term without any
value refutes the conditions. A rule that is not known for an operation is simply missing: less is refuted then.

A term keeps its values *where it is not NULL*. So what an argument can be follows from the values of a call only if the
call is not NULL, but what a call can be always follows from its arguments: a call is not NULL only where they are not.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from provenn.criteria.domains import INFINITY, find_monotone_cast
from provenn.criteria.nodes import Call, Nulls
from provenn.criteria.theory.arithmetic import Arithmetic, narrow_by_order
from provenn.criteria.theory.terms import TermGraph
from provenn.criteria.theory.values import Values, find_all_values
from provenn.criteria.types import BOOLEAN, INTEGRAL

__all__ = ["EQUAL", "GREATER", "LESS", "NoValueError", "Propagation"]

LESS, EQUAL, GREATER = range(3)

_MOST_STEPS: Final = 12
"""The most times that the rules of a term are used: narrowing may go on for ever, in tiny steps."""


class NoValueError(Exception):
    """No value is left for a term; `reasons` say why each value was excluded."""

    def __init__(self, reasons: int) -> None:
        super().__init__()
        self.reasons = reasons


class Propagation:
    """The values of terms, which are narrowed step by step. Equal terms share their values.

    The values of a term have *reasons*: the conditions that had a part in narrowing them, as the bits of a number.

    Parameters
    ----------
    graph
        The terms.
    """

    def __init__(self, graph: TermGraph) -> None:
        self.graph = graph
        self.values = list(graph.values)
        self._reasons = [0] * len(graph.nodes)
        self._class_of = list(range(len(graph.nodes)))
        self._members = [[number] for number in range(len(graph.nodes))]
        self._queue: deque[int] = deque()
        self._is_queued = [False] * len(graph.nodes)
        self._steps_left = [_MOST_STEPS] * len(graph.nodes)
        self._current_reasons = 0  # the reasons of a call and its arguments, while their rules are used

    # -- classes of equal terms ----------------------------------------------------------------------------------

    def find_class(self, number: int) -> int:
        """Return the number that stands for all terms equal to a term."""
        while self._class_of[number] != number:
            self._class_of[number] = self._class_of[self._class_of[number]]
            number = self._class_of[number]
        return number

    def get_values(self, number: int) -> Values | None:
        """Return the values of a term."""
        return self.values[self.find_class(number)]

    def get_reasons(self, *numbers: int) -> int:
        """Return the reasons of the values of some terms."""
        reasons = 0
        for number in numbers:
            reasons |= self._reasons[self.find_class(number)]
        return reasons

    def merge(self, number: int, other: int, reasons: int) -> bool:
        """Take two terms for equal, or both for NULL; return whether that is new."""
        first, second = sorted((self.find_class(number), self.find_class(other)))
        if first == second:
            return False
        values, further = self.values[first], self.values[second]
        self._class_of[second] = first
        self._reasons[first] |= self._reasons[second] | reasons
        self._members[first] += self._members[second]
        if values is not None and further is not None:
            self.values[first] = values.intersect(further)
        self._announce(first)
        return True

    def merge_equal_calls(self) -> bool:
        """Take calls of an operation for equal if their arguments are; return whether any was new.

        Two terms with the same single value are equal, too.
        """
        changed = False
        known: dict[object, int] = {}
        for number, node in enumerate(self.graph.nodes):
            signatures: list[object] = []
            values = self.get_values(number)
            point = None if values is None else values.point
            if point is not None:
                signatures.append((node.type, point))
            if isinstance(node, Call) and self.graph.keeps_equality(number):
                classes = tuple(map(self.find_class, self.graph.arguments[number]))
                operator = "cast" if node.operator == "coerce" else node.operator
                commutes = operator in ("+", "*") and len(classes) == 2
                signatures.append((operator, node.type, tuple(sorted(classes)) if commutes else classes))
            for signature in signatures:
                twin = known.setdefault(signature, number)
                related = (*self.graph.arguments[number], *self.graph.arguments[twin], number, twin)
                changed |= self.merge(twin, number, self.get_reasons(*related))
        return changed

    # -- narrowing -----------------------------------------------------------------------------------------------

    def narrow(self, number: int, values: Values, reasons: int = 0) -> bool:
        """Replace the values of a term by fewer values, for further reasons; return whether they are fewer."""
        place = self.find_class(number)
        if values == self.values[place]:
            return False
        if not values.is_ordered and values.low != values.high:
            values = values._replace(high=values.low)
        self.values[place] = values
        self._reasons[place] |= reasons | self._current_reasons
        self._announce(place)
        return True

    def _announce(self, place: int) -> None:
        """Queue the terms whose values depend on a class."""
        values = self.values[place]
        if values is not None and not values.null and not values.is_present:
            raise NoValueError(self._reasons[place])
        for member in self._members[place]:
            self._enqueue(member)
            for user in self.graph.users[member]:
                self._enqueue(user)

    def _enqueue(self, number: int) -> None:
        if self.graph.arguments[number] and not self._is_queued[number]:
            self._is_queued[number] = True
            self._queue.append(number)

    def enqueue_all(self) -> None:
        """Queue all terms."""
        for number in range(len(self.graph.nodes)):
            self._enqueue(number)

    def run(self) -> None:
        """Use the rules of all queued terms, until nothing changes or the steps of the changing terms are used up.

        Raises
        ------
        NoValueError
            If some term has no value left.
        """
        while self._queue:
            number = self._queue.popleft()
            self._is_queued[number] = False
            node = self.graph.nodes[number]
            if isinstance(node, Call) and self._steps_left[number]:
                self._steps_left[number] -= 1
                self._current_reasons = self.get_reasons(number, *self.graph.arguments[number])
                self._narrow_nulls(number, node)
                self._narrow_call(number, node)
                self._current_reasons = 0

    def _narrow_nulls(self, number: int, call: Call) -> None:
        """Use what is known of NULL: of a call by its arguments, and of arguments by their call."""
        values = self.get_values(number)
        if values is None or call.nulls not in (Nulls.ANY, Nulls.ANY_OR_FAILED):
            return
        arguments = self.graph.arguments[number]
        states = [self.get_values(argument) for argument in arguments]
        if any(state is not None and not state.is_present for state in states):
            self.narrow(number, values._replace(high=values.low, nan=False))
        elif not values.null:
            for argument, state in zip(arguments, states, strict=True):
                if state is not None and state.null:
                    self.narrow(argument, state.drop_null())
        elif call.nulls is Nulls.ANY:
            absent = [place for place, state in enumerate(states) if state is None or state.null]
            if not absent:
                self.narrow(number, values.drop_null())
            elif len(absent) == 1 and not values.is_present:
                state = states[absent[0]]
                if state is not None:
                    self.narrow(arguments[absent[0]], state._replace(high=state.low, nan=False))

    def _narrow_call(self, number: int, call: Call) -> None:
        values = self.get_values(number)
        states = [self.get_values(argument) for argument in self.graph.arguments[number]]
        if values is None or None in states:
            return
        present = [state for state in states if state is not None]
        arithmetic = self.graph.arithmetic[number]
        if arithmetic is not None:
            self._narrow_arithmetic(number, arithmetic, values, present)
        elif call.operator == "compare":
            self._narrow_comparison(number, values, present)
        elif call.operator in ("-", "abs") and len(present) == 1:
            self._narrow_sign(number, call, values, present[0])
        elif call.operator in ("cast", "coerce"):
            self._narrow_cast(number, call, values, present[0])
        elif call.operator in ("greatest", "least"):
            self._narrow_extreme(number, call, values, present)

    def _narrow_arithmetic(self, number: int, arithmetic: Arithmetic, values: Values, operands: list[Values]) -> None:
        """Narrow a sum, difference, product or quotient, and then its operands."""
        left, right = operands
        whole = find_all_values(arithmetic.kind, nullable=True)
        results = arithmetic.find_results(left, right)
        if whole is None or whole.high is None:
            return
        if results is not None:
            low, high, nan = results
            fits = whole.low <= low and high <= whole.high  # type: ignore[operator]
            divides_by_zero = arithmetic.operator == "/" and right.contains(0)
            null = values.null and (left.null or right.null or not fits or divides_by_zero)
            narrowed = Values(max(values.low, low), min(values.high, high), values.nan and nan, null)  # type: ignore[type-var]
            self.narrow(number, narrowed)
            values = narrowed
        if values.null:
            return
        for place, argument in enumerate(self.graph.arguments[number]):
            operand, other = self.get_values(argument), self.get_values(self.graph.arguments[number][1 - place])
            if operand is None or other is None:
                continue
            narrowed = arithmetic.find_operands(place, operand, other, values)
            self.narrow(argument, narrowed if values.nan else narrowed._replace(nan=False))

    def _narrow_comparison(self, number: int, values: Values, sides: list[Values]) -> None:
        """Narrow the outcomes of a comparison, and then its sides."""
        if not all(side.is_present for side in sides):
            return  # the comparison is NULL
        left, right = self.graph.arguments[number]
        kind = self.graph.get_type(left)
        if kind == BOOLEAN:  # the only type whose keys are in the reverse order: TRUE is greater, and has the lower key
            left, right, sides = right, left, sides[::-1]
        (low, high), (other_low, other_high) = (side.find_ends(kind) for side in sides)
        if self.find_class(left) == self.find_class(right):
            outcomes = [EQUAL]
        else:
            outcomes = [
                outcome
                for outcome, possible in (
                    (LESS, _can_be_less(low, other_low, other_high)),
                    (EQUAL, _overlap(low, high, other_low, other_high)),
                    (GREATER, _can_be_less(other_low, low, high)),
                )
                if possible
            ]
        if not outcomes:
            outcomes_values = values._replace(high=values.low)
        else:
            outcomes_values = values.restrict(self.graph.get_type(number), outcomes[0], outcomes[-1] + 1)
        self.narrow(number, outcomes_values)
        if values.null or not outcomes_values.is_ordered:
            return
        first, last = int(outcomes_values.low), int(outcomes_values.high or 0) - 1
        if first == last == EQUAL:
            self.merge(left, right, self._current_reasons)
        elif last <= EQUAL:
            self._narrow_order(left, right, strict=last == LESS)
        elif first >= EQUAL:
            self._narrow_order(right, left, strict=first == GREATER)

    def _narrow_order(self, lower: int, upper: int, *, strict: bool) -> None:
        """Narrow two terms of which the first is below the second, or equal to it if not `strict`."""
        kind = self.graph.get_type(lower)
        below, above = self.get_values(lower), self.get_values(upper)
        if below is None or above is None:
            return
        low, high = below.find_ends(kind)[0], above.find_ends(kind)[1]
        if strict:
            low = low + "\0" if isinstance(low, str) else low + 1
            high = high - 1 if isinstance(high, int) else high
        self.narrow(lower, below.restrict(kind, None, high))
        above = self.get_values(upper)
        if above is not None:
            self.narrow(upper, above.restrict(kind, low, None))

    def _narrow_sign(self, number: int, call: Call, values: Values, operand: Values) -> None:
        """Narrow ``-x`` or ``abs(x)``, and then x: the keys of numbers are symmetric.

        The least integer has no negative, so that both are NULL for it.
        """
        low, high = int(operand.low), int(operand.high or 0)
        ends = (1 - high, 1 - low)
        if call.operator == "abs" and high > low:
            ends = (max(low, 1 - high, 0), max(high, 1 - low))
        whole = find_all_values(call.type, nullable=True)
        if whole is None or whole.high is None:
            return
        null = values.null and (operand.null or not operand.is_ordered or ends[1] > whole.high)  # type: ignore[operator]
        if call.type not in INTEGRAL:
            null = values.null and operand.null
        if not operand.is_ordered:
            ends = (0, 0)
        narrowed = Values(
            max(int(values.low), ends[0]), min(int(values.high or 0), ends[1]), values.nan and operand.nan, null
        )
        self.narrow(number, narrowed)
        if narrowed.null:
            return
        low, high = int(narrowed.low), int(narrowed.high or 0)
        bounds = (1 - high, high) if call.operator == "abs" else (1 - high, 1 - low)
        argument = self.graph.arguments[number][0]
        nan = operand.nan and narrowed.nan
        self.narrow(
            argument,
            Values(
                max(int(operand.low), bounds[0]),
                min(int(operand.high or 0), bounds[1]) if low < high else int(operand.low),
                nan,
                operand.null,
            ),
        )

    def _narrow_cast(self, number: int, call: Call, values: Values, operand: Values) -> None:
        """Narrow a cast between numbers that keeps the order, and then its operand."""
        argument = self.graph.arguments[number][0]
        source = self.graph.get_type(argument)
        convert = find_monotone_cast(source, call.type) if source.numeric and call.type.numeric else None
        if convert is None:
            return
        nan = values.nan and (operand.nan if source in INFINITY else False)
        if operand.is_ordered:
            low, high = convert(int(operand.low)), convert(int(operand.high or 0) - 1) + 1
            narrowed = Values(max(int(values.low), low), min(int(values.high or 0), high), nan, values.null)
        else:
            narrowed = values._replace(high=values.low, nan=nan)
        self.narrow(number, narrowed)
        if narrowed.null:
            return
        if not narrowed.is_ordered:
            self.narrow(argument, operand._replace(high=operand.low, nan=operand.nan and narrowed.nan))
            return
        least, most = int(narrowed.low), int(narrowed.high or 0) - 1
        fewer = narrow_by_order(operand, lambda key: convert(key) >= least, lambda key: convert(key) <= most)
        self.narrow(argument, fewer._replace(nan=operand.nan and narrowed.nan))

    def _narrow_extreme(self, number: int, call: Call, values: Values, operands: list[Values]) -> None:
        """Narrow ``greatest`` or ``least`` of several terms, and then the terms.

        NULLs are passed over, and NaN is the largest number. A term that is not NULL bounds the call from one side.
        """
        kind, arguments = call.type, self.graph.arguments[number]
        is_greatest = call.operator == "greatest"
        ends = [operand.find_ends(kind) for operand in operands if operand.is_present]
        if not ends:
            self.narrow(number, values._replace(high=values.low, nan=False))
            return
        certain = [operand.find_ends(kind) for operand in operands if not operand.null]
        lows, highs = [low for low, _ in ends], [high for _, high in ends]
        high = None if None in highs else max(highs)  # type: ignore[type-var]
        low = min(lows)
        if certain and is_greatest:
            low = max(first for first, _ in certain)
        elif certain:
            known = [last for _, last in certain if last is not None]
            high = min(known) if known else high
        narrowed = values.restrict(kind, low, high)
        if certain:
            narrowed = narrowed.drop_null()
        self.narrow(number, narrowed)
        bottom, top = narrowed.find_ends(kind)
        for argument in arguments:
            operand = self.get_values(argument)
            if operand is not None:
                limits = (None, top) if is_greatest else (bottom, None)
                self.narrow(argument, operand.restrict(kind, *limits))


def _can_be_less(low: int | str, other_low: int | str, other_high: int | str | None) -> bool:
    """Return whether some value of an interval lies above the least value of another interval."""
    above = low + "\0" if isinstance(low, str) else low + 1
    return other_high is None or max(above, other_low) < other_high  # type: ignore[operator]


def _overlap(low: int | str, high: int | str | None, other_low: int | str, other_high: int | str | None) -> bool:
    """Return whether two intervals share a value."""
    first = max(low, other_low)
    return (high is None or first < high) and (other_high is None or first < other_high)  # type: ignore[operator]
