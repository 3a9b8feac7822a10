"""A lineage as and-gates: what SAT solvers and logic synthesis read.

Base sets and the criteria of selections are inputs; a selection is its parent and a fresh input. A literal is
``2 * node + sign``. Node 0 is the constant false, the inputs come next, then the gates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.lineages import Kind, Lineage, Operation, Questions

__all__ = ["Gates", "Literals", "gates", "with_miters"]

Literals = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Gates:
    """And-gates over inputs.

    Parameters
    ----------
    inputs
        How many there are.
    operands
        The two literals of each gate; those of gate i are before node ``1 + inputs + i``.
    outputs
        The literals that somebody asked for.
    """

    inputs: int
    operands: Literals
    outputs: Literals


def gates(lineage: Lineage) -> Gates:
    """Return the lineage as gates; the outputs are its sets, in their order."""
    operations, left, right = lineage.operations, lineage.left, lineage.right
    is_input = operations <= Operation.SELECTION
    is_gate = (operations == Operation.SELECTION) | (operations >= Operation.INTERSECTION)
    inputs = int(is_input.sum())
    own_input = 2 * np.cumsum(is_input)
    literals = np.where(is_gate, 2 * (inputs + np.cumsum(is_gate)), own_input)
    literals += operations == Operation.UNION  # by De Morgan
    same = np.where(operations == Operation.EQUAL, left, np.arange(len(lineage)))
    while not np.array_equal(same, same[same]):
        same = same[same]
    literals = literals[same]

    kind = operations[is_gate]
    first = literals[left[is_gate]] ^ (kind == Operation.UNION)
    second = literals[right[is_gate]] ^ (kind >= Operation.UNION)
    second = np.where(kind == Operation.SELECTION, own_input[is_gate], second)
    return Gates(inputs, np.stack([first, second], axis=1), literals)


def with_miters(sets: Gates, questions: Questions) -> Gates:
    """Return the gates with one output for each question, which is constant false if and only if it holds."""
    first, second = sets.outputs[questions.left], sets.outputs[questions.right]
    equal = questions.kinds == Kind.EQUAL
    # Three gates a question, of which the last is the output: neither (first and second) nor (neither of them).
    next_gate = 2 * (1 + sets.inputs + len(sets.operands) + 3 * np.arange(len(questions)))
    both, neither = next_gate, next_gate + 2
    negated = questions.kinds == Kind.SUBSET
    operands = np.empty((len(questions), 3, 2), dtype=np.int64)
    operands[:, 0] = np.stack([first, second], axis=1)
    operands[:, 1] = np.stack([first ^ 1, second ^ 1], axis=1)
    operands[:, 2, 0] = np.where(equal, both ^ 1, first)
    operands[:, 2, 1] = np.where(equal, neither ^ 1, second ^ negated)
    return Gates(sets.inputs, np.concatenate([sets.operands, operands.reshape(-1, 2)]), next_gate + 4)
