"""The values of terms that read no attributes."""

from __future__ import annotations

import math
from dataclasses import replace

from provenn.criteria.domains import encode_double
from provenn.criteria.folding import evaluate
from provenn.criteria.nodes import Call, Condition, Constant, Node, Truth
from provenn.criteria.ranges import Ranges
from provenn.criteria.types import DOUBLE

__all__ = ["evaluate_constant", "reduce_constant"]

_NUMBERS = {"pi": math.pi, "e": math.e}  # the same doubles in Java


def evaluate_constant(node: Node) -> Constant | None:
    """Return the value of a node that reads no attribute, or None if the value is not known.

    Criteria keep ``pi()`` and ``e()`` as they are; here they are numbers.
    """
    match node:
        case Call(("pi" | "e") as name, ()):
            return Constant(DOUBLE, encode_double(_NUMBERS[name]))
        case Call(_, arguments):
            constants = [evaluate_constant(argument) for argument in arguments]
            known = tuple(constant for constant in constants if constant is not None)
            return evaluate(replace(node, arguments=known)) if len(known) == len(arguments) else None
    return evaluate(node)


def reduce_constant(term: Node, where: Ranges) -> Condition | None:
    """Reduce a constant: its value lies in the ranges for all sources, or for none."""
    constant = evaluate_constant(term)
    if constant is None:
        return None
    return Truth(constant.key is not None and constant.key in where)
