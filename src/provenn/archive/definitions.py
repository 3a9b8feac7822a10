"""Definitions that depend on what the archive knows: concatenations, and catalogs made anew on new base files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from provenn.archive.questions import proves
from provenn.catalogs import Base, Catalog, ConcatSources, differing_attributes
from provenn.errors import CatalogNameError, DefinitionError, ProvennError
from provenn.logic import disjoint
from provenn.store import catalog_store, names
from provenn.store.database import Reading, Writing
from provenn.store.descendants import descendants

__all__ = ["Order", "concatenated", "disjointly_concatenated", "replace_base"]

Order = Literal["first"]
"""Which of several members that have a source gives its values."""


def concatenated(reading: Reading, members: Sequence[Catalog], order: Order | None) -> ConcatSources:
    """Return the concatenation of catalogs that the archive holds.

    Where members define attributes differently and no order is given, they must be proved to share no source.
    """
    if order is None and len(members) > 1 and differing_attributes(*members) and _are_disjoint(reading, members):
        return ConcatSources.of(*members, overlap="disjoint")
    return ConcatSources.of(*members, overlap=order)


def disjointly_concatenated(reading: Reading, catalogs: Collection[Catalog]) -> list[Catalog]:
    """Return those concatenations that need their members to be disjoint, and whose members are not proved to be."""
    return [
        one
        for one in catalogs
        if isinstance(one, ConcatSources) and one.overlap == "disjoint" and not _are_disjoint(reading, one.members)
    ]


def _are_disjoint(reading: Reading, members: Sequence[Catalog]) -> bool:
    return proves(reading, disjoint(*(one.digest for one in members)))


def replace_base(writing: Writing, name: str, earlier: str, base: Base, *, rebuild: bool | None) -> None:
    """Move the name of a base catalog to a new version of it.

    Parameters
    ----------
    writing
        The transaction.
    name
        The name.
    earlier
        The digest of the catalog that has it now.
    base
        The new version.
    rebuild
        Whether every named catalog that is made from the earlier version is to be defined anew, and its names moved.

    Raises
    ------
    CatalogNameError
        If the name is that of a catalog which is made from others, or `rebuild` is None.
    DefinitionError
        If a catalog cannot be made from the new version.
    """
    dependents = descendants(writing, earlier)
    named = _own_names(writing, dependents)
    old = catalog_store.get_all(writing, [earlier, *named])
    if not isinstance(old[earlier], Base):
        hint = "choose another name; or move this one away first"
        raise CatalogNameError(f"{name} is the name of a catalog that is made from others", hint=hint)
    if rebuild is None:
        others = ", ".join(sorted(one for several in named.values() for one in several))
        made = f"{others} are made from them" if others else "nothing is made from them"
        raise CatalogNameError(
            f"{name} is the name of other files; {made}",
            hint="rebuild=True (--rebuild) defines anew on the new files what is made from the old ones; "
            "rebuild=False (--no-rebuild) moves this name alone",
        )
    catalog_store.add(writing, base)
    names.move(writing, name, base.digest)
    anew: dict[str, Catalog] = {earlier: base}
    for digest in dependents if rebuild else ():
        if digest in old:  # a dependent without a name matters if one with a name is made from it
            anew[digest] = _anew(writing, old[digest], anew, named.get(digest, ()))
            catalog_store.add(writing, anew[digest])
            for one in named.get(digest, ()):
                names.move(writing, one, anew[digest].digest)


def _own_names(reading: Reading, digests: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the names of catalogs that who writes may move, by digest."""
    named = names.names_of(reading, digests)
    own = names.owned(reading, [one for several in named.values() for one in several])
    kept = {digest: tuple(one for one in several if one in own) for digest, several in named.items()}
    return {digest: several for digest, several in kept.items() if several}


def _anew(reading: Reading, old: Catalog, anew: Mapping[str, Catalog], called: Sequence[str]) -> Catalog:
    """Return a catalog as it was written, on new versions of what it is made from."""
    parts = [anew.get(one.digest, one) for one in old.dependencies]
    try:
        if isinstance(old, ConcatSources):
            return concatenated(reading, parts, "first" if old.overlap == "first" else None)
        return old.on(parts)
    except ProvennError as error:
        raise DefinitionError(
            f"{next(iter(called), old.digest[:12])} cannot be made from the new files: {error.message}",
            hint="rebuild=False (--no-rebuild) moves the name of the base catalog alone",
        ) from error
