"""New versions of base catalogs, and the catalogs redefined on a new version."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from provenn.catalogs import Catalog, list_joined_bases
from provenn.database.transactions import Reading, Writing
from provenn.definitions import catalog_names, catalog_store
from provenn.definitions.descendants import find_descendants
from provenn.digests import CatalogDigest
from provenn.errors import CatalogNameError, DefinitionError, ProvennError
from provenn.hints import Hint
from provenn.logic import Statement

__all__ = ["rebuild_definitions", "replace_base"]


def replace_base(
    writing: Writing,
    name: str,
    earlier: CatalogDigest,
    base: Catalog,
    *,
    rebuild: bool | None,
    redefined: Mapping[CatalogDigest, Catalog] | None = None,
) -> None:
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
    redefined
        Descendants that were redefined before, by their old digests; see `rebuild_definitions`.

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
    rebuilt = rebuild_definitions(writing, earlier, base, redefined=redefined) if rebuild else {}
    catalog_store.add_catalogs(writing, base, *rebuilt.values())
    moved = {
        catalog_name: catalog.digest
        for digest, catalog in rebuilt.items()
        for catalog_name in names_by_digest.get(digest, ())
    }
    catalog_names.move_names(writing, {name: base.digest, **moved})


def rebuild_definitions(
    reading: Reading,
    earlier: CatalogDigest,
    base: Catalog,
    *,
    fixed: Collection[CatalogDigest] = (),
    what: str = "the new files",
    redefined: Mapping[CatalogDigest, Catalog] | None = None,
) -> dict[CatalogDigest, Catalog]:
    """Return the named descendants of a catalog, as defined on the catalog's new version, by their old digests.

    Unnamed ancestors of a named descendant are included. Each catalog comes after all dependencies.

    Parameters
    ----------
    reading
        The transaction.
    earlier, base
        The earlier version, and the new one.
    fixed
        The digests of catalogs that stay as they are.
    what
        The new version in messages.
    redefined
        What an earlier call returned for these versions. A definition never changes, so that one with the same
        dependencies is taken from there.

    Raises
    ------
    DefinitionError
        If a catalog cannot be made from the new version.
    """
    dependents = find_descendants(reading, earlier)
    names_by_digest = _find_own_names(reading, dependents)
    old = catalog_store.get_catalogs(reading, [earlier, *names_by_digest])
    # A version of the files is not made from another one, though it shares base catalogs with it.
    needed = _list_made_catalogs([old[digest] for digest in names_by_digest])
    rebuilt: dict[CatalogDigest, Catalog] = {}
    for digest in dependents:
        # An unnamed dependent matters only if a named catalog is made from it.
        if digest in needed and digest not in fixed and list_joined_bases(needed[digest]) is None:
            parts = {earlier: base, **rebuilt}
            names = names_by_digest.get(digest, ())
            known = None if redefined is None else redefined.get(digest)
            if known is None or not _is_made_from(known, needed[digest], parts):
                known = _rebuild_definition(reading, needed[digest], parts, names, what)
            if known.digest != digest:  # else it is made from another version, which shares base catalogs
                rebuilt[digest] = known
    return rebuilt


def _list_made_catalogs(catalogs: Iterable[Catalog]) -> dict[CatalogDigest, Catalog]:
    """Return catalogs and their lineage down to versions of files, without the parts of versions."""
    by_digest: dict[CatalogDigest, Catalog] = {}
    waiting = list(catalogs)
    while waiting:
        catalog = waiting.pop()
        if catalog.digest not in by_digest and list_joined_bases(catalog) is None:
            by_digest[catalog.digest] = catalog
            waiting += catalog.dependencies
    return by_digest


_ALONE = Hint(
    "to move only this name, pass rebuild=False, or use archive.name(…, move=True)",
    command="to move only this name, add --no-rebuild, or use `provenn name --move`",
)


def _find_own_names(reading: Reading, digests: Collection[CatalogDigest]) -> dict[CatalogDigest, tuple[str, ...]]:
    """Return the names of catalogs movable by the writer, by digest."""
    names_by_digest = catalog_names.find_names_by_digest(reading, digests)
    own = catalog_names.filter_owned_names(
        reading, [name for catalog_names in names_by_digest.values() for name in catalog_names]
    )
    kept = {
        digest: tuple(name for name in catalog_names if name in own)
        for digest, catalog_names in names_by_digest.items()
    }
    return {digest: catalog_names for digest, catalog_names in kept.items() if catalog_names}


def _is_proved(reading: Reading, catalogs: Sequence[Catalog], statement: Statement) -> bool:
    """Return whether a statement about catalogs is proved; the archive need not hold the catalogs yet."""
    from provenn.targets.known import collect_knowledge  # noqa: PLC0415 - few definitions rest on a proof

    return collect_knowledge(reading, *catalogs).knowledge.entails(statement)


def _is_made_from(redefined: Catalog, old: Catalog, parts: Mapping[CatalogDigest, Catalog]) -> bool:
    """Return whether a catalog was redefined with exactly the dependencies of a redefinition now.

    A definition resting on a proof is proved again: a fact may have been retracted.
    """
    if old.profile.needs_proof:
        return False
    wanted = [parts.get(dependency.digest, dependency).digest for dependency in old.dependencies]
    return [dependency.digest for dependency in redefined.dependencies] == wanted


def _rebuild_definition(
    reading: Reading, old: Catalog, rebuilt: Mapping[CatalogDigest, Catalog], catalog_names: Sequence[str], what: str
) -> Catalog:
    """Return a catalog in the original wording, on new versions of the dependencies."""
    parts = [rebuilt.get(dependency.digest, dependency) for dependency in old.dependencies]
    try:
        return old.redefine(parts, partial(_is_proved, reading, parts))
    except ProvennError as error:
        raise DefinitionError(
            f"{next(iter(catalog_names), old.digest[:12])} cannot be made from {what}: {error.message}",
            hint=_ALONE,
        ) from error
