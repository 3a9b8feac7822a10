"""python-sat on the whole graph: one incremental solver, one or two calls under assumptions for each question."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from benchmarks.lineages import Kind, Lineage, Questions
from benchmarks.peers.gates import Literals, gates
from benchmarks.peers.peer import missing_module

__all__ = ["PythonSat"]


class PythonSat:
    """The Tseitin clauses of the whole lineage in MiniSat, the fastest of its solvers here (CaDiCaL is close)."""

    name = "python-sat, whole graph"

    def missing(self) -> str:
        """Return how python-sat could be installed, or an empty string."""
        return missing_module("pysat.solvers", "python-sat")

    def answers(self, lineage: Lineage, questions: Questions) -> list[bool]:
        """Ask for an object that is where, if the statement holds, nothing is."""
        circuit = gates(lineage)
        nodes = 1 + circuit.inputs + np.arange(len(circuit.operands))
        left, right = _variables(circuit.operands).T
        clauses = [
            *np.stack([-nodes, left], axis=1).tolist(),
            *np.stack([-nodes, right], axis=1).tolist(),
            *np.stack([nodes, -left, -right], axis=1).tolist(),
        ]
        sets = _variables(circuit.outputs).tolist()
        with import_module("pysat.solvers").Minisat22(bootstrap_with=clauses) as solver:
            found = []
            for kind, one, other in questions.rows():
                first, second = sets[one], sets[other]
                if kind == Kind.DISJOINT:
                    holds = not solver.solve([first, second])
                else:
                    holds = not solver.solve([first, -second])
                    if kind == Kind.EQUAL:
                        holds = holds and not solver.solve([-first, second])
                found.append(holds)
        return found


def _variables(literals: Literals) -> Literals:
    return np.where(literals & 1, -(literals >> 1), literals >> 1)
