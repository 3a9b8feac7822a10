"""Facts observed in the data. An observation outranks declarations, and suspends contradicting declarations."""

from __future__ import annotations

from dataclasses import dataclass

from provenn.database.transactions import Writing
from provenn.definitions import catalog_store
from provenn.errors import ContradictionError
from provenn.knowledge.declarations import declare_fact, suspend_fact
from provenn.knowledge.recorded_platforms import describe_platform
from provenn.knowledge.stored_facts import SUSPENDED, Fact, get_fact, list_catalogs, read_closed_cone
from provenn.logic import Statement
from provenn.people.visibility import CatalogAction, filter_visible_actions, view_as

__all__ = ["ObservedFact", "observe_fact"]


@dataclass(frozen=True, slots=True)
class ObservedFact:
    """An observed fact, and the declared facts suspended by the observation."""

    fact: Fact
    suspended: tuple[Fact, ...] = ()


def observe_fact(writing: Writing, statement: Statement, reason: str) -> ObservedFact:
    """Record an observed statement, and suspend contradicting declared facts.

    Only the declared facts of a minimal conflict are suspended, one conflict after another, until the remaining facts
    are consistent. If catalogs are hidden from people, a declarer who may not know the observation keeps the fact.

    Parameters
    ----------
    writing
        The transaction.
    statement
        The statement that the data show; its labels are digests of catalogs of one population.
    reason
        How the statement was observed.

    Raises
    ------
    ContradictionError
        If the statement contradicts definitions or earlier observations. Then nothing is suspended.
    UnknownCatalogError, PopulationError, FactError
        As for `declare_fact`.
    """
    suspended: list[Fact] = []
    platform = describe_platform(writing, *catalog_store.get_catalogs(writing, list_catalogs(statement)).values())
    nested = writing.connection.begin_nested()
    try:
        while True:
            try:
                observed = declare_fact(writing, statement, reason, origin="observed", platform=platform)
            except ContradictionError as error:
                conflicting = set(error.conflict.facts)
                known = read_closed_cone(writing, list_catalogs(statement))[1]
                doubted = [fact for fact in known if fact.origin == "declared" and fact.statement in conflicting]
                # Less visible facts go first: otherwise other people would notice that hidden facts exist.
                doubted = [fact for fact in doubted if fact.visibility != "public"] or doubted
                doubted = [fact for fact in doubted if _may_know(writing, fact.declared_by, statement)]
                if not doubted:
                    raise
                for fact in doubted:
                    suspend_fact(writing, fact.id, f"{SUSPENDED}contradicted by observation: {reason}")
                    suspended.append(get_fact(writing, fact.id))
            else:
                nested.commit()
                return ObservedFact(observed, tuple(suspended))
    except BaseException:
        nested.rollback()
        raise


def _may_know(writing: Writing, person: str, statement: Statement) -> bool:
    """Whether a person may know that this transaction observes a statement."""
    if writing.viewer is None:
        return True
    actions = frozenset(CatalogAction(digest, writing.who, writing.when) for digest in list_catalogs(statement))
    return filter_visible_actions(view_as(writing, person), actions) == actions
