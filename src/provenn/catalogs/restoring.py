"""Restoring catalogs from their stored form, and the facts of a stored definition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from provenn.catalogs.catalog import Catalog, Facts, Parameters, definition_digest
from provenn.catalogs.verbs import CLASSES
from provenn.criteria import DefinedAttribute
from provenn.digests import CatalogDigest
from provenn.errors import DefinitionError, ProvennError, did_you_mean
from provenn.gate.entrances import entrance

__all__ = ["cone", "definition_digest", "facts_of", "find_class", "new_attributes_of", "restore"]


def find_class(kind: str) -> type[Catalog]:
    """Return the catalog class with a name.

    Raises
    ------
    DefinitionError
        If the class does not exist.
    """
    if kind not in CLASSES:
        hint = did_you_mean(kind, CLASSES) or "a newer version of provenn may know it"
        raise DefinitionError(f"unknown catalog class {kind!r}", hint=hint)
    return CLASSES[kind]


def facts_of(kind: str, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:
    """Return the statements of a stored definition about sets, and the atoms in them, without restoring the catalog.

    Parameters
    ----------
    kind
        The name of the class.
    digest
        The digest of the catalog: the label of its set.
    dependencies
        The digests of its dependencies, in order.
    parameters
        Its parameters.

    Raises
    ------
    DefinitionError
        If the class does not exist, or the parameters do not fit the class.
    """
    catalog_class = find_class(kind)
    with _check_readable(kind):
        return catalog_class.facts_of(digest, dependencies, parameters)


def new_attributes_of(kind: str, digest: CatalogDigest, parameters: Parameters) -> tuple[DefinedAttribute, ...] | None:
    """Return the attributes that a stored definition introduces; None if they depend on the whole lineage.

    Raises
    ------
    DefinitionError
        If the class does not exist, or the parameters do not fit the class.
    """
    catalog_class = find_class(kind)
    with _check_readable(kind):
        return catalog_class.new_attributes_of(digest, parameters)


@entrance("definition of a catalog", "types", "criteria", "formats")
def restore(kind: str, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Catalog:
    """Return the catalog with this stored form. The caller must compare the digest with the stored digest.

    Raises
    ------
    DefinitionError
        If the class does not exist, or the parameters do not fit the class.
    """
    catalog_class = find_class(kind)
    with _check_readable(kind):
        return catalog_class.restored(parameters, notes, dependencies)


@contextmanager
def _check_readable(kind: str) -> Iterator[None]:
    """Raise failures to read stored parameters as a DefinitionError."""
    try:
        yield
    except ProvennError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DefinitionError(f"a {kind} cannot have these parameters: {error!r}") from error


def cone(*catalogs: Catalog) -> tuple[Catalog, ...]:
    """Return the catalogs and their whole lineage, without duplicates, dependencies first."""
    lineage: dict[CatalogDigest, Catalog] = {}
    stack = list(reversed(catalogs))
    while stack:
        catalog = stack[-1]
        missing = [dependency for dependency in catalog.dependencies if dependency.digest not in lineage]
        if missing:
            stack.extend(reversed(missing))
        else:
            lineage.setdefault(stack.pop().digest, catalog)
    return tuple(lineage.values())
