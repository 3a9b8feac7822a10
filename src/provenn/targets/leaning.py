"""The declared and observed facts on which an answer depends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from provenn.knowledge.stored_facts import Fact
from provenn.logic import Statement
from provenn.targets.plan import Plan
from provenn.targets.replanning import replan_without_declared

__all__ = ["Basis", "find_basis", "find_declared_facts", "find_supporting_facts"]


@dataclass(frozen=True, slots=True)
class Basis:
    """The facts behind a plan.

    Attributes
    ----------
    numbers
        The numbers of all declared and observed facts behind the plan, sorted.
    declared
        The declared facts behind the plan, without facts proved by observations.
    """

    numbers: tuple[int, ...]
    declared: tuple[Fact, ...]


def find_basis(plan: Plan) -> Basis:
    """Return the facts behind a plan."""
    numbers = find_supporting_facts(plan)
    declared = {fact.id: fact for fact in plan.scene.known.facts if fact.origin == "declared"}
    cited = [declared[number] for number in numbers if number in declared]
    return Basis(tuple(numbers), tuple(fact for fact in cited if not plan.scene.is_certain(fact.statement)))


def find_supporting_facts(plan: Plan) -> list[int]:
    """Return the numbers of all declared and observed facts behind a plan and the fragments read.

    A statement proved by definitions needs no fact, and a statement proved by observations needs no declared fact. If
    the steps would be the same without declared facts, the plan needs none, whatever facts planning looked at.
    """
    cited = _find_cited_facts(plan)
    declared = {fact.id for fact in plan.scene.known.facts if fact.origin == "declared"}
    if cited & declared and all(map(plan.scene.is_certain, plan.coverage)):
        undeclared_plan = replan_without_declared(plan)
        if undeclared_plan.after.signature == plan.after.signature:
            cited = _find_cited_facts(undeclared_plan)
    return sorted(cited)


def find_declared_facts(plan: Plan) -> tuple[Fact, ...]:
    """Return the declared facts behind a plan, by number, without facts proved by observations."""
    return find_basis(plan).declared if plan.scene.has_declared_facts else ()


def _find_cited_facts(plan: Plan) -> set[int]:
    """Return the numbers of the facts in the proofs of a plan and behind the fragments read."""
    numbers = {number for fragment in plan.fragments for number in fragment.facts}
    known = plan.scene.known
    if not known.facts:
        return numbers
    certain = plan.scene.undeclared_knowledge
    for statement in {str(statement): statement for statement in _iterate_statements(plan)}.values():
        if not plan.scene.is_defined(statement):
            source = certain if certain.knowledge.entails(statement) else known
            numbers |= {origin.fact for _, origin in source.because(statement) if origin.fact}
    return numbers


def _iterate_statements(plan: Plan) -> Iterator[Statement]:
    """Yield all statements that planning and the applied rules used."""
    yield from plan.coverage
    for applied in plan.applied:
        yield from applied.statements
        yield from applied.used_statements
