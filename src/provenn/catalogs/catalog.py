"""The abstract base class of all catalogs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from provenn.catalogs.column_origins import ColumnOrigin, Comparison, find_same_attributes
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions
from provenn.catalogs.extent import Extent
from provenn.catalogs.formulas import Formula
from provenn.catalogs.images import Image, Ranking
from provenn.catalogs.match_rule import Coordinate, Matches, MatchRule
from provenn.catalogs.match_sets import SIDES, Side, write_place
from provenn.catalogs.placements import Placement
from provenn.catalogs.population import ONE_POPULATION, Population, make_plural
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.references import Reference
from provenn.catalogs.schema import Attribute, Schema
from provenn.catalogs.selection import Condition
from provenn.criteria import Atom, AttributeIdentity, DefinedAttribute
from provenn.criteria.platforms import Trait
from provenn.digests import CatalogDigest, Json, content_digest
from provenn.errors import DefinitionError, PopulationError
from provenn.logic import Statement, equal

if TYPE_CHECKING:
    from provenn.logic import Relationship

__all__ = [
    "Catalog",
    "Derivation",
    "Facts",
    "Pairing",
    "Parameters",
    "PartnerLookup",
    "definition_digest",
    "make_inconsistency_error",
]

Parameters = Mapping[str, Any]
"""A JSON object in its stored form."""

Facts = tuple[tuple[Statement, ...], tuple[Atom, ...]]
"""The statements of a definition about sets, and the atoms in these statements."""


def definition_digest(kind: str, parameters: Parameters, dependencies: Sequence[CatalogDigest]) -> CatalogDigest:
    """Return the digest of a catalog from its class, parameters and the digests of its dependencies."""
    content: Json = {"kind": kind, "parameters": parameters, "dependencies": dependencies}
    return CatalogDigest(content_digest("catalog", content))


def make_inconsistency_error(problem: str) -> DefinitionError:
    """Return the error for a definition of others that provenn itself would not make."""
    return DefinitionError(problem, hint="it was changed, or written by another version of provenn: define it again")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Catalog(ABC):
    """An immutable definition: class, parameters, dependencies. Equal digests mean the same catalog.

    The class method ``of`` of each class takes user input, checks it and brings it into canonical form. The
    constructors take the canonical form.

    Each class answers for itself in four groups of methods: the definition and its sets; the definition in words; the
    definition in exchanged files; and the lineage of rows and values. A class must have a profile, dependencies and a
    sentence (`describe`); every other method has a default, which fits a class that changes one dependency.

    Attributes
    ----------
    kind
        The name of the class.
    profile
        What is true of all catalogs of the class.
    digest
        The hash of class, parameters and dependencies, in 64 hexadecimal digits.
    population
        What one row is.
    schema
        The attributes.
    extent
        The set of sources.
    """

    kind: ClassVar[str]
    profile: ClassVar[ClassProfile]
    digest: CatalogDigest = field(init=False)
    population: Population = field(init=False)
    schema: Schema = field(init=False)
    extent: Extent = field(init=False)

    def __init_subclass__(cls, **kwargs: object) -> None:
        ABC.__init_subclass__(**kwargs)
        cls.kind = cls.__name__

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        dependencies = [dependency.digest for dependency in self.dependencies]
        set_field(self, "population", self._build_population())
        set_field(self, "digest", definition_digest(self.kind, self.parameters(), dependencies))
        set_field(self, "schema", self._build_schema())
        set_field(self, "extent", self._build_extent())

    # --- the definition, per class ---

    @property
    @abstractmethod
    def dependencies(self) -> tuple[Catalog, ...]:
        """The catalogs in the definition, in their order there."""

    def parameters(self) -> Parameters:
        """Return the complete identity, except class and dependencies, as canonical JSON."""
        return {}

    def notes(self) -> Parameters:
        """Return JSON outside the identity, such as the user's own wording."""
        return {}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:  # noqa: ARG003
        """Return the catalog with these parameters, notes and dependencies."""
        return cls(*dependencies)

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same definition, in the user's wording, on different dependencies, such as newer versions."""
        return self.restored(self.parameters(), self.notes(), dependencies)

    def redefine(self, dependencies: Sequence[Catalog], is_proved: Callable[[Statement], bool]) -> Catalog:  # noqa: ARG002
        """Return the same definition on different dependencies, as a user would define it there.

        Parameters
        ----------
        dependencies
            The new dependencies, in the order of the definition.
        is_proved
            Returns whether a statement about the dependencies is proved, for a definition that rests on a proof.
        """
        return self.on(dependencies)

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement | None:
        """Return the statement about a catalog and its dependencies that follows from the class alone."""
        (parent,) = dependencies
        return equal(digest, parent)

    @classmethod
    def facts_of(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:  # noqa: ARG003
        """Return the statements of a definition about sets; labels are digests and labels of atoms."""
        statement = cls.local_statement(digest, dependencies)
        return () if statement is None else (statement,), ()

    @classmethod
    def new_attributes_of(cls, digest: CatalogDigest, parameters: Parameters) -> tuple[DefinedAttribute, ...] | None:  # noqa: ARG003
        """Return the attributes that a definition introduces; None if they depend on the whole lineage."""
        return ()

    def required_statement(self) -> Statement | None:
        """Return the statement about the dependencies on whose proof the definition rests; None if it rests on none."""
        return None

    def check_consistency(self) -> None:
        """Make sure that everything in a restored definition follows from its words and its dependencies.

        A definition stores the user's words and, to save parsing, the consequences of these words: the set of a
        criterion, the types of expressions. The digest covers both, so it cannot show that they agree. A forged
        definition could otherwise base a proof on another set than Spark selects.

        Raises
        ------
        DefinitionError
            If the definition is not one that provenn itself would make.
        ProvennError
            If nobody can define a catalog like this.
        """
        made_anew = self._define_anew()
        if made_anew is not None and made_anew.digest != self.digest:
            raise make_inconsistency_error("its parameters do not define it on these dependencies")

    def _define_anew(self) -> Catalog | None:
        """Return the catalog that a user gets who defines the same; None for classes whose restoring checks all."""
        return None

    def _build_population(self) -> Population:
        first, *others = self.dependencies
        for other in others:
            if other.population != first.population:
                raise PopulationError(
                    f"{self.kind} needs catalogs of one population: one holds {make_plural(first.population.name)} "
                    f"({', '.join(map(str, first.population.key))}), another {make_plural(other.population.name)} "
                    f"({', '.join(map(str, other.population.key))})",
                    hint=ONE_POPULATION,
                )
        return first.population

    def _build_schema(self) -> Schema:
        return self.dependencies[0].schema

    def _build_extent(self) -> Extent:
        return self.dependencies[0].extent

    # --- the definition in words, per class ---

    @classmethod
    @abstractmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:
        """Return a stored definition as a phrase in plain words, in the user's wording.

        Parameters
        ----------
        parameters, notes
            The parameters and notes of the catalog.
        parts
            The names of the dependencies, in order.
        """

    def describe_briefly(self, parts: Sequence[str]) -> str:  # noqa: ARG002 - other classes read the parts
        """Return a few words that stand for the catalog where it has no name; empty if words would not help.

        Parameters
        ----------
        parts
            The words for the sources of the dependencies, in order.
        """
        return ""

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the parameters for people, as names and texts; an empty text means that there is nothing to show."""
        return ()

    def explain_opacity(self) -> str:
        """Return why provenn does not understand the definition; empty if it does."""
        return ""

    def formulas(self) -> tuple[Formula, ...]:
        """Return how the catalog calculates attributes; empty if it calculates none."""
        return ()

    # --- the definition in exchanged files, per class ---

    def exchange_form(self) -> ExchangeForm:
        """Return the verb and the options of the definition, for another archive."""
        return self.profile.word, {}

    @classmethod
    @abstractmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:
        """Return the catalog that an exchanged definition means, without executing anything from the file.

        Parameters
        ----------
        verb
            One of the verbs of the class.
        options
            The options of the verb. They are read without checks: a missing option or a wrong type raises a
            LookupError, TypeError, ValueError or AttributeError, which the caller reports.
        parts
            The dependencies, as many as the profile allows.

        Raises
        ------
        ProvennError
            If the catalogs do not allow the definition.
        """

    # --- the lineage of rows and values, per class ---

    @property
    def row_parents(self) -> tuple[Catalog, ...]:
        """The dependencies whose rows continue in this catalog, with the identities of their attributes.

        Other dependencies only decide which sources there are. A class whose rows are new has no row parents.
        """
        return self.dependencies[:1]

    def find_derivation(self, identity: AttributeIdentity) -> Derivation | None:  # noqa: ARG002 - derivations read it
        """Return this catalog as a derivation, if it calculates an attribute; otherwise None."""
        return None

    def find_condition(self) -> Condition | None:
        """Return the condition on a row by which the catalog selects sources; None if it has no such condition."""
        return None

    @classmethod
    def find_lift(
        cls,
        dependencies: Sequence[CatalogDigest],  # noqa: ARG003 - lookups read both
        parameters: Parameters,  # noqa: ARG003
    ) -> tuple[Reference, CatalogDigest] | None:
        """Return the reference along which the definition lifts a dependency to its own population; None without."""
        return None

    @classmethod
    def find_reference(
        cls,
        dependencies: Sequence[CatalogDigest],  # noqa: ARG003 - classes that follow references read both
        parameters: Parameters,  # noqa: ARG003
    ) -> tuple[Reference, CatalogDigest] | None:
        """Return the reference that the definition follows, and the dependency that it leads to; None without."""
        return None

    def find_image(self) -> Image | None:
        """Return the partners of a dependency on which the sources depend; None if they depend on no partners."""
        return None

    def find_ranking(self) -> Ranking | None:
        """Return which sources are first in their groups, if that decides about the sources; otherwise None."""
        return None

    def find_lookup(self) -> PartnerLookup | None:
        """Return this catalog as a lookup, if it has attributes of partners; otherwise None."""
        return None

    def find_aggregates(self) -> dict[str, AttributeIdentity]:
        """Return the attributes that aggregate the members of groups: identities by aggregates in normal form."""
        return {}

    def find_expressions(self) -> dict[AttributeIdentity, str]:
        """Return the SQL expressions, in normal form, by the identities of the attributes that they define."""
        return {}

    def find_outputs(
        self,
        calculator: str,  # noqa: ARG002 - derivations read both
        inputs: Sequence[AttributeIdentity | None],  # noqa: ARG002
    ) -> tuple[AttributeIdentity, ...]:
        """Return the outputs of a Python calculator, by digest, if the catalog calls it with these inputs; or empty."""
        return ()

    def find_pairing(self) -> Pairing | None:
        """Return this catalog as a pairing, if its rows are pairs that it makes itself; otherwise None."""
        return None

    def find_single_pairs(self) -> Catalog | None:
        """Return a catalog in which each source of this catalog has exactly one pair; None if none is known."""
        return None

    def trace_attributes(self) -> dict[str, tuple[ColumnOrigin, ...]]:
        """Return the origins of each attribute in the dependencies, by attribute name."""
        providers = {parent.digest: parent.schema.by_identity for parent in self.row_parents}
        return {attribute.name: find_same_attributes(attribute, providers) for attribute in self.schema.attributes}

    def trace_selection(self) -> tuple[ColumnOrigin, ...]:
        """Return the attributes of the dependencies by which the catalog selects sources."""
        return ()

    def list_comparisons(self) -> tuple[Comparison, ...]:
        """Return the selection as a conjunction of comparisons with numbers; empty if it has another form."""
        return ()

    def find_own_traits(self) -> frozenset[Trait]:
        """Return the platform traits that the definition adds to those of the dependencies."""
        return frozenset()

    # --- derived from the definition ---

    def facts(self) -> tuple[Statement, ...]:
        """Return the statements of the definition about sets; labels are digests and labels of atoms."""
        return self._derive_facts()[0]

    def atoms(self) -> tuple[Atom, ...]:
        """Return the atoms in the facts."""
        return self._derive_facts()[1]

    def _derive_facts(self) -> Facts:
        return self.facts_of(self.digest, [dependency.digest for dependency in self.dependencies], self.parameters())

    def relationship(self) -> Relationship:
        """Return the local relationship with the direct dependencies, as in the paper; labels are digests.

        Raises
        ------
        BudgetError
            If there are too many dependencies for hypercubes.
        """
        from provenn.logic import Relationship  # noqa: PLC0415 - a command starts without it

        labels = [self.digest, *dict.fromkeys(dependency.digest for dependency in self.dependencies)]
        statement = self.local_statement(labels[0], [dependency.digest for dependency in self.dependencies])
        return Relationship.of(*([] if statement is None else [statement]), labels=labels)

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Catalog) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.digest[:12]}>"


class Derivation(Catalog):
    """A catalog that calculates attributes from the attributes of one parent.

    Attributes
    ----------
    parent
        The catalog of the sources and inputs.
    """

    __slots__ = ()

    parent: Catalog

    @property
    @abstractmethod
    def is_catalog_wide(self) -> bool:
        """Whether a value may depend on all sources of the parent, and not on its own source alone."""

    @abstractmethod
    def find_inputs(self, identity: AttributeIdentity) -> dict[str, AttributeIdentity]:
        """Return the attributes from which an attribute is calculated: identities by their names in the parent."""

    @abstractmethod
    def derive_single(self, identity: AttributeIdentity, parent: Catalog) -> Catalog:
        """Return the derivation of a single attribute on another parent, without further results where possible."""

    @abstractmethod
    def is_derived_by(
        self, identity: AttributeIdentity, calculators: Collection[str], expressions: Collection[tuple[str, str, str]]
    ) -> bool:
        """Return whether an attribute is calculated by some calculators or SQL expressions.

        Parameters
        ----------
        identity
            The attribute.
        calculators
            Digests of Python calculators.
        expressions
            Names, SQL as written, and stated units; an empty unit if none was stated.
        """


class Pairing(Catalog):
    """A catalog of pairs of sources of two catalogs that are close to each other on the sky.

    Attributes
    ----------
    left, right
        The catalogs on the two sides.
    rule
        Which pairs of close sources it keeps.
    coordinates
        Right ascension and declination of `left`, then of `right`.
    placements
        How the positions of both sides become positions in ICRS at a common epoch.
    """

    __slots__ = ()

    left: Catalog
    right: Catalog
    rule: MatchRule
    coordinates: tuple[Coordinate, ...]
    placements: tuple[Placement, Placement]

    @property
    def radius(self) -> float:
        """The largest separation of the sources of a pair, in arcseconds."""
        return self.rule.radius

    @property
    def matches(self) -> Matches:
        """The pairs to keep, as in the rule."""
        return self.rule.matches

    def inputs_of(self, side: Side) -> tuple[Coordinate, ...]:
        """Return the attributes of a side from which pairs are found: position, motion, and the radius of a source."""
        first, radius = 2 * SIDES.index(side), self.rule.radius_column if side == "left" else None
        position = self.coordinates[first : first + 2] + self.placements[SIDES.index(side)].inputs
        return position if radius is None else (*position, radius)

    def places_of(self, *sides: Side) -> list[str]:
        """Return the positions of sides as parts of the terms of sets; without sides, those of both."""
        return [
            text
            for side in sides or SIDES
            for text in write_place(self.coordinates[2 * SIDES.index(side) :][:2], self.placements[SIDES.index(side)])
        ]

    @abstractmethod
    def describe_placements(self) -> list[str]:
        """Return how the positions of both sides are placed, and why, in words; empty if they are taken as they are."""

    def describe_distance(self) -> str:
        """Return how close the sources of a pair are, in words."""
        column = self.rule.radius_column
        return self.rule.describe_distance("" if column is None else self.left.schema.by_identity[column[0]].name)

    def is_like(self, other: Pairing) -> bool:
        """Return whether both pair the same populations by the same rule; the radius attributes may differ."""
        return self._outline() == other._outline()

    def _outline(self) -> tuple[object, ...]:
        """Return what matches of different catalogs may have in common."""
        sides = ((self.get_side(side).population, len(self.inputs_of(side))) for side in SIDES)
        placements = (placement.outline() for placement in self.placements)
        return replace(self.rule, radius_column=None), *sides, *placements

    def get_side(self, side: Side) -> Catalog:
        """Return the catalog on a side."""
        return self.left if side == "left" else self.right

    @property
    @abstractmethod
    def separation(self) -> Attribute:
        """The attribute with the separation of the sources of a pair, in arcseconds."""

    @abstractmethod
    def attributes_of(self, side: Side) -> tuple[tuple[Attribute, Attribute], ...]:
        """Return the attributes of a side, each as the attribute of the pair and as the attribute of the side."""


class PartnerLookup(Catalog):
    """A catalog with attributes of partners, which a reference identifies.

    Attributes
    ----------
    parent
        The catalog of the sources.
    other
        The catalog of the partners.
    reference
        The attributes of `parent` that hold the key of the partner.
    on_names
        The names of the referring attributes, in the user's words.
    """

    __slots__ = ()

    parent: Catalog
    other: Catalog
    reference: Reference
    on_names: tuple[str, ...]

    @property
    @abstractmethod
    def requires_partners(self) -> bool:
        """Whether a source without a partner is an error when data are computed."""

    @abstractmethod
    def find_names(self) -> list[str]:
        """Return the names of the referring attributes in the parent."""

    @abstractmethod
    def require_partners(self, sources: Catalog) -> PartnerLookup:
        """Return the same lookup for the parent's sources in another catalog, each of which must have a partner."""
