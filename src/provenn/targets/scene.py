"""The knowledge that planning uses: set relations, attribute definitions, stored fragments and row counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from provenn import deadline
from provenn.catalogs import Attribute, Base, Catalog, Extent, cone, list_bases
from provenn.catalogs.defined_attributes import DefinedAttributes
from provenn.catalogs.extent import everything, nothing
from provenn.catalogs.selection import Condition
from provenn.criteria import Atom, AttributeIdentity, DefinedAttribute, Type, backquoted
from provenn.digests import CatalogDigest
from provenn.files.column_statistics import ColumnStatistics
from provenn.knowledge.consequences import TracedKnowledge
from provenn.knowledge.stored_facts import excludes_objects
from provenn.logic import Knowledge, Statement, disjoint, empty, equal, subset
from provenn.logic.covered_sets import find_covered_sets
from provenn.logic.forced_labels import find_forced_labels
from provenn.logic.statements import Property, SetComparison
from provenn.logic.terms import Op, Term, chain
from provenn.logic.terms import nothing as no_set
from provenn.targets.known import build_definition
from provenn.targets.listed_files import ListedFiles
from provenn.targets.row_samples import RowSample, SampledCondition
from provenn.targets.steps import Calculate, Derive, FragmentScan, PlanStep, walk_steps

__all__ = ["DescribedColumn", "Scene", "find_joined_labels", "split_intersection"]

_ALL = ~no_set


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """A column of a base catalog, and what the files state about its values."""

    base: Base
    type: Type
    statistics: ColumnStatistics


@dataclass(frozen=True, slots=True)
class Scene:
    """The knowledge for planning.

    Parameters
    ----------
    known
        The conclusions from definitions and facts.
    catalogs
        The catalogs with known definitions and facts.
    fragments
        The usable fragments, each with its catalog.
    rows
        The number of sources of each counted extent, by digest.
    apart_fragments
        The numbers of fragments with needed attributes that share no source with the request by definition.
    listed_files
        What each file of base catalogs states about the attributes in conditions.
    samples
        Rows of base files and fragments, for estimates.
    unread_reasons
        Sentences about useful fragments left unread because another platform computed them.
    estimates, costs, bounds
        Caches of `provenn.targets.costs` and `provenn.targets.bounds`, by step signature.
    answers
        A cache of `provenn.targets.bounds`: the bounds that all counts together prove, by digest of the extent.
    sampled_conditions
        A cache of `provenn.targets.sampled_shares`: conditions on a sample, by its number and label.
    views
        A cache of `provenn.targets.supplies`: views of members of stored concatenations.
    supplies, supply_statements
        A cache of `provenn.targets.supplies`: steps on fragments by the attributes that are wanted of them, and the
        statements that were proved for these steps.
    attributes, held_identities
        The attributes of all steps of the literal plan, by identity; and what fragments hold, by step signature.
    used_statements
        The proved statements among all tested statements, since a caller last cleared the list.
    """

    known: TracedKnowledge
    catalogs: tuple[Catalog, ...]
    fragments: tuple[FragmentScan, ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)
    unread_reasons: tuple[str, ...] = ()
    samples: tuple[RowSample, ...] = ()
    listed_files: ListedFiles = field(default_factory=ListedFiles, repr=False)
    apart_fragments: frozenset[int] = frozenset()
    estimates: dict[int, float] = field(default_factory=dict, repr=False)
    costs: dict[tuple[int, frozenset[AttributeIdentity]], float] = field(default_factory=dict, repr=False)
    bounds: dict[int, tuple[int, int | None]] = field(default_factory=dict, repr=False)
    answers: dict[str, tuple[int, int | None]] = field(default_factory=dict, repr=False)
    sampled_conditions: dict[tuple[int, str], SampledCondition | None] = field(default_factory=dict, repr=False)
    views: dict[tuple[int, tuple[CatalogDigest, ...], int], PlanStep | None] = field(default_factory=dict, repr=False)
    supplies: dict[object, list[PlanStep]] = field(default_factory=dict, repr=False)
    supply_statements: dict[object, tuple[Statement, ...]] = field(default_factory=dict, repr=False)
    attributes: dict[AttributeIdentity, Attribute] = field(default_factory=dict, repr=False)
    held_identities: dict[int, frozenset[AttributeIdentity]] = field(default_factory=dict, repr=False)
    used_statements: list[Statement] = field(default_factory=list, repr=False)
    _catalog_labels: dict[str, str] = field(default_factory=dict, repr=False)
    _terms: dict[str, Term] = field(default_factory=dict, repr=False)
    _proved: dict[str, bool] = field(default_factory=dict, repr=False)
    _undeclared: list[TracedKnowledge] = field(default_factory=list, repr=False)
    _defined: list[Knowledge] = field(default_factory=list, repr=False)
    _definitions: dict[AttributeIdentity, Derive | Calculate] = field(default_factory=dict, repr=False)
    _selections: dict[str, tuple[Condition, Catalog]] = field(default_factory=dict, repr=False)
    _atoms: list[dict[str, Atom]] = field(default_factory=list, repr=False)
    _described_columns: list[dict[str, DescribedColumn]] = field(default_factory=list, repr=False)
    _lineage: dict[str, Catalog] = field(default_factory=dict, repr=False)
    _defined_attributes: list[DefinedAttributes] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        for catalog in reversed(self.catalogs):
            self._catalog_labels[catalog.extent.digest] = catalog.digest

    def find_catalog(self, digest: CatalogDigest) -> Catalog:
        """Return a catalog in the lineage of the catalogs of the scene."""
        self._read_lineage()
        return self._lineage[digest]

    @property
    def lineage(self) -> Iterable[Catalog]:
        """The catalogs and all their ancestors."""
        self._read_lineage()
        return self._lineage.values()

    def _read_lineage(self) -> None:
        if not self._lineage:
            self._lineage.update((catalog.digest, catalog) for catalog in cone(*self.catalogs))

    # -- sets ----------------------------------------------------------------------------------------------------

    def build_term(self, extent: Extent) -> Term:
        """Return the term for an extent; the extent of a catalog becomes the catalog's label."""
        terms = self._terms
        stack = [] if extent.digest in terms else [extent]
        while stack:
            deadline.check()
            current = stack[-1]
            is_label = current.digest in self._catalog_labels or current.label is not None
            missing = [] if is_label else [part for part in current.parts if part.digest not in terms]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            terms[current.digest] = self._combine_terms(current, terms)
        return terms[extent.digest]

    def _combine_terms(self, extent: Extent, terms: Mapping[str, Term]) -> Term:
        """Return the term for an extent from the terms of the parts."""
        if extent.digest in self._catalog_labels:
            return Term((self._catalog_labels[extent.digest],))
        if extent.label is not None:
            positive = Term((extent.label,))
        else:
            operands = tuple(sorted((terms[part.digest] for part in extent.parts), key=_make_sort_key))
            if extent.complemented and operands and all(part.postfix[-1] is Op.NOT for part in operands):
                return chain(Op.OR, tuple(Term(part.postfix[:-1]) for part in operands))
            positive = chain(Op.AND, operands) if operands else _ALL
        return ~positive if extent.complemented else positive

    def state_inside(self, extent: Extent, other: Extent) -> Statement:
        """Return the statement that one extent is a subset of another."""
        return subset(self.build_term(extent), self.build_term(other))

    def state_disjoint(self, extent: Extent, other: Extent) -> Statement:
        """Return the statement that two extents share no source."""
        return disjoint(self.build_term(extent), self.build_term(other))

    def state_apart(self, extents: Iterable[Extent]) -> tuple[Statement, ...]:
        """Return the statement that no two of some extents share a source; none for a single extent.

        One statement about many sets is proved by as many questions as there are sets, and not as there are pairs.
        """
        terms = [self.build_term(extent) for extent in extents]
        return (disjoint(*terms),) if len(terms) > 1 else ()

    def state_equal(self, extent: Extent, other: Extent) -> Statement:
        """Return the statement that two extents are equal."""
        return equal(self.build_term(extent), self.build_term(other))

    def state_empty(self, extent: Extent) -> Statement:
        """Return the statement that an extent has no source."""
        return empty(self.build_term(extent))

    def is_proved(self, statement: Statement) -> bool:
        """Return whether a statement is proved; a proved statement is noted in `used_statements`."""
        deadline.check()
        text = str(statement)
        if text not in self._proved:
            self._proved[text] = self.known.knowledge.entails(statement)
        if self._proved[text]:
            self.used_statements.append(statement)
        return self._proved[text]

    def is_certain(self, statement: Statement) -> bool:
        """Return whether a statement is proved without any declared fact."""
        return self.is_proved(statement) and (
            not self.has_declared_facts or self.undeclared_knowledge.knowledge.entails(statement)
        )

    @property
    def has_declared_facts(self) -> bool:
        """Whether a declared fact concerns the catalogs."""
        return any(fact.origin == "declared" for fact in self.known.facts)

    @property
    def undeclared_knowledge(self) -> TracedKnowledge:
        """The conclusions that need no declared fact."""
        if not self._undeclared:
            self._undeclared.append(self.known.without("declared") if self.has_declared_facts else self.known)
        return self._undeclared[0]

    def find_forced_labels(self, extents: Iterable[Extent]) -> frozenset[str]:
        """Return the labels of some extents that something known may force an object into."""
        leaves = {label for extent in extents for label in extent.labels}
        return find_forced_labels(self.known.knowledge.facts, leaves)

    def is_defined(self, statement: Statement) -> bool:
        """Return whether a statement is proved by definitions alone, without any declared or observed fact.

        The statement must be one of those that planning asks: a set is empty, or a relation such as subset.
        """
        if not self._defined:
            facts_can_matter = any(excludes_objects(fact.statement) for fact in self.known.facts) or not all(
                isinstance(known, SetComparison | Property) for known in self.known.knowledge.facts
            )
            self._defined.append(
                self.known.without("declared", "observed").knowledge if facts_can_matter else self.known.knowledge
            )
        return self._defined[0].entails(statement)

    def drop_declared_facts(self) -> Scene:
        """Return the scene without declared facts and fragments based on declared facts."""
        declared = {fact.id for fact in self.known.facts if fact.origin == "declared"}
        fragments = tuple(stored for stored in self.fragments if declared.isdisjoint(stored.fragment.facts))
        scene = replace(self, known=self.undeclared_knowledge, used_statements=[], _proved={}, _undeclared=[])
        return scene.keep_fragments(fragments)

    def keep_fragments(self, fragments: Iterable[FragmentScan]) -> Scene:
        """Return the scene with some of its fragments; cached results about the other fragments are dropped."""
        return replace(self, fragments=tuple(fragments), views={}, supplies={}, supply_statements={})

    def lies_in(self, extent: Extent, other: Extent) -> bool:
        """Return whether an extent is proved to be a subset of another."""
        return (
            other.digest == everything.digest
            or split_intersection(other).keys() <= split_intersection(extent).keys()
            or self.is_proved(self.state_inside(extent, other))
        )

    def find_covered(self, extents: Sequence[Extent], *, by_later: bool) -> tuple[int, ...]:
        """Return the places of extents that can be left out of their union; see `find_covered_sets`."""
        return find_covered_sets(self.known.knowledge, list(map(self.build_term, extents)), by_later=by_later)

    def is_empty(self, extent: Extent) -> bool:
        """Return whether an extent is proved to have no source."""
        return extent.digest == nothing.digest or self.is_proved(self.state_empty(extent))

    # -- attributes ----------------------------------------------------------------------------------------------

    def note_definitions(self, plan: PlanStep) -> None:
        """Note how the steps of a plan define attributes."""
        for step in walk_steps(plan):
            self.attributes.update(step.attributes)
            if isinstance(step, Derive):
                self._definitions.setdefault(step.attribute.identity, step)
            elif isinstance(step, Calculate) and not step.is_catalog_wide:
                for output in step.outputs:
                    self._definitions.setdefault(output.identity, step)

    def find_definition(self, identity: AttributeIdentity) -> Derive | Calculate | None:
        """Return a step that derives an attribute row by row; None if no noted step does."""
        return self._definitions.get(identity)

    def find_attribute(self, identity: AttributeIdentity) -> DefinedAttribute | None:
        """Return what is known of an attribute that a catalog of the lineage defines; None if it is unknown."""
        if not self._defined_attributes:
            self._defined_attributes.append(DefinedAttributes(map(build_definition, self.lineage)))
        return self._defined_attributes[0].find(identity)

    @property
    def selections(self) -> Iterable[tuple[Condition, Catalog]]:
        """The conditions of all selections in the lineage, each set once, with the first catalog that selects by it."""
        if not self._selections:
            for catalog in cone(*self.catalogs):
                condition = catalog.find_condition()
                if condition is not None:
                    self._selections.setdefault(condition.extent.digest, (condition, catalog))
        return self._selections.values()

    @property
    def atoms(self) -> Mapping[str, Atom]:
        """The atoms of all selections in the lineage, by label."""
        if not self._atoms:
            self._atoms.append({atom.label: atom for condition, _ in self.selections for atom in condition.atoms})
        return self._atoms[0]

    # -- data ----------------------------------------------------------------------------------------------------

    @property
    def described_columns(self) -> Mapping[str, DescribedColumn]:
        """The columns of base catalogs with statistics, by the term for their values. Columns of keys are left out.

        A key belongs to a population, which may have several bases.
        """
        if not self._described_columns:
            self._described_columns.append(dict(_describe_columns(cone(*self.catalogs))))
        return self._described_columns[0]

    def find_stored(self, identities: Iterable[AttributeIdentity]) -> list[FragmentScan]:
        """Return the fragments that hold at least one of the attributes."""
        wanted = frozenset(identities)
        return [stored for stored in self.fragments if wanted & stored.fragment.identities]


