"""Search for a row that would lie in a region of catalogs, for example in A and not in B.

The row is a possible row: its values make the criteria TRUE or not as required, evaluated as in Spark, and no declared
or observed fact excludes the row. Nothing is claimed about the rows in the files. A world that is possible by the facts
alone says where to begin; the rows are tried in a fixed order, and their number is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice, product
from math import prod
from random import Random

from provenn import deadline
from provenn.catalogs import Catalog
from provenn.criteria import AttributeIdentity, parse_criterion
from provenn.criteria.cut_labels import read_cut
from provenn.criteria.nodes import ColumnNode, Condition, Constant, Node
from provenn.criteria.row_candidates import list_candidates
from provenn.criteria.row_values import Uncertain, evaluate_condition, evaluate_node
from provenn.digests import CatalogDigest, is_catalog_label
from provenn.errors import ProvennError
from provenn.knowledge.attribute_origins import AttributeOrigins, UnknownOrigin
from provenn.knowledge.consequences import TracedKnowledge
from provenn.logic import Statement, empty
from provenn.logic.statements import And, Not, Or, Property, SetComparison
from provenn.logic.terms import Term

__all__ = ["PossibleRow", "RowSearch"]

_MOST_LISTED, _MOST_RANDOM, _MOST_OF_COLUMN = 1500, 1500, 12

_Row = Mapping[AttributeIdentity, Constant]


@dataclass(frozen=True, slots=True)
class PossibleRow:
    """A row that the facts do not exclude.

    Parameters
    ----------
    values
        The values of the attributes that decide about the row.
    inside
        The catalogs that would hold the row.
    """

    values: Mapping[AttributeIdentity, Constant]
    inside: frozenset[CatalogDigest]


class RowSearch:
    """The search for rows in regions of some catalogs.

    Parameters
    ----------
    known
        The knowledge about the catalogs.
    catalogs
        The catalogs of the regions and of the facts, with their lineage.
    """

    def __init__(self, known: TracedKnowledge, catalogs: Mapping[CatalogDigest, Catalog]) -> None:
        self._known = known
        self._catalogs = catalogs
        self._criteria: dict[tuple[str, ...], _Criteria | None] = {}

    def find_row(self, region: Term) -> PossibleRow | None:
        """Return the values of a possible row in a region over digests of catalogs, or None if none is found."""
        guide = _find_guide(self._known, region)
        if guide is None:
            return None
        criteria = self._read_criteria(region.labels)
        return None if criteria is None else _Search(region, criteria, guide).run()

    def _read_criteria(self, labels: tuple[str, ...]) -> _Criteria | None:
        """Return the criteria that decide about a row in a region with some labels; None if something else does."""
        if labels not in self._criteria:
            self._criteria[labels] = _Criteria.of(self._known, self._catalogs, labels)
        return self._criteria[labels]


def _find_guide(known: TracedKnowledge, region: Term) -> frozenset[str] | None:
    """Return the sets of an object in a region, in a world possible by the facts."""
    world = known.knowledge.counterexample(empty(region))
    inhabited = () if world is None else sorted(world.regions, key=sorted)
    return next((place for place in inhabited if _holds(region, place.__contains__)), None)


def _holds(region: Term, contains: Callable[[str], bool]) -> bool:
    return region.evaluate(contains, nothing=False, everything=True)


@dataclass(slots=True)
class _Criteria:
    """The criteria that decide about a row.

    Parameters
    ----------
    catalogs
        The catalogs of the region and of the facts.
    facts
        The facts that a row must not violate.
    conditions
        The criteria, by label.
    formulas
        The expressions of derived attributes, by identity.
    columns
        The attributes that are tried, by identity.
    by_column
        The labels of the criteria that read a single attribute, by identity.
    """

    catalogs: Mapping[CatalogDigest, Catalog]
    facts: tuple[Statement, ...]
    conditions: dict[str, Condition] = field(default_factory=dict)
    formulas: dict[AttributeIdentity, Node] = field(default_factory=dict)
    columns: dict[AttributeIdentity, ColumnNode] = field(default_factory=dict)
    by_column: dict[AttributeIdentity, list[str]] = field(default_factory=dict)
    _candidates: Mapping[AttributeIdentity, list[Constant]] | None = None

    @classmethod
    def of(
        cls, known: TracedKnowledge, catalogs: Mapping[CatalogDigest, Catalog], labels: tuple[str, ...]
    ) -> _Criteria | None:
        """Read all criteria that decide about a row in a region with some labels.

        Returns None if something else decides about the region: a sample, a match, a function in Python. A set that
        only facts mention may be decided by something else. Then the guide says whether the row is in it.
        """
        population = catalogs[CatalogDigest(labels[0])].population
        facts = tuple(
            fact.statement
            for fact in known.facts
            if all(digest in catalogs and catalogs[digest].population == population for digest in fact.catalogs)
        )
        digests = dict.fromkeys((*labels, *(label for fact in facts for label in fact.labels)))
        criteria = cls(
            {digest: catalogs[digest] for label in digests if (digest := CatalogDigest(label)) in catalogs}, facts
        )
        unread = criteria._read_conditions(AttributeOrigins.of(catalogs.values()))
        decisive = {label for digest in labels for label in catalogs[CatalogDigest(digest)].extent.labels}
        return None if unread & decisive else criteria

    def _read_conditions(self, attributes: AttributeOrigins) -> set[str]:
        """Read the criteria in the extents, and the expressions of their attributes; return labels that have none."""
        unread = set()
        for label in dict.fromkeys(label for catalog in self.catalogs.values() for label in catalog.extent.labels):
            if is_catalog_label(label):
                continue
            try:
                condition = _read_condition(label, attributes)
                columns, formulas = attributes.trace_columns(condition)
            except (ProvennError, UnknownOrigin):
                unread.add(label)
                continue
            self.conditions[label] = condition
            self.columns |= columns
            self.formulas |= formulas
            if len(columns) == 1:
                self.by_column.setdefault(next(iter(columns)), []).append(label)
        return unread

    def list_candidates(self) -> Mapping[AttributeIdentity, list[Constant]]:
        """Return the values to try, by attribute."""
        if self._candidates is None:
            roots = [*self.conditions.values(), *self.formulas.values()]
            self._candidates = {identity: list_candidates(column, roots) for identity, column in self.columns.items()}
        return self._candidates


def _read_condition(label: str, attributes: AttributeOrigins) -> Condition:
    cut = read_cut(label, {AttributeIdentity(name): attribute for name, attribute in attributes.by_name.items()})
    return parse_criterion(label, attributes.by_name, canonical=True).condition if cut is None else cut


@dataclass(frozen=True, slots=True)
class _Search:
    """The search for a row.

    Parameters
    ----------
    region
        The wanted region.
    criteria
        The criteria that decide about a row.
    guide
        The sets of an object in the region.
    """

    region: Term
    criteria: _Criteria
    guide: frozenset[str]

    def run(self) -> PossibleRow | None:
        """Return the first fitting row."""
        candidates = self.criteria.list_candidates()
        plain = {
            identity: [constant for constant in constants if constant.key is not None]
            for identity, constants in candidates.items()
        }
        listed = [_list_rows(plain), self._guide_rows(candidates)]
        if prod(min(len(constants), _MOST_OF_COLUMN) for constants in plain.values()) > _MOST_LISTED:
            listed.reverse()  # the plain rows differ in few attributes, those of the guide fit better
        for row in chain(*listed, self._draw_rows(candidates)):
            deadline.check()
            inside = self._locate(row)
            if inside is not None:
                return PossibleRow(row, inside)
        return None

    def _guide_rows(self, candidates: Mapping[AttributeIdentity, list[Constant]]) -> Iterator[_Row]:
        """Yield rows of attributes that fulfil the criteria of a single attribute as the guide does."""
        agreeing = {
            identity: [constant for constant in constants if self._agrees(identity, constant)] or constants
            for identity, constants in candidates.items()
        }
        return _list_rows(agreeing)

    def _draw_rows(self, candidates: Mapping[AttributeIdentity, list[Constant]]) -> Iterator[_Row]:
        """Yield rows drawn at random, always the same."""
        random = Random(0)  # noqa: S311 - no secret
        if all(candidates.values()):
            for _ in range(_MOST_RANDOM if candidates else 0):
                yield {identity: random.choice(constants) for identity, constants in candidates.items()}

    def _agrees(self, identity: AttributeIdentity, constant: Constant) -> bool:
        """Tell whether the criteria that a value of an attribute decides are as in the guide."""
        values = self._complete({identity: constant})
        for label in self.criteria.by_column.get(identity, ()):
            try:
                holds = evaluate_condition(self.criteria.conditions[label], values) is True
            except Uncertain:
                continue
            if holds != (label in self.guide):
                return False
        return True

    def _locate(self, row: _Row) -> frozenset[CatalogDigest] | None:
        """Return the catalogs that would hold a row; None for a row outside the region, or excluded by a fact."""
        values = self._complete(row)
        truths: dict[str, bool] = {}

        def is_member(label: str) -> bool:
            if label not in truths:
                condition = self.criteria.conditions.get(label)
                truths[label] = (
                    label in self.guide if condition is None else bool(evaluate_condition(condition, values))
                )
            return truths[label]

        def contains_row(label: str) -> bool:
            return self.criteria.catalogs[CatalogDigest(label)].extent.evaluate(is_member, everything=True)

        try:
            if not _holds(self.region, contains_row):  # most rows: the other criteria need not be evaluated
                return None
            for label in self.criteria.conditions:
                is_member(label)
        except Uncertain:
            return None
        inside = frozenset(
            digest
            for digest, catalog in self.criteria.catalogs.items()
            if catalog.extent.evaluate(is_member, everything=True)
        )
        contains = inside.__contains__
        return inside if all(_allows(fact, contains) for fact in self.criteria.facts) else None

    def _complete(self, row: _Row) -> _Row:
        """Return a row with the certain values of derived attributes."""
        values = dict(row)
        for _ in self.criteria.formulas:  # an expression may read attributes that later expressions define
            for identity, formula in self.criteria.formulas.items():
                if identity not in values:
                    with suppress(Uncertain):
                        values[identity] = evaluate_node(formula, values)
        return values


def _list_rows(candidates: Mapping[AttributeIdentity, list[Constant]]) -> Iterator[_Row]:
    """Yield rows of the first candidates of each attribute."""
    chosen = product(*(constants[:_MOST_OF_COLUMN] for constants in candidates.values()))
    return (dict(zip(candidates, row, strict=True)) for row in islice(chosen, _MOST_LISTED))


def _allows(fact: Statement, contains: Callable[[str], bool]) -> bool:
    """Tell whether a row in some sets may exist if a fact holds. What must exist may exist elsewhere."""
    match fact:
        case And(parts):
            return all(_allows(part, contains) for part in parts)
        case Or(parts):
            return any(_allows(part, contains) for part in parts)
        case Not(SetComparison() | Property() as part):
            claims = part.claims()
            return len(claims) > 1 or not (claims[0].inhabited and _holds(claims[0].region, contains))
        case SetComparison() | Property():
            return not any(_holds(region, contains) for region, inhabited in fact.claims() if not inhabited)
    return False
