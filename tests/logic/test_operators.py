"""The sixteen binary operators as truth tables."""

from itertools import product

import pytest

from provenn.logic.operators import Operator

TABLES = {
    Operator.CONTRADICTION: lambda p, q: False,  # noqa: ARG005
    Operator.NEITHER: lambda p, q: not (p or q),
    Operator.CONVERSE_NONIMPLICATION: lambda p, q: q and not p,
    Operator.NOT_LEFT: lambda p, q: not p,  # noqa: ARG005
    Operator.NONIMPLICATION: lambda p, q: p and not q,
    Operator.NOT_RIGHT: lambda p, q: not q,  # noqa: ARG005
    Operator.EXCLUSIVE_OR: lambda p, q: p != q,
    Operator.NOT_BOTH: lambda p, q: not (p and q),
    Operator.CONJUNCTION: lambda p, q: p and q,
    Operator.EQUIVALENCE: lambda p, q: p == q,
    Operator.RIGHT: lambda p, q: q,  # noqa: ARG005
    Operator.IMPLICATION: lambda p, q: not p or q,
    Operator.LEFT: lambda p, q: p,  # noqa: ARG005
    Operator.CONVERSE_IMPLICATION: lambda p, q: p or not q,
    Operator.DISJUNCTION: lambda p, q: p or q,
    Operator.TAUTOLOGY: lambda p, q: True,  # noqa: ARG005
}


def test_there_are_sixteen_and_no_two_are_the_same():
    assert len(Operator) == len(TABLES) == 16


@pytest.mark.parametrize("operator", Operator)
def test_each_operator_means_what_its_name_says(operator):
    for p, q in product((False, True), repeat=2):
        assert operator(p, q) is TABLES[operator](p, q)
        assert operator.negation(p, q) is not operator(p, q)