def _describe_columns(lineage: Iterable[Catalog]) -> Iterator[tuple[str, DescribedColumn]]:
    """Yield the columns of base catalogs with statistics, each after the term for its values.

    Files that were appended have the same terms; those with the most rows come last, and describe the values best.
    """
    bases = [base for base in list_bases(lineage) if base.part_of is None]  # a part has the same terms
    for base in sorted(bases, key=lambda base: base.files.row_count or 0):
        if base.files.statistics:
            statistics = base.files.column_statistics
            for attribute in base.schema.attributes:
                if attribute.name in statistics and attribute.name not in base.key:
                    column = DescribedColumn(base, attribute.type, statistics[attribute.name])
                    yield backquoted(attribute.identity), column


def _make_sort_key(term: Term) -> tuple[bool, bool, str]:
    """Return the position of a term in an intersection: catalogs, then criteria, then complements."""
    return term.label is None or "`" in term.label, term.postfix[-1] is Op.NOT, str(term)


def split_intersection(extent: Extent) -> dict[str, Extent]:
    """Return the operands of an intersection by digest; for any other extent, only the extent itself."""
    if extent.label is None and not extent.complemented:
        return {part.digest: part for part in extent.parts}
    return {extent.digest: extent}


def find_joined_labels(extent: Extent) -> frozenset[str]:
    """Return the labels of a set, or of the sets of a union; empty for any other extent."""
    if extent.label is not None:
        return frozenset() if extent.complemented else frozenset({extent.label})
    labels = [part.label if part.complemented else None for part in extent.parts] if extent.complemented else [None]
    return frozenset() if None in labels else frozenset(label for label in labels if label is not None)
