"""Facts across populations: consequences of references from sources to partners.

Every statement about all partners is true of the sources that refer to partners, about the preimages of the same sets:
preimages commute with all operations on sets. So the statements about a looked-up catalog, and about its ancestors, are
stated once more about preimages. Only statements that exclude objects are lifted: if a set has an object, nothing
follows about the sources that refer to the object. A criterion on attributes of the partner becomes a criterion on the
same attributes read through the reference, and is ordered like every criterion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from provenn.catalogs.preimages import lift_atom, lift_set, present_label
from provenn.catalogs.references import Reference, lift_identity
from provenn.catalogs.restoring import find_class
from provenn.catalogs.set_labels import is_criterion
from provenn.criteria import Atom, AttributeIdentity
from provenn.criteria.term_reading import FindAttribute
from provenn.definitions.ancestors import StoredDefinition
from provenn.digests import CatalogDigest
from provenn.logic import Statement, empty, subset
from provenn.logic.statements import And, Property, SetComparison
from provenn.logic.terms import Op, Term, chain, term

Origin = TypeVar("Origin")

__all__ = ["Lift", "PartnerFacts", "find_lifts", "list_nullable"]

_MOST_LIFTED = 50_000
"""The most statements that are lifted: silence beyond is sound."""


@dataclass(slots=True)
class Lift:
    """The catalogs lifted along a path of references.

    Parameters
    ----------
    path
        The references, the first one from the sources that refer.
    roots
        The catalogs whose preimages definitions name.
    catalogs
        The catalogs of the partners' population: the roots, and their ancestors.
    """

    path: tuple[Reference, ...]
    roots: set[CatalogDigest] = field(default_factory=set)
    catalogs: set[CatalogDigest] = field(default_factory=set)

    def lift_label(self, label: str) -> str:
        """Return the label of the sources with a partner in the set with a label."""
        for reference in reversed(self.path):
            label = lift_set(reference, label)
        return label

    def lift_atom(self, atom: Atom) -> Atom:
        """Return the atom of the sources with a partner in the set of an atom."""
        for reference in reversed(self.path):
            atom = lift_atom(reference, atom)
        return atom

    def lift_statement(self, statement: Statement) -> Iterator[Statement]:
        """Yield the consequences of a statement about partners for the referring sources.

        A claim that also holds for objects outside all sets is left out: a source may have no partner.
        """
        if isinstance(statement, And):
            for part in statement.parts:
                yield from self.lift_statement(part)
        elif isinstance(statement, SetComparison | Property):
            claims = statement.claims()
            if not any(claim.inhabited or _holds_outside(claim.region) for claim in claims):
                yield statement.relabelled(self.lift_label)
            else:
                for claim in claims:
                    if not claim.inhabited and not _holds_outside(claim.region):
                        yield empty(claim.region.relabelled(self.lift_label))

    def list_referring(self) -> list[AttributeIdentity]:
        """Return the attributes with the key of the partner at the end of the path."""
        identities = [*self.path[-1].identities]
        for reference in reversed(self.path[:-1]):
            identities = [lift_identity(reference, identity) for identity in identities]
        return identities

    def state_presence(self, find_attribute: FindAttribute) -> Iterator[Statement]:
        """Yield that a source with a partner has a value of each referring attribute."""
        nullable = list_nullable(self.list_referring(), find_attribute)
        if nullable:
            present = chain(Op.AND, tuple(term(present_label(identity)) for identity in nullable))
            yield from (subset(self.lift_label(root), present) for root in sorted(self.roots))


def list_nullable(identities: Iterable[AttributeIdentity], find_attribute: FindAttribute) -> list[AttributeIdentity]:
    """Return the attributes that may be NULL, as far as the attributes are known."""
    attributes = [(identity, find_attribute(identity)) for identity in identities]
    return [identity for identity, attribute in attributes if attribute is None or attribute.nullable]


def _holds_outside(region: Term) -> bool:
    """Return whether an object outside all sets is in a region."""
    return bool(region.evaluate(lambda _: False, nothing=False, everything=True))


def find_lifts(definitions: Sequence[StoredDefinition]) -> list[Lift]:
    """Return the lifts along all paths of references."""
    by_digest = {definition.digest: definition for definition in definitions}
    lifts: dict[tuple[Reference, ...], Lift] = {}
    pending: list[tuple[tuple[Reference, ...], CatalogDigest]] = []
    for definition in definitions:
        lifted = _find_lift(definition)
        if lifted is not None:
            pending.append(((lifted[0],), lifted[1]))
    while pending:
        path, root = pending.pop()
        lift = lifts.setdefault(path, Lift(path))
        lift.roots.add(root)
        for digest in _find_population_lineage(by_digest, root):
            if digest not in lift.catalogs:
                lift.catalogs.add(digest)
                further = _find_lift(by_digest[digest])
                if further is not None:
                    pending.append(((*path, further[0]), further[1]))
    return list(lifts.values())


def _find_lift(definition: StoredDefinition) -> tuple[Reference, CatalogDigest] | None:
    """Return the reference and the dependency lifted by a definition; None for a definition without a lift."""
    return find_class(definition.kind).find_lift(definition.dependencies, definition.parameters)


def _find_population_lineage(
    definitions: dict[CatalogDigest, StoredDefinition], root: CatalogDigest
) -> list[CatalogDigest]:
    """Return a catalog, and the ancestors of the same population reached through this population."""
    lineage: dict[CatalogDigest, None] = {}
    stack = [root]
    while stack:
        digest = stack.pop()
        if digest in lineage or digest not in definitions:
            continue
        if definitions[digest].population == definitions[root].population:
            lineage[digest] = None
            stack.extend(definitions[digest].dependencies)
    return list(lineage)


@dataclass(slots=True)
class PartnerFacts:
    """The lifted statements and criteria.

    Parameters
    ----------
    lifts
        What is lifted along which paths.
    labels
        For each path, the labels of the lifted sets.
    """

    lifts: Sequence[Lift]
    labels: list[set[str]] = field(init=False)
    _count: int = 0

    def __post_init__(self) -> None:
        self.labels = [set(lift.catalogs) for lift in self.lifts]

    def lift_statements(
        self, sourced: Sequence[tuple[Statement, Origin]], find_defined: Callable[[Origin], CatalogDigest | None]
    ) -> list[tuple[Statement, Origin]]:
        """Return the consequences of statements about partners for the referring sources, with the same origins.

        Parameters
        ----------
        sourced
            Statements with their origins.
        find_defined
            Returns the catalog that an origin defines; None if it defines none.
        """
        lifted: list[tuple[Statement, Origin]] = []
        for lift, labels in zip(self.lifts, self.labels, strict=True):
            for statement, origin in sourced:
                if find_defined(origin) in lift.catalogs:
                    labels.update(statement.labels)
            for statement, origin in sourced:
                is_own = find_defined(origin) in lift.catalogs
                if self._count < _MOST_LIFTED and (is_own or _is_about(lift, labels, statement)):
                    labels.update(statement.labels)
                    new = [(lifted_statement, origin) for lifted_statement in lift.lift_statement(statement)]
                    self._count += len(new)
                    lifted += new
        return lifted

    def lift_atoms(self, atoms: Iterable[Atom]) -> list[Atom]:
        """Return the criteria in lifted statements as criteria on the sources referring to partners."""
        by_label = {atom.label: atom for atom in atoms if is_criterion(atom.label)}
        lifted: list[Atom] = []
        for lift, labels in zip(self.lifts, self.labels, strict=True):
            pending, seen = [label for label in labels if label in by_label], set[str]()
            while pending:
                label = pending.pop()
                if label not in seen:
                    seen.add(label)
                    around = (part.labels for part in by_label[label].inside)
                    pending += [outer for outers in around for outer in outers if outer in by_label]
            lifted += [lift.lift_atom(by_label[label]) for label in sorted(seen)]
        return lifted


def _is_about(lift: Lift, labels: set[str], statement: Statement) -> bool:
    """Return whether a statement is about lifted sets, and not about criteria alone: criteria are ordered anew."""
    own = statement.labels
    sets = [label for label in own if not is_criterion(label)]
    is_of_population = not lift.catalogs.isdisjoint(own) or len(sets) == len(own)
    return bool(sets) and is_of_population and all(label in labels for label in sets)
