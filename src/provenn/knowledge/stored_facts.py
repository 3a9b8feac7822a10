"""Facts that no definition states: declared by people, or observed in the data."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from sqlalchemy import Select, bindparam, func, select

from provenn.batches import split_batches
from provenn.database.tables import catalogs, fact_bases, fact_catalogs, facts
from provenn.definitions.ancestors import StoredDefinition, filter_held, read_cone, read_population_cone
from provenn.definitions.populations import find_catalogs_in_population
from provenn.digests import CatalogDigest, content_digest
from provenn.errors import CorruptArchiveError, UnknownFactError
from provenn.logic import Statement, statement
from provenn.logic.statements import Property, SetComparison
from provenn.people import visibility
from provenn.people.visibility import CatalogAction, Visibility, filter_visible, filter_visible_actions, is_open_fact

if TYPE_CHECKING:
    from provenn.database.transactions import Reading

__all__ = [
    "SUSPENDED",
    "Fact",
    "add_constituents",
    "add_defined_sets",
    "compute_fact_digest",
    "excludes_objects",
    "find_all_facts",
    "find_facts_about",
    "find_facts_since",
    "find_facts_touching",
    "find_filed_numbers",
    "find_latest_number",
    "find_usable_numbers",
    "get_fact",
    "get_facts",
    "has_declared_fact",
    "list_catalogs",
    "read_closed_cone",
    "read_knowledge_state",
    "read_whole_population",
]

SUSPENDED: Final = "suspended: "
"""The mark before the reason of a suspension in the database; `Fact.suspended` reads it, and nothing else does."""

_MOST_CONSTITUENTS: Final = 16
"""The most constituents of versions that a question reads whatever is known of them."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement held true that no definition states.

    Parameters
    ----------
    id
        The number of the fact, which is never used again.
    statement
        The statement; its labels are digests of catalogs.
    reason
        Why the statement is held true.
    origin
        "declared" or "observed".
    declared_by, declared_at
        The person and the time of the declaration or observation.
    retracted_at, retracted_by, retracted_reason
        The time, person and reason of the retraction; None if the fact holds.
    visibility, project
        The people that see the fact: its declarer; also the members of a project; or everybody that sees its catalogs.
    platform
        The platform on which the fact was observed, if the sources of its catalogs may differ on another platform.
        Then the fact is known on this platform alone.
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
    platform: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the fact has not been retracted."""
        return self.retracted_at is None

    @property
    def catalogs(self) -> tuple[CatalogDigest, ...]:
        """The digests of the catalogs in the statement, as long as the labels are digests and not names."""
        return list_catalogs(self.statement)

    @property
    def suspended(self) -> bool:
        """Whether facts or data contradict the fact, so that the fact is no longer used."""
        return not self.holds and (self.retracted_reason or "").startswith(SUSPENDED)

    @property
    def ended_because(self) -> str:
        """The reason for the retraction or suspension; empty if the fact holds."""
        return (self.retracted_reason or "").removeprefix(SUSPENDED)

    def __repr__(self) -> str:
        state = "suspended" if self.suspended else "" if self.holds else "retracted"
        return f"<Fact #{self.id}, {self.origin}{state and f' and {state}'}: {self.statement}>"

    @property
    def words(self) -> str:
        """The fact in words: number, origin, person, date, statement and reason."""
        source = f"{self.origin} by {self.declared_by} on {self.declared_at:%Y-%m-%d}"
        return f"fact #{self.id}, {source}: {self.statement}" + (f" ({self.reason})" if self.reason else "")


def list_catalogs(statement: Statement) -> tuple[CatalogDigest, ...]:
    """Return the digests of the catalogs in a statement about catalogs: the labels of the statement."""
    return tuple(map(CatalogDigest, statement.labels))


def compute_fact_digest(text: str, reason: str, origin: str, who: str) -> str:
    """Return the digest of a fact, to reveal later changes of the row; `text` is the statement."""
    return content_digest("fact", [text, reason, origin, who])


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
    facts.c.platform,
    facts.c.digest,
).order_by(facts.c.id)
_HOLDING = _FACTS.where(facts.c.retracted_at.is_(None))
# These are built once: building and comparing a query takes longer than its answer.
_FACTS_OF_BASES = select(fact_bases.c.fact).where(fact_bases.c.base.in_(bindparam("bases", expanding=True)))
_BASES_OF_FACTS = (
    select(fact_bases.c.base).where(fact_bases.c.fact.in_(bindparam("numbers", expanding=True))).distinct()
)
_NUMBERED = _FACTS.where(facts.c.id.in_(bindparam("numbers", expanding=True)))
_USABLE_NUMBERED = _NUMBERED.where(is_open_fact(bindparam("person")))
_TOUCHING = _HOLDING.where(is_open_fact(bindparam("person")), facts.c.id.in_(_FACTS_OF_BASES))
_TOUCHING_NUMBERS = select(facts.c.id).where(facts.c.retracted_at.is_(None), facts.c.id.in_(_FACTS_OF_BASES))
_ABOUT = _FACTS.where(
    facts.c.id.in_(select(fact_catalogs.c.fact).where(fact_catalogs.c.catalog == bindparam("catalog")))
)
_HOLDING_ABOUT = _ABOUT.where(facts.c.retracted_at.is_(None))
_DECLARED = (
    select(facts.c.id)
    .where(facts.c.origin == "declared", facts.c.id.in_(bindparam("numbers", expanding=True)))
    .limit(1)
)


def get_fact(reading: Reading, number: int) -> Fact:
    """Return the fact with a number, on any platform.

    Raises
    ------
    UnknownFactError
        If the viewer sees no fact with this number.
    """
    for fact in _read_facts(reading, _NUMBERED, {"numbers": [number]}, everywhere=True):
        return fact
    raise UnknownFactError(number)


def find_latest_number(reading: Reading) -> int:
    """Return the highest number of a fact; 0 without facts."""
    return reading.connection.scalar(select(func.max(facts.c.id))) or 0


def find_facts_since(reading: Reading, number: int) -> list[Fact]:
    """Return the valid facts with a higher number, usable in the asking person's proofs."""
    usable = _HOLDING.where(is_open_fact(reading.viewer or reading.who))
    return _read_facts(reading, usable.where(facts.c.id > number))


