"""Facts seen in the data. They are stronger than what people say: a declaration that they contradict is suspended."""

from __future__ import annotations

from dataclasses import dataclass

from provenn.errors import ContradictionError
from provenn.logic import Statement
from provenn.store.database import Writing
from provenn.store.declarations import declare, suspend
from provenn.store.facts import Fact, closed_cone, fact
from provenn.store.visibility import Deed, as_seen_by, told_deeds

__all__ = ["Observed", "observe"]


@dataclass(frozen=True, slots=True)
class Observed:
    """What was observed: the fact that is held true now, and the declarations that it suspends."""

    fact: Fact
    suspended: tuple[Fact, ...] = ()


def observe(writing: Writing, said: Statement, reason: str) -> Observed:
    """Hold true what the data show. Declarations that cannot be true beside it are retracted.

    Only those of a minimal conflict are, one such conflict after the other, until the rest fits. Where catalogs are
    hidden from people, a declaration of somebody who may not know what was seen stays as it is.

    Parameters
    ----------
    writing
        The transaction.
    said
        What the data show; the labels are digests of catalogs of one population.
    reason
        How that was seen.

    Raises
    ------
    ContradictionError
        If it contradicts definitions, or what was observed before. Then nothing is retracted.
    UnknownCatalogError, PopulationError, FactError
        As for `declare`.
    """
    suspended: list[Fact] = []
    nested = writing.connection.begin_nested()
    try:
        while True:
            try:
                observed = declare(writing, said, reason, origin="observed")
            except ContradictionError as error:
                against = set(error.conflict.facts)
                known = closed_cone(writing, said.labels)[1]
                doubted = [one for one in known if one.origin == "declared" and one.statement in against]
                # What fewer people know goes first: otherwise others would see that there is more than they know.
                doubted = [one for one in doubted if one.visibility != "public"] or doubted
                doubted = [one for one in doubted if _may_know(writing, one.declared_by, said)]
                if not doubted:
                    raise
                for one in doubted:
                    suspend(writing, one.id, f"suspended: contradicted by observation: {reason}")
                    suspended.append(fact(writing, one.id))
            else:
                nested.commit()
                return Observed(observed, tuple(suspended))
    except BaseException:
        nested.rollback()
        raise


def _may_know(writing: Writing, person: str, said: Statement) -> bool:
    """Whether a person may know what is observed just now."""
    if writing.viewer is None:
        return True
    deeds = frozenset(Deed(label, writing.who, writing.when) for label in said.labels)
    return told_deeds(as_seen_by(writing, person), deeds) == deeds
