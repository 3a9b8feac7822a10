"""The theorem prover E (Debian: eprover): one propositional TPTP problem, and one process, for each question."""

from __future__ import annotations

from subprocess import run

from benchmarks.lineages import Kind, Lineage, Operation, Questions
from benchmarks.peers.peer import missing_command

__all__ = ["EProver"]


class EProver:
    """E reads the whole lineage again for each question; start-up is included (some 10 ms a question)."""

    name = "E"

    def missing(self) -> str:
        """Return how E could be installed, or an empty string."""
        return missing_command("eprover", "eprover")

    def answers(self, lineage: Lineage, questions: Questions) -> list[bool]:
        """Let E prove each question, or saturate."""
        axioms = "".join(_axioms(lineage))
        return [_proved(axioms + _conjecture(*row)) for row in questions.rows()]


def _axioms(lineage: Lineage) -> list[str]:
    forms = {
        Operation.SELECTION: "c{0} => c{1}",
        Operation.EQUAL: "c{0} <=> c{1}",
        Operation.INTERSECTION: "c{0} <=> (c{1} & c{2})",
        Operation.UNION: "c{0} <=> (c{1} | c{2})",
        Operation.DIFFERENCE: "c{0} <=> (c{1} & ~c{2})",
    }
    return [
        f"fof(a{number}, axiom, {forms[Operation(operation)].format(number, left, right)}).\n"
        for number, (operation, left, right) in enumerate(lineage.rows())
        if operation != Operation.BASE
    ]


def _conjecture(kind: int, left: int, right: int) -> str:
    forms = {Kind.EQUAL: "c{0} <=> c{1}", Kind.SUBSET: "c{0} => c{1}", Kind.DISJOINT: "~(c{0} & c{1})"}
    return f"fof(q, conjecture, {forms[Kind(kind)].format(left, right)}).\n"


def _proved(problem: str) -> bool:
    output = run(["eprover", "--silent"], input=problem, capture_output=True, text=True, check=False).stdout
    if "SZS status Theorem" in output:
        return True
    if "SZS status CounterSatisfiable" in output:
        return False
    raise RuntimeError(f"E answered neither way: {output}")