def get_facts(reading: Reading, numbers: Collection[int]) -> list[Fact]:
    """Return the visible facts with some numbers, by number, retracted facts included."""
    batches = split_batches(sorted(numbers))
    return [fact for batch in batches for fact in _read_facts(reading, _NUMBERED, {"numbers": batch})]


def find_all_facts(reading: Reading, *, retracted: bool = False) -> tuple[Fact, ...]:
    """Return all visible facts, by number; retracted facts only if `retracted`."""
    return tuple(_read_facts(reading, _FACTS if retracted else _HOLDING))


def find_facts_about(reading: Reading, digest: CatalogDigest, *, retracted: bool = False) -> tuple[Fact, ...]:
    """Return the visible facts about a catalog, by number; retracted facts only if `retracted`."""
    return tuple(_read_facts(reading, _ABOUT if retracted else _HOLDING_ABOUT, {"catalog": digest}))


def has_declared_fact(reading: Reading, numbers: Collection[int]) -> bool:
    """Tell whether any of the numbered facts was declared by a person, not observed in the data."""
    return any(
        reading.connection.execute(_DECLARED, {"numbers": batch}).first() is not None
        for batch in split_batches(numbers)
    )


def find_usable_numbers(reading: Reading, numbers: Collection[int]) -> frozenset[int]:
    """Return the numbers of the facts usable in the asking person's proofs."""
    person = reading.viewer or reading.who
    batches = split_batches(numbers)
    return frozenset(
        fact.id
        for batch in batches
        for fact in _read_facts(reading, _USABLE_NUMBERED, {"person": person, "numbers": batch})
    )


