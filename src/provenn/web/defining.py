"""The parameters of a catalog definition as text, and the catalogs that define its attributes."""

from __future__ import annotations

from dataclasses import dataclass

from provenn.catalogs import Catalog, cone

__all__ = ["DefinitionParameter", "find_definers", "list_parameters"]


@dataclass(frozen=True, slots=True)
class DefinitionParameter:
    """A parameter of a definition: its name and its value as text."""

    name: str
    value: str


def list_parameters(catalog: Catalog) -> tuple[DefinitionParameter, ...]:
    """Return the parameters of a definition, without its class and its dependencies."""
    return tuple(DefinitionParameter(name, value) for name, value in catalog.show_parameters() if value)


def find_definers(catalog: Catalog) -> dict[str, tuple[Catalog, str]]:
    """Return, by attribute identity, the defining catalog and the name of each attribute in a lineage."""
    origins: dict[str, tuple[Catalog, str]] = {}
    for ancestor in cone(catalog):
        for attribute in ancestor.schema.attributes:
            origins.setdefault(attribute.identity, (ancestor, attribute.name))
    return origins
