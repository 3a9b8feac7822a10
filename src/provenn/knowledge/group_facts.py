"""Facts about groups: consequences of references from sources to partners, and the first sources of groups.

*Images.* If all sources of X are in Y, then all partners of X are partners of Y. If X is empty, so are the partners of
X. If X lies in the preimage of a set, then all partners of X are in the set. These facts follow from proved statements,
named as their premises. A source of X with a partner lies in the preimage of the partners of X.

*First sources.* The first sources of the groups of Y that lie in a part X of Y are among the first of the groups of X.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from provenn.catalogs.catalog import Catalog
from provenn.catalogs.extent import Extent
from provenn.catalogs.images import Image, Ranking
from provenn.catalogs.preimages import lift_set, lower_atom, make_presence_atom, present_label
from provenn.catalogs.references import Reference
from provenn.catalogs.set_labels import is_criterion
from provenn.catalogs.verbs import CLASSES
from provenn.criteria import Atom
from provenn.criteria.term_reading import FindAttribute
from provenn.definitions.ancestors import StoredDefinition
from provenn.digests import CatalogDigest
from provenn.errors import ContradictionError
from provenn.knowledge.reference_facts import PartnerFacts, list_nullable
from provenn.knowledge.restored_lineage import restore_lineage
from provenn.logic import Knowledge, Statement, empty, equal, subset
from provenn.logic.terms import Op, Term, chain, term

__all__ = ["Groups", "list_presence_atoms"]

_COMPARING = frozenset(kind for kind, catalog_class in CLASSES.items() if catalog_class.profile.compares_groups)
"""The catalog classes whose sources depend on groups."""

_MOST_GROUPS = 200
"""The most images, and the most rankings, that are compared with each other."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The images and the rankings on which the sources of catalogs depend.

    Parameters
    ----------
    catalogs
        The catalogs, with all their ancestors.
    """

    catalogs: Sequence[Catalog]

    @classmethod
    def of(cls, definitions: Sequence[StoredDefinition]) -> Groups:
        """Return the groups of catalogs with some definitions, each after its dependencies."""
        is_comparing = any(definition.kind in _COMPARING for definition in definitions)
        return cls(restore_lineage(definitions, _COMPARING) if is_comparing else ())

    @property
    def images(self) -> tuple[Image, ...]:
        """The images that make up the partners of catalogs."""
        parts = (part for catalog in self.catalogs for part in _list_image_parts(catalog))
        return tuple({part.label: part for part in parts}.values())

    @property
    def rankings(self) -> tuple[Ranking, ...]:
        """The rankings, each once."""
        rankings = (catalog.find_ranking() for catalog in self.catalogs)
        return tuple({ranking.atom.label: ranking for ranking in rankings if ranking is not None}.values())

    def define_images(self) -> Iterator[tuple[Statement, CatalogDigest]]:
        """Yield the images that make up the partners of each catalog."""
        for catalog in self.catalogs:
            image = catalog.find_image()
            made_of = None if image is None else image.extent.to_term()
            if image is not None and made_of is not None and made_of.label != image.label:
                yield equal(image.label, made_of), catalog.digest

    def lower_atoms(self, atoms: Sequence[Atom]) -> list[Atom]:
        """Return the criteria on sources stated as criteria on partners by the definitions of images."""
        wanted = {label for statement, _ in self.define_images() for label in statement.labels if is_criterion(label)}
        wanted.difference_update(atom.label for atom in atoms)
        if not wanted:
            return []
        references = {image.reference for image in self.images}
        criteria = [atom for atom in atoms if is_criterion(atom.label)]
        lowered = (lower_atom(reference, atom) for reference in references for atom in criteria)
        by_label = {atom.label: atom for atom in lowered if atom is not None and atom.label in wanted}
        return [by_label[label] for label in sorted(by_label)]

    def relate(
        self, build: Callable[[Sequence[Statement]], Knowledge], find_attribute: FindAttribute
    ) -> list[tuple[Statement, Statement | None]]:
        """Return facts about partners and about first sources, each with its premise, if any.

        Parameters
        ----------
        build
            Returns the knowledge from all other facts, and some further statements.
        find_attribute
            Returns what is known of an attribute.
        """
        images, rankings = self.images[:_MOST_GROUPS], self.rankings[:_MOST_GROUPS]
        extents = [image.members for image in images] + [ranking.members for ranking in rankings]
        members = {_name_extent(extent): text for extent in extents if (text := extent.to_term()) is not None}
        if not members:
            return []
        try:
            knowledge = build([equal(label, text) for label, text in members.items()])
            alike = [*_divide(images, members), *_divide(rankings, members)]
            inside = {label: {label} for label in members}
            for labels in alike:
                for label in labels:
                    inside[label] |= _find_around(knowledge, label, labels)
        except ContradictionError:  # contradictory facts prove nothing
            return []
        comparison = _Comparison(knowledge, members, inside, find_attribute)
        return [*comparison.compare_images(images), *comparison.compare_rankings(rankings)]


def _divide(groups: Iterable[Image | Ranking], members: Collection[str]) -> list[set[str]]:
    """Return the labels of the known members of groups, in sets of labels to compare with each other."""
    by_kind: dict[object, set[str]] = {}
    for group in groups:
        label = _name_members(group)
        if label in members:
            kind = group.reference if isinstance(group, Image) else (group.by, group.order)
            by_kind.setdefault(kind, set()).add(label)
    return list(by_kind.values())


def _find_around(knowledge: Knowledge, label: str, members: Iterable[str]) -> set[str]:
    """Return the labels of members that hold all members with a label, the label itself included.

    Only members are compared: the facts about further queries bring many more sets along.
    """
    return {other for other in members if other == label or knowledge.entails(subset(label, other))}


def _list_image_parts(catalog: Catalog) -> tuple[Image, ...]:
    image = catalog.find_image()
    return () if image is None else image.parts


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The knowledge about the members of groups.

    Parameters
    ----------
    knowledge
        All other facts.
    members
        The members as terms, by label.
    inside
        The labels of the members that hold all members with a label.
    find_attribute
        Returns what is known of an attribute.
    """

    knowledge: Knowledge
    members: dict[str, Term]
    inside: dict[str, set[str]]
    find_attribute: FindAttribute

    def compare_images(self, images: Sequence[Image]) -> Iterator[tuple[Statement, Statement | None]]:
        """Yield which partners are also partners of further sources, and which sources have no partners."""
        known = [image for image in images if _name_members(image) in self.members]
        labels = set(self.knowledge.labels)
        references = {image.reference for image in known}
        lifted_targets = {reference: self._lift_targets(reference) for reference in references}
        for image in known:
            label = _name_members(image)
            own = self.members[label]
            if self.knowledge.entails(empty(label)):
                yield empty(image.label), empty(own)
            around = [other for other in known if other.reference == image.reference and other is not image]
            for other in around:
                if _name_members(other) in self.inside[label]:
                    yield subset(image.label, other.label), subset(own, self.members[_name_members(other)])
            yield from self._cover(image, around)
            yield from self._compare_preimages(image, lifted_targets[image.reference])
            lifted = lift_set(image.reference, image.label)
            if lifted in labels:
                yield subset(self._find_referring(image), lifted), None

    def _find_referring(self, image: Image) -> Term:
        """Return the members of an image with a partner."""
        nullable = list_nullable(image.reference.identities, self.find_attribute)
        own = self.members[_name_members(image)]
        return chain(Op.AND, (own, *(term(present_label(identity)) for identity in nullable)))

    def _cover(self, image: Image, others: Sequence[Image]) -> Iterator[tuple[Statement, Statement]]:
        """Yield that the partners of sources are the partners of some parts, if the parts make up the sources."""
        label = _name_members(image)
        parts = [
            other
            for other in others
            if label in self.inside[_name_members(other)] and _name_members(other) not in self.inside[label]
        ]
        if len(parts) > 1:
            together = chain(Op.OR, tuple(self.members[_name_members(part)] for part in parts))
            if self.knowledge.entails(subset(label, together)):
                partners = chain(Op.OR, tuple(term(part.label) for part in parts))
                yield subset(image.label, partners), subset(self.members[label], together)

    def _lift_targets(self, reference: Reference) -> list[tuple[str, str]]:
        """Return the labels of preimages along a reference, each with the label of the set of partners."""
        targets = [label for label in self.knowledge.labels if not is_criterion(label)]
        lifted = {lift_set(reference, target): target for target in targets}
        return [(label, lifted[label]) for label in self.knowledge.labels if label in lifted]

    def _compare_preimages(
        self, image: Image, lifted: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[Statement, Statement]]:
        """Yield that partners lie in a set, if all sources referring to the partners lie in the preimage of the set."""
        own = self.members[_name_members(image)]
        for label, target in lifted:
            if target != image.label and self.knowledge.entails(subset(own, label)):
                yield subset(image.label, target), subset(own, label)

    def compare_rankings(self, rankings: Sequence[Ranking]) -> Iterator[tuple[Statement, Statement]]:
        """Yield that the first sources of groups are the first of smaller groups, if the smaller groups hold them."""
        known = [ranking for ranking in rankings if _name_members(ranking) in self.members]
        for ranking in known:
            for other in known:
                same_order = (ranking.by, ranking.order) == (other.by, other.order) and ranking.number >= other.number
                if other is ranking or not same_order or ranking.members == other.members:
                    continue
                if _name_members(other) in self.inside[_name_members(ranking)]:
                    part, whole = self.members[_name_members(ranking)], self.members[_name_members(other)]
                    yield subset(term(other.atom.label) & part, ranking.atom.label), subset(part, whole)


def _name_members(group: Image | Ranking) -> str:
    return _name_extent(group.members)


def _name_extent(extent: Extent) -> str:
    return f"members({extent.digest})"


def list_presence_atoms(partners: PartnerFacts, groups: Groups, find_attribute: FindAttribute) -> list[Atom]:
    """Return, for each referring attribute that may be NULL, the atom of the sources with a value."""
    referring = [identity for lift in partners.lifts for identity in lift.list_referring()]
    referring += [identity for image in groups.images for identity in image.reference.identities]
    nullable = list_nullable(dict.fromkeys(referring), find_attribute)
    return [make_presence_atom(identity) for identity in nullable]
