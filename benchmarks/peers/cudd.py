"""CUDD through dd: every set is a binary decision diagram, and equal sets are the same one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from operator import and_, eq, invert, le, or_
from typing import Any

import numpy as np

from benchmarks.lineages import Kind, Lineage, Operation, Questions
from benchmarks.peers.formulas import Algebra, Formula
from benchmarks.peers.peer import Hierarchy, missing_module

__all__ = ["Cudd"]


class Cudd:
    """CUDD; variables in the order of the sets. Reordering, off here, costs six times as much at 10 000 sets."""

    name = "CUDD (dd)"

    def missing(self) -> str:
        """Return how dd with CUDD could be installed, or an empty string."""
        return missing_module("dd.cudd", "dd  (a wheel that holds dd.cudd)")

    def answers(self, lineage: Lineage, questions: Questions) -> list[bool]:
        """Compare diagrams: equal sets have the same one."""
        diagrams = import_module("dd.cudd").BDD()
        sets = _sets(diagrams, lineage)
        holds: dict[int, Callable[[Formula, Formula], bool]] = {
            Kind.EQUAL: eq,
            Kind.SUBSET: le,
            Kind.DISJOINT: lambda one, other: bool(one & other == diagrams.false),
        }
        return [holds[kind](sets[left], sets[right]) for kind, left, right in questions.rows()]

    def classify(self, lineage: Lineage) -> Hierarchy:
        """Compare all pairs of different diagrams."""
        classes: dict[Formula, list[int]] = {}
        for number, diagram in enumerate(_sets(import_module("dd.cudd").BDD(), lineage)):
            classes.setdefault(diagram, []).append(number)
        firsts = [members[0] for members in classes.values()]
        inside = np.array([[one <= other for other in classes] for one in classes], dtype=np.float32)
        np.fill_diagonal(inside, 0)
        direct = inside.astype(bool) & ~(inside @ inside).astype(bool)
        parents = {
            one: [firsts[other] for other in np.flatnonzero(row).tolist()]
            for one, row in zip(firsts, direct, strict=True)
        }
        return Hierarchy.of(len(lineage), classes.values(), parents)


def _sets(diagrams: Any, lineage: Lineage) -> list[Formula]:
    diagrams.configure(reordering=False)
    variables = np.flatnonzero(lineage.operations <= Operation.SELECTION).tolist()
    diagrams.declare(*(f"x{number}" for number in variables))
    return Algebra(lambda number: diagrams.var(f"x{number}"), and_, or_, partial(diagrams.apply, "xor"), invert).sets(
        lineage
    )