def find_facts_touching(reading: Reading, bases: Collection[CatalogDigest]) -> tuple[Fact, ...]:
    """Return all facts bearing on sets made from base sets, as far as the asking person may know, by number.

    These are the facts about any catalog made from a given base set, descendants included. Such a fact may involve
    further base sets; then the facts about catalogs made from these count, too, and so on. Every fact is filed under
    all base sets in the lineages of its catalogs, so this search reads no lineage.
    """
    person = reading.viewer or reading.who
    touching: dict[int, Fact] = {}
    passed, frontier = set[CatalogDigest](), set(bases)
    while frontier:
        passed |= frontier
        new = {
            fact.id: fact
            for batch in split_batches(frontier)
            for fact in _read_facts(reading, _TOUCHING, {"person": person, "bases": batch})
            if fact.id not in touching
        }
        touching |= new
        frontier = _find_bases_of_facts(reading, new) - passed
    return tuple(touching[number] for number in sorted(touching))


def find_filed_numbers(reading: Reading, bases: Collection[CatalogDigest]) -> frozenset[int]:
    """Return the numbers of all valid facts bearing on sets made from base sets, ignoring visibility."""
    numbers, passed, frontier = set[int](), set[CatalogDigest](), set(bases)
    while frontier:
        passed |= frontier
        new = {
            number
            for batch in split_batches(frontier)
            for number in reading.connection.scalars(_TOUCHING_NUMBERS, {"bases": batch})
        } - numbers
        numbers |= new
        frontier = _find_bases_of_facts(reading, new) - passed
    return frozenset(numbers)


def _find_bases_of_facts(reading: Reading, numbers: Collection[int]) -> set[CatalogDigest]:
    """Return the base sets in the lineages of the catalogs of facts."""
    batches = split_batches(numbers)
    return {base for batch in batches for base in reading.connection.scalars(_BASES_OF_FACTS, {"numbers": batch})}


def excludes_objects(statement: Statement) -> bool:
    """Return whether a statement may exclude objects from a set; any other only says that some set has an object."""
    return not isinstance(statement, SetComparison | Property) or not all(
        claim.inhabited for claim in statement.claims()
    )


def add_constituents(reading: Reading, definitions: Sequence[StoredDefinition]) -> tuple[StoredDefinition, ...]:
    """Return definitions with those of constituents of base catalogs, of these again, and so on.

    A version of a base catalog states which sources it has of others, and what the files of these say of themselves
    bears on it, too. So their definitions are returned whether or not the viewer sees them, as for the index of a
    population; facts and counts of theirs are known only to those who see them. Imported versions may have constituents
    that the archive does not hold.

    Of many constituents, such as the files of a year, only those are returned that facts limit: what the others state
    of themselves decides few questions, and would make each of them take longer with each file.
    """
    known = {definition.digest: definition for definition in definitions}
    passed = set(known)
    new: Sequence[StoredDefinition] = definitions
    while further := {digest for definition in new for digest in definition.constituents} - passed:
        passed |= further
        held = filter_held(reading, further)
        if len(passed) - len(definitions) > _MOST_CONSTITUENTS:
            held = _filter_limited(reading, held)
        cone = read_cone(replace(reading, viewer=None), held) if held else ()
        new = [definition for definition in cone if definition.digest not in known]
        known |= {definition.digest: definition for definition in new}
    return tuple(known.values())


def _filter_limited(reading: Reading, bases: Collection[CatalogDigest]) -> set[CatalogDigest]:
    """Return the base sets that a fact may limit: one that states more than that some set has a source."""
    limiting = [fact.id for fact in find_facts_touching(reading, bases) if excludes_objects(fact.statement)]
    return _find_bases_of_facts(reading, limiting).intersection(bases)


def read_closed_cone(
    reading: Reading, digests: Collection[CatalogDigest]
) -> tuple[tuple[StoredDefinition, ...], tuple[Fact, ...]]:
    """Return all definitions and facts bearing on some catalogs, each definition after its dependencies.

    The definitions are of the catalogs, of all catalogs in the facts, of all ancestors of both, and of the base
    catalogs from which versions of others take their sources.
    """
    definitions = add_constituents(reading, read_cone(reading, digests))
    while True:
        touching = find_facts_touching(reading, [definition.digest for definition in definitions if definition.is_base])
        extended = add_defined_sets(reading, definitions, touching)
        definitions = add_constituents(reading, extended)
        if len(definitions) == len(extended):
            return definitions, touching


