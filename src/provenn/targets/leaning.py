"""Which facts an answer leans on: what people declared, and what was observed in data."""

from __future__ import annotations

from collections.abc import Iterator

from provenn.logic import Statement
from provenn.store.facts import Fact
from provenn.targets.plan import Plan
from provenn.targets.planning import without_declared

__all__ = ["declared_facts", "leaning"]


def leaning(plan: Plan) -> list[int]:
    """Return the numbers of the declared and observed facts on which a plan leans, and on which what it reads does.

    A statement that definitions prove leans on no fact, and one that observations prove on no declaration. A plan
    whose steps would be the same without any declaration leans on none, whatever was looked at on the way to it.
    """
    found = _cited(plan)
    declared = {fact.id for fact in plan.scene.known.facts if fact.origin == "declared"}
    if found & declared and all(map(plan.scene.certain, plan.covering)):
        other = without_declared(plan)
        if other.after.signature == plan.after.signature:
            found = _cited(other)
    return sorted(found)


def declared_facts(plan: Plan) -> tuple[Fact, ...]:
    """Return the declared facts on which a plan leans, by number; without those that observations prove, too."""
    declared = {fact.id: fact for fact in plan.scene.known.facts if fact.origin == "declared"}
    cited = [declared[number] for number in leaning(plan) if number in declared] if declared else []
    return tuple(fact for fact in cited if not plan.scene.certain(fact.statement))


def _cited(plan: Plan) -> set[int]:
    found = {number for fragment in plan.fragments for number in fragment.facts}
    known = plan.scene.known
    if not known.facts:
        return found
    defined = known.without("declared", "observed").knowledge
    certain = plan.scene.undeclared
    for said in {str(one): one for one in _statements(plan)}.values():
        if not defined.entails(said):
            source = certain if certain.knowledge.entails(said) else known
            found |= {origin.fact for _, origin in source.because(said) if origin.fact}
    return found


def _statements(plan: Plan) -> Iterator[Statement]:
    yield from plan.covering
    for applied in plan.applied:
        yield from applied.said
        yield from applied.leaned
