"""The groups of the sources of a catalog: each group is a source, with aggregates of its members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.catalog import Catalog, Facts, Parameters, make_inconsistency_error
from provenn.catalogs.column_origins import ColumnOrigin, build_origins
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions
from provenn.catalogs.extent import Extent
from provenn.catalogs.formulas import Formula
from provenn.catalogs.images import Image, find_members
from provenn.catalogs.population import Population
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.reference_columns import find_grouping, read_reference
from provenn.catalogs.references import Reference
from provenn.catalogs.schema import Attribute, Schema, check_name
from provenn.criteria import AttributeIdentity, Type
from provenn.criteria.aggregates import Aggregate, parse_aggregate
from provenn.criteria.platforms import Trait
from provenn.digests import CatalogDigest, content_digest
from provenn.display.text import join_words
from provenn.errors import DefinitionError, PopulationError
from provenn.files.type_names import restore_type
from provenn.hints import Hint
from provenn.logic import Statement, equal

__all__ = ["Aggregation", "GroupSources", "make_aggregate_identity"]


@dataclass(frozen=True, slots=True)
class Aggregation:
    """An attribute of groups.

    Parameters
    ----------
    name
        Its name.
    canonical
        The aggregate in normal form, over identities of attributes of the members.
    type, nullable, unit
        Those of its values, stored to avoid parsing SQL again.
    text
        The aggregate in the user's wording.
    """

    name: str
    canonical: str
    type: Type
    nullable: bool
    unit: str
    text: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupSources(Catalog):
    """The groups of the sources of `parent` that agree in some attributes; a group is a source of its own population.

    A source whose grouping attributes hold a NULL is in no group.

    Parameters
    ----------
    parent
        The catalog of the members.
    reference
        The grouping attributes, which identify the group among its population.
    key_names
        The names of the key attributes of the groups.
    aggregations
        The attributes of the groups.
    """

    profile = ClassProfile(
        word="group",
        shape="bracket",
        makes_base_set=True,
        crosses_populations=True,
        describes_groups=True,
        compares_groups=True,
    )
    parent: Catalog
    reference: Reference
    key_names: tuple[str, ...]
    aggregations: tuple[Aggregation, ...]

    @classmethod
    def of(
        cls,
        parent: Catalog,
        by: object,
        aggregates: Mapping[str, str] | None = None,
        *,
        population: Population | str | None = None,
    ) -> Self:
        """Group sources.

        Parameters
        ----------
        parent
            The catalog of the members.
        by
            The attributes in which the members of a group agree: a name, or a list of names.
        aggregates
            Names of attributes of the groups, and aggregates in SQL.
        population
            The population of the groups; a name alone is a new population with the types of the attributes. By
            default, it has the names of these attributes.

        Raises
        ------
        DefinitionError
            If an argument is not valid.
        PopulationError
            If the attributes do not fit the key of the population.
        CriterionError
            If an aggregate cannot be read.
        AttributeConflictError
            If two attributes have the same name.
        """
        attributes = find_grouping(parent, by, "the groups")
        kinds = tuple(attribute.type for attribute in attributes)
        if not isinstance(population, Population):
            name = population or ", ".join(attribute.name for attribute in attributes)
            population = Population(name, kinds)
        if population.key != kinds:
            described = ", ".join(f"{attribute.name} {attribute.type}" for attribute in attributes)
            raise PopulationError(
                f"({described}) cannot be the key of the population {population}",
                hint="name the attributes in the order of its key, with its types; or choose another population",
            )
        reference = Reference(tuple(attribute.identity for attribute in attributes), population.name)
        if not isinstance(aggregates, Mapping | None):
            raise DefinitionError(
                f"expected names and aggregates, got {aggregates!r}", hint='for example {"n": "count(*)"}'
            )
        aggregations = tuple(_parse_aggregation(name, text, parent) for name, text in (aggregates or {}).items())
        return cls(parent, reference, tuple(attribute.name for attribute in attributes), aggregations)

    def check_consistency(self) -> None:
        """Make sure that the attributes can group sources, and that aggregates have the stored text and types."""
        find_grouping(self.parent, self._find_names(), "the groups")
        for aggregation, aggregate in zip(self.aggregations, self.parse_aggregates(), strict=True):
            if aggregate.canonical != aggregation.canonical:
                raise make_inconsistency_error(f"the aggregate of {aggregation.name} is not in normal form")
            if (aggregate.type, aggregate.nullable) != (aggregation.type, aggregation.nullable):
                raise make_inconsistency_error(f"the type of {aggregation.name} is not that of its aggregate")

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent."""
        return (self.parent,)

    def parse_aggregates(self) -> tuple[Aggregate, ...]:
        """Return the aggregates, in the order of the attributes."""
        schema = self.parent.schema.by_canonical_name
        return tuple(parse_aggregate(output.canonical, schema, canonical=True) for output in self.aggregations)

    def find_aggregates(self) -> dict[str, AttributeIdentity]:
        """Return the attributes of the groups: identities by aggregates in normal form."""
        return {output.canonical: self.schema[output.name].identity for output in self.aggregations}

    def find_image(self) -> Image:
        """Return the groups, as the partners of the members."""
        return Image(self.reference, self.parent.extent)

    def parameters(self) -> Parameters:
        """Return the grouping attributes, the label of the groups, and the aggregates."""
        return {
            "reference": self.reference.to_json(),
            "groups": self.find_image().label,
            "key": list(self.key_names),
            "aggregates": [
                [output.name, output.canonical, str(output.type), output.nullable] for output in self.aggregations
            ],
        }

    def notes(self) -> Parameters:
        """Return the aggregates in the user's wording, and their units."""
        return {
            "texts": {output.name: output.text for output in self.aggregations},
            "units": {output.name: output.unit for output in self.aggregations if output.unit},
        }

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:
        """Return the catalog with these parameters, notes and parent."""
        (parent,) = dependencies
        reference = read_reference(parameters["reference"])
        if not parent.schema.by_identity.keys() >= set(reference.identities):
            raise DefinitionError(f"the members have no attributes {parameters['reference'][0]!r}")
        if len(parameters["key"]) != len(reference.identities):
            raise DefinitionError(f"{parameters['key']!r} are not the names of {len(reference.identities)} attributes")
        aggregations = tuple(
            Aggregation(
                check_name(name),
                canonical,
                restore_type(kind),
                bool(nullable),
                notes["units"].get(name, ""),
                notes["texts"][name],
            )
            for name, canonical, kind, nullable in parameters["aggregates"]
        )
        return cls(parent, reference, tuple(map(check_name, parameters["key"])), aggregations)

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same groups of a different parent."""
        (parent,) = dependencies
        by = [parent.schema[name].name for name in self._find_names()]
        aggregates = {output.name: output.text for output in self.aggregations}
        grouped = self.of(parent, by, aggregates, population=self.population)
        return type(self)(parent, grouped.reference, self.key_names, grouped.aggregations)

    def _find_names(self) -> list[str]:
        """Return the names of the grouping attributes in the parent."""
        attributes = self.parent.schema.by_identity
        return [attributes[identity].name for identity in self.reference.identities]

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement | None:  # noqa: ARG003
        """Return None: a group is no source of the parent."""
        return None

    @classmethod
    def facts_of(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:  # noqa: ARG003
        """Return that the sources are the groups that have a member."""
        return (equal(digest, parameters["groups"]),), ()

    @classmethod
    def new_attributes_of(cls, digest: CatalogDigest, parameters: Parameters) -> None:
        """Return None: the sources of the members decide the identities."""

    # --- the definition in words and in exchanged files ---

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:
        """Return the parent, the grouping attributes and the aggregates in words."""
        groups = f"the groups of the sources of {parts[0]} with the same {join_words(parameters['key'])}"
        new = [f"{name} = {notes['texts'][name]}" for name, *_ in parameters["aggregates"]]
        return f"{groups}, with {join_words(new)}" if new else groups

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return the parent and the grouping attributes."""
        return f"{parts[0]} by {', '.join(self.key_names)}"

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the grouping attributes and the aggregates."""
        return (("by", ", ".join(self._find_names())), *((output.name, output.text) for output in self.aggregations))

    def formulas(self) -> tuple[Formula, ...]:
        """Return a formula for each aggregate."""
        return tuple(
            Formula((output.name,), "SQL", output.text, "", "", self.schema[output.name].identity)
            for output in self.aggregations
        )

    def exchange_form(self) -> ExchangeForm:
        """Return the grouping attributes, the population, and the aggregates in the user's wording, in order."""
        return self.profile.word, {
            "by": self._find_names(),
            "population": self.population.name,
            "aggregates": [[output.name, output.text] for output in self.aggregations],
        }

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the groups of the part."""
        return cls.of(parts[0], options["by"], dict(options["aggregates"]), population=options["population"])

    # --- the lineage of rows and values ---

    @property
    def row_parents(self) -> tuple[Catalog, ...]:
        """An empty tuple: a row is a group, and its attributes are attributes of the group."""
        return ()

    def trace_attributes(self) -> dict[str, tuple[ColumnOrigin, ...]]:
        """Return the grouping attributes as origins of the key, and what aggregates read as origins of their values."""
        digest, attributes = self.parent.digest, self.parent.schema.by_identity
        origins: dict[str, tuple[ColumnOrigin, ...]] = {
            name: (ColumnOrigin(digest, attributes[identity].name),)
            for name, identity in zip(self.key_names, self.reference.identities, strict=True)
        }
        for output, aggregate in zip(self.aggregations, self.parse_aggregates(), strict=True):
            counted = [attribute.identity for attribute in self.parent.schema.key]  # count(*) counts the members
            read = (attributes[identity] for identity in sorted(aggregate.reads) or counted)
            origins[output.name] = build_origins(digest, read, "DIRECT", "AGGREGATION", output.text)
        return origins

    def trace_selection(self) -> tuple[ColumnOrigin, ...]:
        """Return the grouping attributes."""
        attributes = self.parent.schema.by_identity
        grouping = (attributes[identity] for identity in self.reference.identities)
        return build_origins(self.parent.digest, grouping, "INDIRECT", "GROUP_BY", "one source for each group")

    def find_own_traits(self) -> frozenset[Trait]:
        """Return the trait of the machine: sums of floating-point numbers depend on the order of adding."""
        doubles = any(output.type.name in ("float", "double") for output in self.aggregations)
        return frozenset([Trait.MACHINE]) if doubles else frozenset()

    def _build_population(self) -> Population:
        attributes = self.parent.schema.by_identity
        kinds = tuple(attributes[identity].type for identity in self.reference.identities)
        return Population(self.reference.population, kinds)

    def _build_schema(self) -> Schema:
        own = self.parent.schema.by_identity
        key = [
            Attribute(name, identity, own[grouping].type, False, own[grouping].unit, own[grouping].description)
            for name, identity, grouping in zip(
                self.key_names, self.reference.key, self.reference.identities, strict=True
            )
        ]
        members = find_members(self.reference.identities, self.parent.extent)
        values = [
            Attribute(
                output.name,
                make_aggregate_identity(self.reference, output.canonical, members),
                output.type,
                output.nullable,
                output.unit,
            )
            for output in self.aggregations
        ]
        return Schema((*key, *values))

    def _build_extent(self) -> Extent:
        return self.find_image().extent


def make_aggregate_identity(reference: Reference, canonical: str, members: Extent) -> AttributeIdentity:
    """Return the identity of an aggregate: the members of a group decide its value, whatever its name.

    Sound: `members` leaves out only conditions that hold for all sources of a group or for none (`find_members`). So
    two catalogs with the same members have the same sources in every group that both have.
    """
    content = {"aggregate": canonical, "by": reference.to_json(), "members": members.digest}
    return AttributeIdentity(content_digest("attribute", content))


def _parse_aggregation(name: object, text: object, parent: Catalog) -> Aggregation:
    """Return a named aggregate of the members."""
    if not isinstance(text, str):
        raise DefinitionError(
            f"expected an aggregate in SQL for {name!r}, got {text!r}",
            hint=Hint('for example n="count(*)"', command="for example 'n = count(*)'"),
        )
    aggregate = parse_aggregate(text, parent.schema)
    return Aggregation(check_name(name), aggregate.canonical, aggregate.type, aggregate.nullable, aggregate.unit, text)
