"""Facts that no definition states: declared by people, or observed on the data."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Select, func, select

from provenn.catalogs.digest import content_digest
from provenn.errors import CorruptArchiveError, UnknownFactError
from provenn.logic import Statement, statement
from provenn.store import visibility
from provenn.store.cones import Definition, cone, in_batches, population_cone
from provenn.store.database import Reading
from provenn.store.populations import in_population
from provenn.store.tables import catalogs, fact_bases, fact_catalogs, facts
from provenn.store.visibility import Deed, Visibility, is_fact_for, seen, told_deeds

__all__ = [
    "Fact",
    "all_facts",
    "any_declared",
    "closed_cone",
    "fact",
    "fact_digest",
    "facts_about",
    "facts_numbered",
    "facts_touching",
    "filed_with",
    "latest",
    "since",
    "state",
    "visible",
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
    visibility, project
        Who sees it: who declared it, the members of a project, too, or everybody who sees the catalogs in it.
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
    visibility: Visibility = "public"
    project: str | None = None

    @property
    def holds(self) -> bool:
        """Whether it has not been retracted."""
        return self.retracted_at is None

    @property
    def words(self) -> str:
        """The fact in words: its number, who says so since when, what it says, and why."""
        source = f"{self.origin} by {self.declared_by} on {self.declared_at:%Y-%m-%d}"
        return f"fact #{self.id}, {source}: {self.statement}" + (f" ({self.reason})" if self.reason else "")


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
    facts.c.visibility,
    facts.c.project,
    facts.c.digest,
).order_by(facts.c.id)
_HOLDING = _FACTS.where(facts.c.retracted_at.is_(None))


def fact(reading: Reading, number: int) -> Fact:
    """Return the fact that has a number.

    Raises
    ------
    UnknownFactError
        If there is none that the viewer sees.
    """
    for found in _read(reading, _FACTS.where(facts.c.id == number)):
        return found
    raise UnknownFactError(number)


def latest(reading: Reading) -> int:
    """Return the highest number that a fact has; 0 if there is none."""
    return reading.connection.scalar(select(func.max(facts.c.id))) or 0


def since(reading: Reading, number: int) -> list[Fact]:
    """Return the facts that hold, came after the one that has a number, and may be used in proofs by the viewer."""
    usable = _HOLDING.where(is_fact_for(reading.viewer or reading.who))
    return _read(reading, usable.where(facts.c.id > number))


def facts_numbered(reading: Reading, numbers: Collection[int]) -> list[Fact]:
    """Return the facts that have some numbers and that the viewer sees, by number; also those that were retracted."""
    return [one for batch in in_batches(sorted(numbers)) for one in _read(reading, _FACTS.where(facts.c.id.in_(batch)))]


def all_facts(reading: Reading, *, retracted: bool = False) -> tuple[Fact, ...]:
    """Return the facts that hold, or also those that were retracted, by number; all that the viewer sees."""
    return tuple(_read(reading, _FACTS if retracted else _HOLDING))


def facts_about(reading: Reading, digest: str, *, retracted: bool = False) -> tuple[Fact, ...]:
    """Return the facts that mention a catalog, by number."""
    mentioning = select(fact_catalogs.c.fact).where(fact_catalogs.c.catalog == digest)
    return tuple(_read(reading, (_FACTS if retracted else _HOLDING).where(facts.c.id.in_(mentioning))))


def any_declared(reading: Reading, numbers: Collection[int]) -> bool:
    """Tell whether some numbers are of facts that people have said, and data have not shown."""
    found = select(facts.c.id).where(facts.c.origin == "declared")
    return any(
        reading.connection.execute(found.where(facts.c.id.in_(batch)).limit(1)).first() is not None
        for batch in in_batches(numbers)
    )


def visible(reading: Reading, numbers: Collection[int]) -> frozenset[int]:
    """Return those of some numbers of facts that may be used in the proofs of who asks."""
    usable = _FACTS.where(is_fact_for(reading.viewer or reading.who))
    batches = in_batches(numbers)
    return frozenset(one.id for batch in batches for one in _read(reading, usable.where(facts.c.id.in_(batch))))


def facts_touching(reading: Reading, bases: Collection[str]) -> tuple[Fact, ...]:
    """Return all facts that can bear on sets made from some base sets, by number, as far as who asks may know them.

    That is: those about any catalog made from one of the base sets, be it a descendant; and, as such a fact may bring
    in other base sets, those about catalogs made from these, and so on. Every fact is filed under all base sets below
    what it mentions, those of descendants included, so that this needs no lineage.
    """
    usable = _HOLDING.where(is_fact_for(reading.viewer or reading.who))
    found: dict[int, Fact] = {}
    passed, frontier = set[str](), set(bases)
    while frontier:
        passed |= frontier
        new = {
            one.id: one
            for batch in in_batches(frontier)
            for one in _read(reading, usable.where(facts.c.id.in_(_filed_under(batch))))
            if one.id not in found
        }
        found |= new
        frontier = {base for batch in in_batches(new) for base in reading.connection.scalars(_bases_of(batch))} - passed
    return tuple(found[number] for number in sorted(found))


def filed_with(reading: Reading, bases: Collection[str]) -> frozenset[int]:
    """Return the numbers of all facts that hold and can bear on sets made from some base sets, whoever knows them."""
    found, passed, frontier = set[int](), set[str](), set(bases)
    holding = select(facts.c.id).where(facts.c.retracted_at.is_(None))
    while frontier:
        passed |= frontier
        there = (holding.where(facts.c.id.in_(_filed_under(batch))) for batch in in_batches(frontier))
        new = {number for query in there for number in reading.connection.scalars(query)} - found
        found |= new
        frontier = {base for batch in in_batches(new) for base in reading.connection.scalars(_bases_of(batch))} - passed
    return frozenset(found)


def _filed_under(bases: Collection[str]) -> Select[int]:
    return select(fact_bases.c.fact).where(fact_bases.c.base.in_(bases))


def _bases_of(numbers: Collection[int]) -> Select[str]:
    return select(fact_bases.c.base).where(fact_bases.c.fact.in_(numbers)).distinct()


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
    if reading.viewer is not None:
        return closed_cone(reading, in_population(reading, population))
    definitions = population_cone(reading, population)
    return definitions, facts_touching(reading, [one.digest for one in definitions if one.is_base])


def state(reading: Reading) -> Hashable:
    """Return something that changes whenever a catalog is added, or a fact is declared, observed or retracted.

    No catalog and no fact is ever deleted, and no fact that was retracted holds again. For a viewer it also changes
    whenever something may have become visible or invisible to him.
    """
    query = select(
        select(func.count()).select_from(catalogs).scalar_subquery(),
        select(func.count()).select_from(facts).scalar_subquery(),
        select(func.count(facts.c.retracted_at)).scalar_subquery(),
    )
    return tuple(reading.connection.execute(query).one()), visibility.state(reading)


def _read(reading: Reading, query: Select[Any]) -> list[Fact]:
    """Return the facts of a query that the viewer sees."""
    if reading.viewer is not None:
        query = query.where(is_fact_for(reading.viewer))
    found = []
    for number, said, *rest, digest in reading.connection.execute(query):
        reason, origin, who = rest[:3]
        if fact_digest(said, reason, origin, who) != digest:
            raise CorruptArchiveError(f"fact #{number} was changed after it was written")
        found.append(Fact(number, statement(said), *rest))
    return found if reading.viewer is None else _told(reading, found)


def _told(reading: Reading, found: Collection[Fact]) -> list[Fact]:
    """Return those of some facts all of whose catalogs the viewer sees; what was observed, if he may know of it."""
    there = seen(reading, {label for one in found for label in one.statement.labels})
    known = [one for one in found if there.issuperset(one.statement.labels)]
    deeds = {one.id: _deeds(one) for one in known if one.origin == "observed"}
    told = told_deeds(reading, {deed for several in deeds.values() for deed in several})
    return [one for one in known if told.issuperset(deeds.get(one.id, ()))]


def _deeds(one: Fact) -> list[Deed]:
    return [Deed(label, one.declared_by, one.declared_at) for label in one.statement.labels]
