"""The attributes of a catalog that refer to another population, or group its sources: read from a user, or restored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from provenn.catalogs.catalog import Catalog
from provenn.catalogs.population import Population, make_plural
from provenn.catalogs.references import Reference
from provenn.catalogs.schema import Attribute
from provenn.criteria import AttributeIdentity
from provenn.criteria.types import DOUBLE, FLOAT
from provenn.errors import DefinitionError, PopulationError
from provenn.hints import Hint

__all__ = ["find_grouping", "find_reference", "read_names", "read_reference", "restore_reference"]


def read_names(names: object, what: str) -> list[str]:
    """Return a name, or a list of names, as a list.

    Raises
    ------
    DefinitionError
        If the argument is neither.
    """
    listed: list[object] = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    texts = [name for name in listed if isinstance(name, str)]
    if len(texts) < len(listed):
        raise DefinitionError(f"expected names of attributes for {what}, got {names!r}")
    return texts


def find_grouping(catalog: Catalog, names: object, what: str) -> tuple[Attribute, ...]:
    """Return the attributes of a catalog with some names, each once, if they can identify something.

    Raises
    ------
    DefinitionError
        If no attribute is named, one is named twice, or its values cannot be compared.
    AttributeNotFoundError
        If an attribute does not exist.
    """
    attributes = tuple(catalog.schema[name] for name in read_names(names, what))
    if not attributes:
        raise DefinitionError(f"no attribute is named for {what}")
    for attribute in attributes:
        if not attribute.type.scalar:
            raise DefinitionError(
                f"{attribute.name} has the type {attribute.type}, which cannot identify anything",
                hint=Hint("use one of its elements, or explode() it", command="use one of its elements, or explode it"),
            )
        if attribute.type in (FLOAT, DOUBLE):
            raise DefinitionError(
                f"{attribute.name} is a floating-point number, which identifies nothing: -0.0 equals 0.0",
                hint=f"derive a whole number, a decimal or a text from it: CAST({attribute.name} AS decimal(20,6))",
            )
    if len({attribute.identity for attribute in attributes}) < len(attributes):
        raise DefinitionError(f"an attribute is named twice for {what}: {', '.join(map(_get_name, attributes))}")
    return attributes


def find_reference(catalog: Catalog, on: object, population: Population) -> tuple[Reference, tuple[str, ...]]:
    """Return the reference that some attributes of a catalog are, and their names.

    Raises
    ------
    PopulationError
        If the attributes do not fit the key of the population.
    """
    attributes = find_grouping(catalog, on, "the reference")
    kinds = tuple(attribute.type for attribute in attributes)
    if kinds != population.key:
        described = ", ".join(f"{attribute.name} {attribute.type}" for attribute in attributes)
        needed = ", ".join(map(str, population.key))
        wrong = next((attribute for attribute in attributes if attribute.type not in population.key), attributes[0])
        raise PopulationError(
            f"{described} cannot refer to {make_plural(population.name)}, whose key is {needed}",
            hint="name the attributes in the order of the key"
            if len(kinds) != len(population.key)
            else f"derive it with the type of the key: CAST({wrong.name} AS {population.key[kinds.index(wrong.type)]})",
        )
    reference = Reference(tuple(attribute.identity for attribute in attributes), population.name)
    return reference, tuple(map(_get_name, attributes))


def _get_name(attribute: Attribute) -> str:
    return attribute.name


def read_reference(content: Sequence[Any]) -> Reference:
    """Return the reference with a JSON form, as it stands there."""
    identities, population = content
    return Reference(tuple(map(AttributeIdentity, identities)), population)


def restore_reference(content: Sequence[Any], catalog: Catalog, population: Population) -> Reference:
    """Return a stored reference of a catalog to a population.

    Raises
    ------
    DefinitionError
        If the catalog has no such attributes, or they do not fit the population.
    """
    reference = read_reference(content)
    attributes = [catalog.schema.by_identity[identity] for identity in reference.identities]
    if reference.population != population.name or tuple(attribute.type for attribute in attributes) != population.key:
        raise DefinitionError(f"{content!r} is not a reference to {make_plural(population.name)}")
    return reference