def add_defined_sets(
    reading: Reading, definitions: Sequence[StoredDefinition], facts: Iterable[Fact]
) -> tuple[StoredDefinition, ...]:
    """Return definitions with those of the catalogs in facts and of their ancestors, each after its dependencies."""
    known = {definition.digest for definition in definitions}
    mentioned = {digest for fact in facts for digest in fact.catalogs} - known
    further = read_cone(reading, mentioned) if mentioned else ()
    return (*definitions, *(definition for definition in further if definition.digest not in known))


def read_whole_population(reading: Reading, population: str) -> tuple[tuple[StoredDefinition, ...], tuple[Fact, ...]]:
    """Return all definitions and facts bearing on a population: `read_closed_cone` of all catalogs, but faster."""
    if reading.viewer is not None:
        return read_closed_cone(reading, find_catalogs_in_population(reading, population))
    definitions = read_population_cone(reading, population)
    bases = [definition.digest for definition in definitions if definition.is_base]
    return definitions, find_facts_touching(reading, bases)


def read_knowledge_state(reading: Reading) -> Hashable:
    """Return a value that changes whenever a catalog is added, or a fact is declared, observed or retracted.

    No catalog and no fact is ever deleted, and a retracted fact never holds again. For a viewer the value also changes
    whenever something may have become visible or invisible to the viewer.
    """
    query = select(
        select(func.count()).select_from(catalogs).scalar_subquery(),
        select(func.count()).select_from(facts).scalar_subquery(),
        select(func.count(facts.c.retracted_at)).scalar_subquery(),
    )
    return tuple(reading.connection.execute(query).one()), visibility.read_visibility_state(reading)


@lru_cache(maxsize=16_384)
def _parse_statement(text: str) -> Statement:
    """Return a statement, remembered by its text: plans read the same facts again and again."""
    return statement(text)


def _read_facts(
    reading: Reading, query: Select[Any], values: Mapping[str, Any] | None = None, *, everywhere: bool = False
) -> list[Fact]:
    """Return the visible facts of a query that hold on this platform or, if `everywhere`, on any platform.

    Parameters
    ----------
    reading
        The transaction.
    query, values
        The query, and the values in it.
    everywhere
        Whether facts of other platforms are returned, too.
    """
    if reading.viewer is not None:
        query = query.where(is_open_fact(reading.viewer))
    usable = []
    for number, text, *columns, digest in reading.connection.execute(query, values or {}):
        reason, origin, who = columns[:3]
        if compute_fact_digest(text, reason, origin, who) != digest:
            raise CorruptArchiveError(f"fact #{number} was changed after it was written")
        fact = Fact(number, _parse_statement(text), *columns)
        if fact.platform is None or everywhere or reading.platform().serves(fact.platform):
            usable.append(fact)
    return usable if reading.viewer is None else _filter_visible_facts(reading, usable)


def _filter_visible_facts(reading: Reading, candidates: Collection[Fact]) -> list[Fact]:
    """Return the facts with all catalogs visible to the viewer; of observed facts, those the viewer may know."""
    visible_catalogs = filter_visible(reading, {digest for fact in candidates for digest in fact.catalogs})
    known = [fact for fact in candidates if visible_catalogs.issuperset(fact.catalogs)]
    actions = {fact.id: _list_actions(fact) for fact in known if fact.origin == "observed"}
    visible_actions = filter_visible_actions(reading, {action for group in actions.values() for action in group})
    return [fact for fact in known if visible_actions.issuperset(actions.get(fact.id, ()))]


def _list_actions(fact: Fact) -> list[CatalogAction]:
    return [CatalogAction(digest, fact.declared_by, fact.declared_at) for digest in fact.catalogs]
