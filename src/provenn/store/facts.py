"""Facts that no definition states: declared by people, or observed on the data."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Select, bindparam, func, select

from provenn.catalogs.digest import content_digest
from provenn.errors import CorruptArchiveError, UnknownFactError
from provenn.logic import Statement, statement
from provenn.store.cones import Definition, cone, in_batches, population_cone
from provenn.store.database import Reading
from provenn.store.tables import catalogs, fact_bases, fact_catalogs, facts

__all__ = [
    "Fact",
    "all_facts",
    "closed_cone",
    "fact",
    "fact_digest",
    "facts_about",
    "facts_touching",
    "state",
    "whole_population",
]


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement held true that no definition states.

    Parameters
    ----------
    id
        Its number, which no other fact ever has.
    statement
        What it says; the labels are digests of catalogs.
    reason
        Why it is held true.
    origin
        "declared" or "observed".
    declared_by, declared_at
        Who said so, and when.
    retracted_at, retracted_by, retracted_reason
        When it was taken back, by whom and why; None if it holds.
    """

    id: int
    statement: Statement
    reason: str
    origin: Literal["declared", "observed"]
    declared_by: str
    declared_at: datetime
    retracted_at: datetime | None = None
    retracted_by: str | None = None
    retracted_reason: str | None = None

    @property
    def holds(self) -> bool:
        """Whether it has not been retracted."""
        return self.retracted_at is None


def fact_digest(said: str, reason: str, origin: str, who: str) -> str:
    """Return the digest by which a fact that was changed is recognised."""
    return content_digest("fact", [said, reason, origin, who])


_FACTS = select(
    facts.c.id,
    facts.c.statement,
    facts.c.reason,
    facts.c.origin,
    facts.c.declared_by,
    facts.c.declared_at,
    facts.c.retracted_at,
    facts.c.retracted_by,
    facts.c.retracted_reason,
    facts.c.digest,
).order_by(facts.c.id)
_HOLDING = _FACTS.where(facts.c.retracted_at.is_(None))


def fact(reading: Reading, number: int) -> Fact:
    """Return the fact that has a number.

    Raises
    ------
    UnknownFactError
        If there is none.
    """
    for found in _read(reading, _FACTS.where(facts.c.id == number)):
        return found
    raise UnknownFactError(number)


def all_facts(reading: Reading, *, retracted: bool = False) -> tuple[Fact, ...]:
    """Return the facts that hold, or also those that were retracted, by number."""
    return tuple(_read(reading, _FACTS if retracted else _HOLDING))


def facts_about(reading: Reading, digest: str, *, retracted: bool = False) -> tuple[Fact, ...]:
    """Return the facts that mention a catalog, by number."""
    mentioning = select(fact_catalogs.c.fact).where(fact_catalogs.c.catalog == digest)
    return tuple(_read(reading, (_FACTS if retracted else _HOLDING).where(facts.c.id.in_(mentioning))))


def _touching() -> Select[tuple[int]]:
    """Return the query of the facts that speak of given base sets, or of base sets that such facts speak of, and so on.

    Every fact is filed under all base sets below what it mentions, those of descendants included, so that this
    closure needs no lineage.
    """
    here, there = fact_bases.alias("here"), fact_bases.alias("there")
    start = select(fact_bases.c.base).where(fact_bases.c.base.in_(bindparam("bases", expanding=True)))
    linked = start.cte("linked", recursive=True)
    further = (
        select(there.c.base)
        .join(here, here.c.fact == there.c.fact)
        .join(linked, linked.c.base == here.c.base)
        .join(facts, facts.c.id == there.c.fact)
        .where(facts.c.retracted_at.is_(None))
    )
    linked = linked.union(further)
    return select(fact_bases.c.fact).join(linked, linked.c.base == fact_bases.c.base)


_TOUCHING = _HOLDING.where(facts.c.id.in_(_touching()))


def facts_touching(reading: Reading, bases: Collection[str]) -> tuple[Fact, ...]:
    """Return all facts that can bear on sets made from some base sets, by number.

    That is: those about any catalog made from one of the base sets, be it a descendant; and, as such a fact may bring
    in other base sets, those about catalogs made from these, and so on.
    """
    found = {one.id: one for batch in in_batches(bases) for one in _read(reading, _TOUCHING, bases=batch)}
    return tuple(found[number] for number in sorted(found))


def closed_cone(reading: Reading, digests: Collection[str]) -> tuple[tuple[Definition, ...], tuple[Fact, ...]]:
    """Return all that bears on some catalogs: definitions, each after its dependencies, and facts.

    The definitions are those of the catalogs, of all catalogs that the facts mention, and of all their ancestors.
    """
    definitions = cone(reading, digests)
    known = {one.digest for one in definitions}
    touching = facts_touching(reading, [one.digest for one in definitions if one.is_base])
    mentioned = {label for one in touching for label in one.statement.labels}
    further = cone(reading, mentioned - known) if mentioned - known else ()
    return (*definitions, *(one for one in further if one.digest not in known)), touching


def whole_population(reading: Reading, population: str) -> tuple[tuple[Definition, ...], tuple[Fact, ...]]:
    """Return all that bears on any catalog of a population: as `closed_cone` of all of them, and faster."""
    definitions = population_cone(reading, population)
    return definitions, facts_touching(reading, [one.digest for one in definitions if one.is_base])


def state(reading: Reading) -> tuple[int, int, int]:
    """Return three numbers that change whenever a catalog is added, or a fact is declared, observed or retracted.

    No catalog and no fact is ever deleted, and no fact that was retracted holds again.
    """
    query = select(
        select(func.count()).select_from(catalogs).scalar_subquery(),
        select(func.count()).select_from(facts).scalar_subquery(),
        select(func.count(facts.c.retracted_at)).scalar_subquery(),
    )
    one, two, three = reading.connection.execute(query).one()
    return one, two, three


def _read(reading: Reading, query: Select[Any], **values: object) -> Iterable[Fact]:
    for number, said, *rest, digest in reading.connection.execute(query, values):
        reason, origin, who = rest[:3]
        if fact_digest(said, reason, origin, who) != digest:
            raise CorruptArchiveError(f"fact #{number} was changed after it was written")
        yield Fact(number, statement(said), *rest)
