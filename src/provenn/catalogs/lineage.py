"""Catalogs from what is stored of them, and what can be said of them without making them."""

from __future__ import annotations

from collections.abc import Sequence

from provenn.catalogs.catalog import Catalog, Facts, Parameters, definition_digest

__all__ = ["cone", "definition_digest", "facts_of", "restore"]


def facts_of(kind: str, digest: str, dependencies: Sequence[str], parameters: Parameters) -> Facts:
    """Return what a definition says of sets, and the atoms it mentions; from what is stored alone, and fast.

    Parameters
    ----------
    kind
        The name of the class.
    digest
        The digest of the catalog, which labels its set.
    dependencies
        The digests of its dependencies, in order.
    parameters
        Its parameters.

    Raises
    ------
    DefinitionError
        If there is no such class, or these are not its parameters.
    """
    raise NotImplementedError


def restore(kind: str, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Catalog:
    """Return the catalog of which these are stored. Whether its digest is the stored one is the caller's to check.

    Raises
    ------
    DefinitionError
        If there is no such class, or these are not its parameters.
    """
    raise NotImplementedError


def cone(*catalogs: Catalog) -> tuple[Catalog, ...]:
    """Return catalogs and all their ancestors, each once, after its dependencies."""
    raise NotImplementedError
