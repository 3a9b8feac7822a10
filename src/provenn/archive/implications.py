"""What a declaration newly implies for catalogs that have names: which become empty, and which become equal.

Only what is near is looked at: catalogs that the fact mentions, all that they are made from, and what is made from any
of these; also those of which other facts speak. How many are looked at is bounded, and whether these were all is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import combinations

from provenn.archive.sentences import listed
from provenn.archive.words import SHORT
from provenn.logic import Knowledge, empty, equal
from provenn.store import names, neighbours
from provenn.store.database import Reading
from provenn.store.facts import Fact, closed_cone
from provenn.store.knowledge import knowledge_of

__all__ = ["Declared", "Implied", "implied"]

_MOST_MADE = 300
"""How many catalogs that are made from what a fact mentions, or from its lineage, are looked at."""
_MOST_NAMED = 200
"""How many catalogs with names are asked whether they are empty."""
_MOST_COMPARED = 40
"""How many of them are compared with one another."""


@dataclass(frozen=True, slots=True)
class Implied:
    """What facts newly imply, beyond their own words.

    Attributes
    ----------
    empties
        The names of catalogs that are proved to be empty now, and were not before.
    equates
        Pairs of names of catalogs that are proved to have the same sources now, and were not before; but for those
        that are empty.
    complete
        Whether all catalogs with names were looked at that it may bear on; otherwise only the nearest were.
    """

    empties: tuple[str, ...] = ()
    equates: tuple[tuple[str, str], ...] = ()
    complete: bool = True

    def __bool__(self) -> bool:
        return bool(self.empties or self.equates)

    @property
    def words(self) -> str:
        """The same in words; empty if nothing is implied."""
        pairs = [f"{one} and {other}" for one, other in self.equates]
        told = [f"{listed(self.empties)} cannot have any source"] if self.empties else []
        told += [f"{'; '.join(pairs[:_SHOWN])} have the same sources"] if pairs else []
        told += [f"and {len(pairs) - _SHOWN:,} more pairs are equal"] if len(pairs) > _SHOWN else []
        told += ["more may be: not all catalogs were looked at"] if told and not self.complete else []
        return "; ".join(told)


_SHOWN = 6


@dataclass(frozen=True, slots=True, eq=False)
class Declared(Fact):
    """A fact that was declared just now, and what it newly implies. It is equal to the fact as it is found later.

    Attributes
    ----------
    empties, equates, complete
        What it implies beyond its own words; see `Implied`.
    """

    empties: tuple[str, ...] = ()
    equates: tuple[tuple[str, str], ...] = ()
    complete: bool = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fact) and all(
            getattr(self, one.name) == getattr(other, one.name) for one in fields(Fact)
        )

    def __hash__(self) -> int:
        return Fact.__hash__(self)

    @property
    def implied(self) -> Implied:
        """What it newly implies."""
        return Implied(self.empties, self.equates, self.complete)


def implied(reading: Reading, facts: Sequence[Fact]) -> Implied:
    """Return what facts newly imply, in a transaction that sees them declared.

    Sound: what is told follows from all that is known with the facts, and not from all that is known without them.

    Parameters
    ----------
    reading
        The transaction.
    facts
        The facts; labels of their statements are digests.
    """
    labels = list(dict.fromkeys(label for fact in facts for label in fact.statement.labels))
    if not labels:
        return Implied()
    below = [one.digest for one in closed_cone(reading, labels)[0]]
    made = neighbours.walk(reading, below[:_MOST_MADE], up=False, depth=None, most=_MOST_MADE)
    definitions, held = closed_cone(reading, [*labels, *made])
    near = list(dict.fromkeys([*labels, *made, *(one.digest for one in definitions)]))
    called = names.names_of(reading, near)
    named = [digest for digest in near if digest in called or digest in labels]
    looked_at = named[:_MOST_NAMED]
    new = {fact.id for fact in facts}
    now = knowledge_of(definitions, held).knowledge
    before = knowledge_of(definitions, [fact for fact in held if fact.id not in new]).knowledge
    alone = Knowledge([fact.statement for fact in facts], open_universe=False)
    population = {one.digest: one.population for one in definitions}

    def word(digest: str) -> str:
        return called[digest][0] if digest in called else digest[:SHORT]

    if not now.consistent:
        return Implied(complete=False)
    hollow = [digest for digest in looked_at if now.entails(empty(digest))]
    emptied = [digest for digest in hollow if not before.entails(empty(digest)) and not alone.entails(empty(digest))]
    filled = [digest for digest in looked_at if digest not in set(hollow)]
    pairs = [
        (one, other)
        for one, other in combinations(filled[:_MOST_COMPARED], 2)
        if population[one] == population[other]
        and now.entails(equal(one, other))
        and not before.entails(equal(one, other))
        and not alone.entails(equal(one, other))
    ]
    complete = max(len(made), len(below)) < _MOST_MADE and len(named) <= _MOST_NAMED and len(filled) <= _MOST_COMPARED
    return Implied(tuple(map(word, emptied)), tuple((word(one), word(other)) for one, other in pairs), complete)
