"""cvc5: the lineage as one shared term; each question is checked under an assumption."""

from __future__ import annotations

from functools import partial
from importlib import import_module

from benchmarks.lineages import Lineage, Questions
from benchmarks.peers.formulas import Algebra
from benchmarks.peers.peer import missing_module

__all__ = ["Cvc5"]


class Cvc5:
    """cvc5 through its Python interface, incremental."""

    name = "cvc5"

    def missing(self) -> str:
        """Return how cvc5 could be installed, or an empty string."""
        return missing_module("cvc5", "cvc5")

    def answers(self, lineage: Lineage, questions: Questions) -> list[bool]:
        """Check whether what would refute a statement is satisfiable."""
        cvc5 = import_module("cvc5")
        terms = cvc5.TermManager()
        boolean = terms.getBooleanSort()
        kinds = (cvc5.Kind.AND, cvc5.Kind.OR, cvc5.Kind.XOR, cvc5.Kind.NOT)
        algebra = Algebra(lambda _: terms.mkConst(boolean), *(partial(terms.mkTerm, kind) for kind in kinds))
        solver = cvc5.Solver(terms)
        solver.setLogic("QF_UF")
        solver.setOption("incremental", "true")
        regions = algebra.regions(lineage, questions)
        return [bool(solver.checkSatAssuming(region).isUnsat()) for region in regions]
