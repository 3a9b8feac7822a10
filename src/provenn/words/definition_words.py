"""Definitions in plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from provenn.catalogs.restoring import find_class

if TYPE_CHECKING:
    from provenn.catalogs import Catalog
    from provenn.catalogs.catalog import Parameters

__all__ = ["describe_definition", "describe_publicly", "describe_stored_definition", "drop_folder"]


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


def describe_publicly(catalog: Catalog, word: Callable[[str], str]) -> str:
    """Return a catalog's definition in words that may be published: of files, only the last part of their path.

    Parameters
    ----------
    catalog
        The definition.
    word
        Returns the name of a catalog from its digest.
    """
    parts = [word(dependency.digest) for dependency in catalog.dependencies]
    notes = dict(catalog.notes())
    if "location" in notes:
        notes["location"] = drop_folder(str(notes["location"]))
    return catalog.describe(catalog.parameters(), notes, parts)


def drop_folder(location: str) -> str:
    """Return the last part of the path of files, which tells nobody where they lie.

    >>> drop_folder("/srv/ada/stars.parquet"), drop_folder("s3://bucket/survey/"), drop_folder("db.stars")
    ('stars.parquet', 'survey', 'db.stars')
    """
    return location.rstrip("/").rpartition("/")[2]


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
