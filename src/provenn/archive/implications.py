"""The new implications of a declaration for named catalogs: newly empty or equal catalogs.

Only nearby catalogs are examined: catalogs mentioned in the fact, their ancestors, the descendants of these, and
catalogs of related facts. The number of examined catalogs is limited, and the result says whether the search is
complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import combinations

from provenn.database.transactions import Reading
from provenn.definitions import catalog_names, neighbours
from provenn.digests import CatalogDigest
from provenn.display.text import join_words
from provenn.knowledge.consequences import build_knowledge
from provenn.knowledge.stored_facts import Fact, read_closed_cone
from provenn.logic import Knowledge, empty, equal
from provenn.words.vocabulary import SHORT

__all__ = ["Declared", "Implied", "find_implications"]

_MOST_MADE = 300
"""The largest number of examined descendants of the catalogs of a fact and of their lineage."""
_MOST_NAMED = 200
"""The largest number of named catalogs that are tested for emptiness."""
_MOST_COMPARED = 40
"""The largest number of named catalogs that are compared pairwise."""


@dataclass(frozen=True, slots=True)
class Implied:
    """The new implications of facts, beyond their own statements.

    Attributes
    ----------
    empties
        The names of catalogs that are proved empty now, and were not before.
    equates
        Pairs of names of catalogs that are proved to have the same sources now, and were not before; without catalogs
        proved empty.
    complete
        Whether all affected named catalogs were examined; otherwise only the nearest were.
    """

    empties: tuple[str, ...] = ()
    equates: tuple[tuple[str, str], ...] = ()
    complete: bool = True

    def __bool__(self) -> bool:
        return bool(self.empties or self.equates)

    @property
    def words(self) -> str:
        """The implications in words; empty if nothing is implied."""
        pairs = [f"{left} and {right}" for left, right in self.equates]
        clauses = [f"{join_words(self.empties)} cannot have any sources"] if self.empties else []
        clauses += [f"{'; '.join(pairs[:_SHOWN])} have the same sources"] if pairs else []
        clauses += [f"and {len(pairs) - _SHOWN:,} more pairs are equal"] if len(pairs) > _SHOWN else []
        clauses += ["there may be more: not all catalogs were examined"] if clauses and not self.complete else []
        return "; ".join(clauses)


_SHOWN = 6


@dataclass(frozen=True, slots=True, eq=False)
class Declared(Fact):
    """A newly declared fact with new implications; equal to the same fact when read from the archive later.

    Attributes
    ----------
    empties, equates, complete
        The implications of the fact beyond its own statement; see `Implied`.
    repeated
        Whether the fact was declared before. It then stays unchanged: the audit log keeps another reason for it.
    """

    empties: tuple[str, ...] = ()
    equates: tuple[tuple[str, str], ...] = ()
    complete: bool = True
    repeated: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fact) and all(
            getattr(self, field.name) == getattr(other, field.name) for field in fields(Fact)
        )

    def __hash__(self) -> int:
        return Fact.__hash__(self)

    @property
    def implied(self) -> Implied:
        """The new implications of the fact."""
        return Implied(self.empties, self.equates, self.complete)


def find_implications(reading: Reading, facts: Sequence[Fact]) -> Implied:
    """Return the new implications of facts, in a transaction aware of the facts.

    Sound: every returned implication follows from all knowledge with the facts, and not from all knowledge without the
    facts.

    Parameters
    ----------
    reading
        The transaction.
    facts
        The facts; the labels of their statements are digests.
    """
    mentioned = list(dict.fromkeys(digest for fact in facts for digest in fact.catalogs))
    if not mentioned:
        return Implied()
    below = [definition.digest for definition in read_closed_cone(reading, mentioned)[0]]
    dependents = neighbours.walk_neighbours(reading, below[:_MOST_MADE], up=False, depth=None, most=_MOST_MADE)
    definitions, known_facts = read_closed_cone(reading, [*mentioned, *dependents])
    near = list(dict.fromkeys([*mentioned, *dependents, *(definition.digest for definition in definitions)]))
    names_by_digest = catalog_names.find_names_by_digest(reading, near)
    named_digests = [digest for digest in near if digest in names_by_digest or digest in mentioned]
    examined = named_digests[:_MOST_NAMED]
    new = {fact.id for fact in facts}
    now = build_knowledge(definitions, known_facts).knowledge
    before = build_knowledge(definitions, [fact for fact in known_facts if fact.id not in new]).knowledge
    alone = Knowledge([fact.statement for fact in facts], open_universe=False)
    population = {definition.digest: definition.population for definition in definitions}

    def word(digest: CatalogDigest) -> str:
        return names_by_digest[digest][0] if digest in names_by_digest else digest[:SHORT]

    if not now.consistent:
        return Implied(complete=False)
    empty_digests = [digest for digest in examined if now.entails(empty(digest))]
    newly_empty = [
        digest for digest in empty_digests if not before.entails(empty(digest)) and not alone.entails(empty(digest))
    ]
    possibly_nonempty = [digest for digest in examined if digest not in set(empty_digests)]
    pairs = [
        (left, right)
        for left, right in combinations(possibly_nonempty[:_MOST_COMPARED], 2)
        if population[left] == population[right]
        and now.entails(equal(left, right))
        and not before.entails(equal(left, right))
        and not alone.entails(equal(left, right))
    ]
    complete = (
        max(len(dependents), len(below)) < _MOST_MADE
        and len(named_digests) <= _MOST_NAMED
        and len(possibly_nonempty) <= _MOST_COMPARED
    )
    return Implied(tuple(map(word, newly_empty)), tuple((word(left), word(right)) for left, right in pairs), complete)
