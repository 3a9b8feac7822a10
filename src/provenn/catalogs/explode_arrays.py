"""The elements of arrays: each element of the arrays of a source is a source of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.catalog import Catalog, Facts, Parameters
from provenn.catalogs.column_origins import ColumnOrigin, build_origins
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions, require_text
from provenn.catalogs.extent import Extent, leaf
from provenn.catalogs.population import Population
from provenn.catalogs.preimages import lift_extent
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.reference_columns import read_names
from provenn.catalogs.references import Reference, encode_path, lift_label
from provenn.catalogs.schema import Attribute, Schema, check_name
from provenn.criteria import AttributeIdentity
from provenn.criteria.nested_types import read_nested_type
from provenn.criteria.types import INT, Type
from provenn.digests import CatalogDigest, content_digest
from provenn.display.text import join_words
from provenn.errors import DefinitionError, PopulationError
from provenn.hints import Hint
from provenn.logic import Statement, intersection

__all__ = ["ElementColumn", "ExplodeArrays"]

POSITION = "position"


@dataclass(frozen=True, slots=True)
class ElementColumn:
    """An attribute of elements.

    Parameters
    ----------
    attribute
        The attribute.
    array
        The identity of the array that the values are taken from.
    field
        The field of the structs in the array; None if the elements themselves are the values.
    """

    attribute: Attribute
    array: AttributeIdentity
    field: str | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExplodeArrays(Catalog):
    """The elements of arrays of `parent`, side by side. An element has the key of its source, and its position.

    A source with empty arrays, or without arrays, has no elements. If its arrays differ in length, the values of the
    shorter ones are NULL at the end.

    Parameters
    ----------
    parent
        The catalog of the sources with arrays.
    arrays
        The identities of the arrays.
    element
        The name of the population of the elements.
    """

    profile = ClassProfile(
        word="explode", shape="burst", makes_base_set=True, crosses_populations=True, follows_reference=True
    )
    parent: Catalog
    arrays: tuple[AttributeIdentity, ...]
    element: str

    @classmethod
    def of(cls, parent: Catalog, arrays: object, *, population: str | None = None) -> Self:
        """Explode arrays.

        Parameters
        ----------
        parent
            The catalog of the sources with arrays.
        arrays
            The names of the arrays: a name, or a list of names.
        population
            The name of the population of the elements; by default that of the sources and the first array.

        Raises
        ------
        DefinitionError
            If an attribute is not an array.
        AttributeNotFoundError
            If an attribute does not exist.
        AttributeConflictError
            If two attributes of the elements have the same name.
        PopulationError
            If the elements would be of the population of their sources.
        """
        attributes = [parent.schema[name] for name in read_names(arrays, "the arrays")]
        if not attributes:
            raise DefinitionError("no array is named")
        for attribute in attributes:
            if _find_element_type(attribute) is None:
                raise DefinitionError(
                    f"{attribute.name} is not an array but has the type {attribute.type}",
                    hint=Hint("collect(… ORDER BY …) in group() makes arrays", command="`provenn group` makes arrays"),
                )
        name = population or f"{parent.population.name} {attributes[0].name}"
        if name == parent.population.name:
            raise PopulationError(
                f"elements cannot be of the population of their sources: {name}",
                hint="choose another name for the population of the elements",
            )
        return cls(parent, tuple(dict.fromkeys(attribute.identity for attribute in attributes)), name)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent."""
        return (self.parent,)

    @property
    def reference(self) -> Reference:
        """The reference from an element to its source."""
        return _make_reference(self.element, self.parent.population.name, len(self.parent.population.key))

    @property
    def columns(self) -> tuple[ElementColumn, ...]:
        """The attributes of the elements, without the key."""
        return tuple(column for identity in self.arrays for column in self._list_columns(identity))

    def _list_columns(self, identity: AttributeIdentity) -> list[ElementColumn]:
        """Return the attributes that the elements of one array have."""
        array = self.parent.schema.by_identity[identity]
        element = _find_element_type(array)
        if element is None:
            raise DefinitionError(f"{array.name} is not an array")
        inner = read_nested_type(element)
        if inner is None or inner.form != "struct":
            value = Attribute(array.name, self._identify(identity, None), element, True, array.unit, array.description)
            return [ElementColumn(value, identity, None)]
        return [
            ElementColumn(Attribute(name, self._identify(identity, name), kind, True), identity, name)
            for name, kind in zip(inner.names, inner.parts, strict=True)
        ]

    def _identify(self, identity: AttributeIdentity, field: str | None) -> AttributeIdentity:
        content = {"element": identity, "field": field, "population": self.element}
        return AttributeIdentity(content_digest("attribute", content))

    def parameters(self) -> Parameters:
        """Return the arrays, and the populations of the sources and of their elements."""
        return {
            "arrays": list(self.arrays),
            "element": self.element,
            "population": self.parent.population.name,
            "width": len(self.parent.population.key),
        }

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:  # noqa: ARG003
        """Return the catalog with these parameters and parent."""
        (parent,) = dependencies
        arrays = tuple(parent.schema.by_identity[identity].identity for identity in parameters["arrays"])
        return cls(parent, arrays, parameters["element"])

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the elements of the arrays of the same names of a different parent."""
        (parent,) = dependencies
        return self.of(parent, self._find_names(), population=self.element)

    def _find_names(self) -> list[str]:
        attributes = self.parent.schema.by_identity
        return [attributes[identity].name for identity in self.arrays]

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement | None:  # noqa: ARG003
        """Return None: an element is no source of the parent."""
        return None

    @classmethod
    def facts_of(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:
        """Return that the sources are the elements of these arrays whose source is in the parent."""
        reference, parent = cls.find_lift(dependencies, parameters)
        elements = _make_elements_label(parameters["arrays"], parameters["element"])
        return (intersection(digest, lift_label(reference, parent), elements),), ()

    @classmethod
    def find_lift(
        cls, dependencies: Sequence[CatalogDigest], parameters: Parameters
    ) -> tuple[Reference, CatalogDigest]:
        """Return the reference from an element to its source, and the sources."""
        return _make_reference(parameters["element"], parameters["population"], parameters["width"]), dependencies[0]

    @classmethod
    def find_reference(
        cls, dependencies: Sequence[CatalogDigest], parameters: Parameters
    ) -> tuple[Reference, CatalogDigest]:
        """Return the reference from an element to its source, and the sources."""
        return cls.find_lift(dependencies, parameters)

    @classmethod
    def new_attributes_of(cls, digest: CatalogDigest, parameters: Parameters) -> None:
        """Return None: the types of the arrays decide."""

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:  # noqa: ARG003
        """Return the parent in words."""
        return f"the elements of the arrays of {parts[0]}, as the population {parameters['element']}"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return the parent and the arrays."""
        return f"elements of {', '.join(self._find_names())} of {parts[0]}"

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the arrays."""
        return (("arrays", join_words(self._find_names())),)

    def exchange_form(self) -> ExchangeForm:
        """Return the arrays and the population."""
        return self.profile.word, {"arrays": self._find_names(), "population": self.element}

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the elements of arrays of the part."""
        return cls.of(parts[0], options["arrays"], population=require_text(options["population"]))

    # --- the lineage of rows and values ---

    @property
    def row_parents(self) -> tuple[Catalog, ...]:
        """An empty tuple: a row is an element, and its attributes are attributes of the element."""
        return ()

    def trace_attributes(self) -> dict[str, tuple[ColumnOrigin, ...]]:
        """Return the key and the arrays of the parent as origins."""
        digest, attributes = self.parent.digest, self.parent.schema.by_identity
        arrays = [attributes[identity] for identity in self.arrays]
        origins: dict[str, tuple[ColumnOrigin, ...]] = {
            own.name: (ColumnOrigin(digest, key.name),)
            for own, key in zip(self.schema.key, self.parent.schema.key, strict=False)
        }
        origins[self.schema.key[-1].name] = build_origins(digest, arrays, "DIRECT", "TRANSFORMATION", "position")
        for column in self.columns:
            array = [attributes[column.array]]
            origins[column.attribute.name] = build_origins(digest, array, "DIRECT", "TRANSFORMATION", "explode")
        return origins

    def trace_selection(self) -> tuple[ColumnOrigin, ...]:
        """Return the arrays: an element exists for each of their positions."""
        attributes = self.parent.schema.by_identity
        arrays = (attributes[identity] for identity in self.arrays)
        return build_origins(self.parent.digest, arrays, "INDIRECT", "CONDITIONAL", "explode")

    def _build_population(self) -> Population:
        return Population(self.element, (*self.parent.population.key, INT))

    def _build_schema(self) -> Schema:
        key = [
            Attribute(own.name, identity, own.type, False, own.unit, own.description)
            for own, identity in zip(self.parent.schema.key, self.reference.identities, strict=True)
        ]
        taken = {attribute.name for attribute in key} | {column.attribute.name for column in self.columns}
        name = POSITION
        while name in taken:
            name += "_2"
        position = Attribute(check_name(name), self.population.key_identity(len(key)), INT, False)
        return Schema((*key, position, *(column.attribute for column in self.columns)))

    def _build_extent(self) -> Extent:
        elements = leaf(_make_elements_label(self.arrays, self.element))
        return lift_extent(self.reference, self.parent.extent) & elements


def _find_element_type(attribute: Attribute) -> Type | None:
    """Return the type of the elements of an array; None for an attribute that is no array."""
    nested = read_nested_type(attribute.type)
    return nested.parts[0] if nested is not None and nested.form == "array" else None


def _make_reference(element: str, population: str, width: int) -> Reference:
    """Return the reference from elements to their sources: the first part of the key of an element."""
    return Reference(tuple(Population.name_key(element, position) for position in range(width)), population)


def _make_elements_label(arrays: Sequence[str], element: str) -> str:
    """Return the label of all elements of some arrays."""
    return f"elements({encode_path([sorted(arrays), element])})"
