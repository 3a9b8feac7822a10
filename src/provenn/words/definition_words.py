"""Definitions in plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from provenn.catalogs.restoring import find_class

if TYPE_CHECKING:
    from provenn.catalogs import Catalog
    from provenn.catalogs.catalog import Parameters

__all__ = ["describe_definition", "describe_stored_definition"]


def describe_definition(catalog: Catalog, word: Callable[[str], str]) -> str:
    """Return a catalog's definition in words, as the user wrote it.

    Parameters
    ----------
    catalog
        The definition.
    word
        Returns the name of a catalog from its digest.
    """
    parts = [word(dependency.digest) for dependency in catalog.dependencies]
    return catalog.describe(catalog.parameters(), catalog.notes(), parts)


def describe_stored_definition(kind: str, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:
    """Return a definition in words from its stored record alone, without reading its dependencies.

    Parameters
    ----------
    kind
        The name of the class.
    parameters, notes
        The parameters and notes of the class.
    parts
        The names of the dependencies, in order.

    Raises
    ------
    DefinitionError
        If the class does not exist.
    """
    return find_class(kind).describe(parameters, notes, parts)
