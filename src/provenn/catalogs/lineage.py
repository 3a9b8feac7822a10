"""Catalogs from what is stored of them, and what can be said of them without making them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from provenn.catalogs.base import Base
from provenn.catalogs.catalog import Catalog, Facts, Parameters, definition_digest
from provenn.catalogs.combine_attributes import CombineAttributes
from provenn.catalogs.concat_sources import ConcatSources
from provenn.catalogs.cross_match import CrossMatch
from provenn.catalogs.derive_attributes import DeriveAttributes
from provenn.catalogs.exclude_sources import ExcludeSources
from provenn.catalogs.keep_attributes import KeepAttributes
from provenn.catalogs.matched_sources import MatchedSources
from provenn.catalogs.rename_attributes import RenameAttributes
from provenn.catalogs.restrict_sources import RestrictSources
from provenn.catalogs.sample_sources import SampleSources
from provenn.catalogs.select_sources import SelectSources
from provenn.errors import DefinitionError, ProvennError, did_you_mean

__all__ = ["CLASSES", "cone", "definition_digest", "facts_of", "restore"]

CLASSES: dict[str, type[Catalog]] = {
    one.kind: one
    for one in (
        Base,
        SelectSources,
        RestrictSources,
        ExcludeSources,
        SampleSources,
        KeepAttributes,
        RenameAttributes,
        DeriveAttributes,
        CombineAttributes,
        ConcatSources,
        CrossMatch,
        MatchedSources,
    )
}
"""The catalog classes, by name."""


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
    with _readable(kind):
        return CLASSES[kind].facts_of(digest, dependencies, parameters)


def restore(kind: str, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Catalog:
    """Return the catalog of which these are stored. Whether its digest is the stored one is the caller's to check.

    Raises
    ------
    DefinitionError
        If there is no such class, or these are not its parameters.
    """
    with _readable(kind):
        return CLASSES[kind].restored(parameters, notes, dependencies)


@contextmanager
def _readable(kind: str) -> Iterator[None]:
    if kind not in CLASSES:
        hint = did_you_mean(kind, CLASSES) or "a newer version of provenn may know it"
        raise DefinitionError(f"there is no class of catalogs {kind!r}", hint=hint)
    try:
        yield
    except ProvennError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DefinitionError(f"a {kind} cannot have these parameters: {error!r}") from error


def cone(*catalogs: Catalog) -> tuple[Catalog, ...]:
    """Return catalogs and all they are made from, each once, after its dependencies."""
    found: dict[str, Catalog] = {}
    stack = list(reversed(catalogs))
    while stack:
        one = stack[-1]
        missing = [dependency for dependency in one.dependencies if dependency.digest not in found]
        if missing:
            stack.extend(reversed(missing))
        else:
            found.setdefault(stack.pop().digest, one)
    return tuple(found.values())
