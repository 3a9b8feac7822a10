"""The sixteen binary operators."""

from __future__ import annotations

from enum import Enum

__all__ = ["Operator"]


class Operator(Enum):
    """A binary operator; the value is the truth table.

    The table has four digits: the result if both operands hold, if only the left operand holds, if only the right
    operand holds, and if neither holds: ``"1011"`` is the implication.

    Examples
    --------
    >>> Operator("1011")
    <Operator.IMPLICATION: '1011'>
    >>> Operator.IMPLICATION(True, False)
    False
    """

    CONTRADICTION = "0000"
    NEITHER = "0001"
    CONVERSE_NONIMPLICATION = "0010"
    NOT_LEFT = "0011"
    NONIMPLICATION = "0100"
    NOT_RIGHT = "0101"
    EXCLUSIVE_OR = "0110"
    NOT_BOTH = "0111"
    CONJUNCTION = "1000"
    EQUIVALENCE = "1001"
    RIGHT = "1010"
    IMPLICATION = "1011"
    LEFT = "1100"
    CONVERSE_IMPLICATION = "1101"
    DISJUNCTION = "1110"
    TAUTOLOGY = "1111"

    def __call__(self, left: bool, right: bool) -> bool:
        """Return the result for the truth of the operands."""
        return self.value[2 * (not left) + (not right)] == "1"

    @property
    def negation(self) -> Operator:
        """The operator with the opposite results."""
        return Operator(self.value.translate({ord("0"): "1", ord("1"): "0"}))
