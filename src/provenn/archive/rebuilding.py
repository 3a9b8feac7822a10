"""New versions of base catalogs, and the catalogs that are defined again on a new version."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from provenn.archive.questions import is_proved
from provenn.catalogs import Catalog, cone, list_joined_bases
from provenn.database.transactions import Reading, Writing
from provenn.definitions import catalog_names, catalog_store
from provenn.definitions.descendants import find_descendants
from provenn.digests import CatalogDigest
from provenn.errors import CatalogNameError, DefinitionError, ProvennError
from provenn.hints import Hint

__all__ = ["rebuild_definitions", "replace_base"]


def replace_base(writing: Writing, name: str, earlier: CatalogDigest, base: Catalog, *, rebuild: bool | None) -> None:
    """Move the name of a base catalog to a new version of the catalog.

    Parameters
    ----------
    writing
        The transaction.
    name
        The name.
    earlier
        The digest of the catalog that has the name now.
    base
        The new version.
    rebuild
        Whether to define every named descendant of the earlier version again, and move its names.

    Raises
    ------
    CatalogNameError
        If the name belongs to a derived catalog, or `rebuild` is None.
    DefinitionError
        If a catalog cannot be rebuilt on the new version.
    """
    dependents = find_descendants(writing, earlier)
    names_by_digest = _find_own_names(writing, dependents)
    old = catalog_store.get_catalogs(writing, [earlier, *names_by_digest])
    if list_joined_bases(old[earlier]) is None:
        hint = "choose another name, or move this name to another catalog first"
        raise CatalogNameError(f"{name} names a catalog that is made from other catalogs", hint=hint)
    if rebuild is None:
        others = ", ".join(
            sorted(catalog_name for catalog_names in names_by_digest.values() for catalog_name in catalog_names)
        )
        dependents_text = f"{others} are made from them" if others else "nothing is made from them"
        raise CatalogNameError(
            f"{name} already names other files; {dependents_text}",
            hint=Hint(
                "rebuild=True redefines the dependent catalogs on the new files; rebuild=False moves only this name",
                command="--rebuild redefines the dependent catalogs on the new files; "
                "--no-rebuild moves only this name",
            ),
        )
    catalog_store.add_catalogs(writing, base)
    rebuilt = rebuild_definitions(writing, earlier, base) if rebuild else {}
    catalog_names.move_name(writing, name, base.digest)
    for digest, catalog in rebuilt.items():
        catalog_store.add_catalogs(writing, catalog)
        for catalog_name in names_by_digest.get(digest, ()):
            catalog_names.move_name(writing, catalog_name, catalog.digest)


def rebuild_definitions(reading: Reading, earlier: CatalogDigest, base: Catalog) -> dict[CatalogDigest, Catalog]:
    """Return the named descendants of a version of a base catalog as defined on a new version, by their old digests.

    Unnamed catalogs that a named one is made from are included. Each catalog comes after its dependencies.

    Raises
    ------
    DefinitionError
        If a catalog cannot be made from the new version.
    """
    dependents = find_descendants(reading, earlier)
    names_by_digest = _find_own_names(reading, dependents)
    old = catalog_store.get_catalogs(reading, [earlier, *names_by_digest])
    # A version of the files is not made from another one, though it shares base catalogs with it.
    needed = {
        member.digest: member
        for catalog in old.values()
        if list_joined_bases(catalog) is None
        for member in cone(catalog)
    }
    rebuilt: dict[CatalogDigest, Catalog] = {}
    for digest in dependents:
        # An unnamed dependent matters only if a named catalog is made from it.
        if digest in needed and list_joined_bases(needed[digest]) is None:
            parts = {earlier: base, **rebuilt}
            rebuilt[digest] = _rebuild_definition(reading, needed[digest], parts, names_by_digest.get(digest, ()))
    return rebuilt


def _find_own_names(reading: Reading, digests: Collection[CatalogDigest]) -> dict[CatalogDigest, tuple[str, ...]]:
    """Return the names of catalogs that the writer may move, by digest."""
    names_by_digest = catalog_names.find_names_by_digest(reading, digests)
    own = catalog_names.filter_owned_names(
        reading, [name for catalog_names in names_by_digest.values() for name in catalog_names]
    )
    kept = {
        digest: tuple(name for name in catalog_names if name in own)
        for digest, catalog_names in names_by_digest.items()
    }
    return {digest: catalog_names for digest, catalog_names in kept.items() if catalog_names}


def _rebuild_definition(
    reading: Reading, old: Catalog, rebuilt: Mapping[CatalogDigest, Catalog], catalog_names: Sequence[str]
) -> Catalog:
    """Return a catalog with its original wording, on new versions of its dependencies."""
    parts = [rebuilt.get(dependency.digest, dependency) for dependency in old.dependencies]
    try:
        return old.redefine(parts, partial(is_proved, reading))
    except ProvennError as error:
        raise DefinitionError(
            f"{next(iter(catalog_names), old.digest[:12])} cannot be made from the new files: {error.message}",
            hint=Hint(
                "rebuild=False moves only the name of the base catalog",
                command="--no-rebuild moves only the name of the base catalog",
            ),
        ) from error
