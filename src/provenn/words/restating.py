"""Proofs over criteria as users wrote them: ``"plx > 10"`` instead of ``"plx IS NOT NULL" - "plx <= 10"``.

A proof is found over atoms, the parts of criteria that have an order. It is restated over whole criteria: definitions
name the criterion of the user, and relations between criteria replace the relations between their atoms. The restated
facts are a proof by themselves, for criteria as sets without parts: `Knowledge` confirms that each new relation follows
from the facts that it replaces, and that the conclusion follows from the restated facts. Otherwise nothing is restated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING

from provenn.catalogs import Catalog
from provenn.catalogs.select_sources import SelectSources
from provenn.catalogs.set_labels import is_criterion
from provenn.criteria import abridged

if TYPE_CHECKING:
    from provenn.digests import CatalogDigest
    from provenn.logic import Explanation, Statement
    from provenn.logic.terms import Term

__all__ = ["RestatedFact", "restate_definition", "restate_proof", "word_criterion"]

_MOST_CRITERIA = 6
"""The most criteria whose relations are tried; longer proofs stay as they are."""


@dataclass(frozen=True, slots=True)
class RestatedFact:
    """A fact of a restated proof.

    Parameters
    ----------
    statement
        The statement, over digests of catalogs and criteria in the user's words.
    replaced
        The facts from which the statement follows: one for a fact that is only worded differently, none for a relation
        that holds for any values.
    texts
        The labels of the statement that are criteria in the user's words.
    """

    statement: Statement
    replaced: tuple[Statement, ...]
    texts: frozenset[str] = frozenset()


def word_criterion(catalog: SelectSources) -> str:
    """Return the criterion of a selection as the user wrote it, on one line of limited length."""
    return abridged(" ".join(catalog.text.split()))


def restate_definition(fact: Statement, catalogs: Mapping[CatalogDigest, Catalog]) -> RestatedFact:
    """Return a fact, with the criterion as the user wrote it if it is the definition of a selection."""
    from provenn.logic import intersection  # noqa: PLC0415 - a command starts without it
    from provenn.logic.terms import term  # noqa: PLC0415 - as above

    selection = _find_selection(fact, catalogs)
    if selection is None:
        return RestatedFact(fact, (fact,))
    text = word_criterion(selection)
    statement = intersection(selection.digest, selection.parent.digest, term(text))
    return RestatedFact(statement, (fact,), frozenset({text}))


def restate_proof(
    facts: Sequence[Statement], conclusion: Statement | None, catalogs: Mapping[CatalogDigest, Catalog]
) -> list[RestatedFact]:
    """Return a proof over the criteria of its selections; or the same facts, if they are no proof without atoms.

    Parameters
    ----------
    facts
        The facts of the proof.
    conclusion
        The statement that they prove; None if they contradict each other.
    catalogs
        The catalogs whose definitions may be restated, by digest.
    """
    replaceable = [fact for fact in facts if all(map(is_criterion, fact.labels))]
    kept = [restate_definition(fact, catalogs) for fact in facts if fact not in replaceable]
    criteria = _collect_criteria(kept, catalogs) if any(fact.texts for fact in kept) else {}
    if criteria and len(criteria) <= _MOST_CRITERIA:
        relations = _choose_relations(kept, replaceable, criteria, conclusion)
        if relations is not None:
            return [*kept, *relations]
    return [RestatedFact(fact, (fact,)) for fact in facts]


def _find_selection(fact: Statement, catalogs: Mapping[CatalogDigest, Catalog]) -> SelectSources | None:
    """Return the selection that a fact defines, if its set is made of several atoms alone; otherwise None."""
    for label in fact.labels:
        catalog = catalogs.get(label)  # type: ignore[call-overload]
        if isinstance(catalog, SelectSources) and fact in catalog.facts():
            labels = catalog.selection.true.labels
            return catalog if len(labels) > 1 and all(map(is_criterion, labels)) else None
    return None


def _collect_criteria(facts: Iterable[RestatedFact], catalogs: Mapping[CatalogDigest, Catalog]) -> dict[str, Term]:
    """Return the criteria of facts as sets of atoms, by label; none if a text stands for several sets."""
    from provenn.logic.terms import term  # noqa: PLC0415 - as above

    criteria: dict[str, Term] = {}
    for fact in facts:
        selection = _find_selection(fact.replaced[0], catalogs)
        if selection is None:
            sets = {label: term(label) for label in fact.statement.labels if is_criterion(label)}
        else:
            sets = {word_criterion(selection): selection.selection.true}
        for label, atoms in sets.items():
            if criteria.setdefault(label, atoms) != atoms:
                return {}
    return criteria


def _choose_relations(
    kept: Sequence[RestatedFact],
    replaceable: Sequence[Statement],
    criteria: Mapping[str, Term],
    conclusion: Statement | None,
) -> list[RestatedFact] | None:
    """Return the fewest relations between criteria that complete a proof; None if no tried relations do."""
    from provenn.logic import Knowledge  # noqa: PLC0415 - as above

    texts = frozenset(text for fact in kept for text in fact.texts)
    known = Knowledge(replaceable, open_universe=False)
    shortest: list[RestatedFact] | None = None
    tried: dict[Statement, tuple[Statement, ...]] = {}
    for relate in (_relate_two, _name_intersections, _relate_three):
        relations = {
            statement: explanation.facts
            for statement, atoms in relate(criteria)
            if (explanation := known.explain(atoms)) is not None
        }
        tried |= relations
        for candidates in (relations, tried):
            completed = _explain([*(fact.statement for fact in kept), *candidates], conclusion)
            if completed is not None:
                needed = [fact for fact in candidates if fact in completed.facts]
                chosen = [RestatedFact(fact, candidates[fact], texts.intersection(fact.labels)) for fact in needed]
                shortest = chosen if shortest is None or len(chosen) < len(shortest) else shortest
        if shortest is not None and relate is _name_intersections:
            break
    return shortest


def _explain(facts: Sequence[Statement], conclusion: Statement | None) -> Explanation | None:
    """Return why facts imply a conclusion, or contradict each other if it is None; None if they do not."""
    from provenn.logic import Knowledge  # noqa: PLC0415 - as above

    knowledge = Knowledge(facts, open_universe=False)
    return knowledge.conflict() if conclusion is None else knowledge.explain(conclusion)


def _relate_two(criteria: Mapping[str, Term]) -> Iterator[tuple[Statement, Statement]]:
    """Yield possible relations of two criteria, each with the same relation of their sets of atoms."""
    from provenn.logic import disjoint, subset  # noqa: PLC0415 - as above

    for left, right in permutations(criteria, 2):
        yield subset(left, right), subset(criteria[left], criteria[right])
    for left, right in combinations(criteria, 2):
        yield disjoint(left, right), disjoint(criteria[left], criteria[right])


def _name_intersections(criteria: Mapping[str, Term]) -> Iterator[tuple[Statement, Statement]]:
    """Yield that a criterion is the intersection of others, and the same statement about their sets of atoms."""
    from provenn.logic import equal, intersection  # noqa: PLC0415 - as above

    for left, right in combinations(criteria, 2):
        yield equal(left, right), equal(criteria[left], criteria[right])
    for whole, left, right in _list_triples(criteria):
        yield intersection(whole, left, right), intersection(criteria[whole], criteria[left], criteria[right])


def _relate_three(criteria: Mapping[str, Term]) -> Iterator[tuple[Statement, Statement]]:
    """Yield further relations of a criterion and two others, each with the same relation of their sets of atoms."""
    from provenn.logic import subset  # noqa: PLC0415 - as above
    from provenn.logic.terms import term  # noqa: PLC0415 - as above

    for whole, left, right in _list_triples(criteria):
        yield subset(term(left) & right, whole), subset(criteria[left] & criteria[right], criteria[whole])
        yield subset(whole, term(left) | right), subset(criteria[whole], criteria[left] | criteria[right])


def _list_triples(criteria: Iterable[str]) -> list[tuple[str, str, str]]:
    """Return a criterion and two others, in every way."""
    labels = list(criteria)
    pairs = list(combinations(labels, 2))
    return [(whole, *pair) for whole in labels for pair in pairs if whole not in pair]
