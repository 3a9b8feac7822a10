"""Redefining: move a name to an edited definition, and define dependent catalogs again on it.

The data come first, the names last, as in `provenn.archive.refreshing`: results for the earlier definition serve the
new definition, calculators are called for the remaining sources only, and then all names move in a single transaction.
"""

from __future__ import annotations

from dataclasses import dataclass

from provenn.archive.changed_catalogs import ChangedCatalog, plan_changes
from provenn.archive.context import Context
from provenn.archive.rebuilding import rebuild_definitions
from provenn.archive.stored_results import compute_results, find_stored_results
from provenn.catalogs import Catalog, cone, verbs
from provenn.catalogs.population import ONE_POPULATION, make_plural
from provenn.database.transactions import Reading, Writing
from provenn.definitions import catalog_names, catalog_store
from provenn.digests import CatalogDigest
from provenn.errors import ArchiveBusyError, DefinitionError, NotYoursError, PopulationError
from provenn.hints import Hint

__all__ = ["RedefinedName", "edit_criterion", "redefine_name"]


@dataclass(frozen=True, slots=True)
class RedefinedName:
    """The effects of a new definition of a name.

    Attributes
    ----------
    name
        The name.
    catalogs
        What the definition means for the name, and for each named catalog that is made from the earlier definition:
        which sources come and go, and how many rows are calculated.
    """

    name: str
    catalogs: tuple[ChangedCatalog, ...] = ()

    @property
    def rebuilt(self) -> tuple[str, ...]:
        """The names of the catalogs redefined on the new definition, without the name itself."""
        return tuple(catalog.name for catalog in self.catalogs[1:])

    def __str__(self) -> str:
        return "\n".join(map(str, self.catalogs)) or f"{self.name}: unchanged"


def edit_criterion(reading: Reading, name: str, where: str) -> Catalog:
    """Return the selection with a name, by another criterion.

    Raises
    ------
    DefinitionError
        If the catalog does not select by a criterion.
    CriterionError
        If the criterion does not fit the catalog.
    """
    catalog = _get_named_catalog(reading, name)
    if catalog.find_condition() is None or len(catalog.dependencies) != 1:
        raise DefinitionError(
            f"{name} does not select by a criterion",
            hint=Hint(
                "define it anew, and pass the new catalog: archive.redefine(name, catalog)",
                command="define it anew, and name the new catalog: provenn redefine NAME CATALOG",
            ),
        )
    return verbs.select(catalog.dependencies[0], where)


def redefine_name(context: Context, name: str, new: Catalog, *, plan: bool = False) -> RedefinedName:
    """Move a name to another definition, and define dependent catalogs again on it; see `Archive.redefine`.

    Raises
    ------
    UnknownCatalogError
        If there is no such name.
    NotYoursError
        If the name belongs to another person.
    PopulationError
        If the new definition holds other objects.
    DefinitionError
        If a catalog cannot be made from the new definition.
    ArchiveBusyError
        If the name was moved meanwhile.
    """
    earlier = context.read(_get_named_catalog, name)
    if earlier.digest == new.digest:
        return RedefinedName(name)
    context.read(_check_redefinition, name, earlier, new)
    rebuilt = context.read(_rebuild, name, earlier, new)
    described = context.read(_describe, name, earlier, new, rebuilt)
    if not plan:
        context.write(catalog_store.add_catalogs, new, *rebuilt.values())
        changed = {earlier.digest: new, **rebuilt}
        for digest in context.read(find_stored_results, list(changed)):
            compute_results(context, changed[digest])
        context.write(_move_names, name, earlier, new)
    return described


def _get_named_catalog(reading: Reading, name: str) -> Catalog:
    digest = catalog_names.find_named_digest(reading, name)
    if digest is None:
        raise catalog_names.make_unknown_name_error(reading, name)
    return catalog_store.get_catalog(reading, digest)


def _check_redefinition(reading: Reading, name: str, earlier: Catalog, new: Catalog) -> None:
    if name not in catalog_names.filter_owned_names(reading, [catalog_names.check_name(name)]):
        raise NotYoursError(f"the name {name} belongs to another person", hint="only its owner can redefine it")
    if new.population != earlier.population:
        raise PopulationError(
            f"cannot redefine {name}: it holds {make_plural(earlier.population.name)}, "
            f"the new definition {make_plural(new.population.name)}",
            hint=ONE_POPULATION,
        )


def _rebuild(reading: Reading, name: str, earlier: Catalog, new: Catalog) -> dict[CatalogDigest, Catalog]:
    """Return the catalogs made from the earlier definition, on the new definition, by their old digests.

    Ancestors of the new definition stay unchanged.
    """
    fixed = {member.digest for member in cone(new)}
    rebuilt = rebuild_definitions(reading, earlier.digest, new, fixed=fixed, what=f"the new definition of {name}")
    return {digest: catalog for digest, catalog in rebuilt.items() if digest != catalog.digest}


def _describe(
    reading: Reading, name: str, earlier: Catalog, new: Catalog, rebuilt: dict[CatalogDigest, Catalog]
) -> RedefinedName:
    names = catalog_names.find_names_by_digest(reading, list(rebuilt))
    changes = {earlier.digest: new, **rebuilt}
    return RedefinedName(name, plan_changes(reading, changes, {**names, earlier.digest: (name,)}))


def _move_names(writing: Writing, name: str, earlier: Catalog, new: Catalog) -> None:
    """Move the name, and the names of the present descendants of the earlier definition."""
    if catalog_names.find_named_digest(writing, name) != earlier.digest:
        raise ArchiveBusyError(f"{name} was changed meanwhile", hint="try again")
    rebuilt = _rebuild(writing, name, earlier, new)
    catalog_store.add_catalogs(writing, *rebuilt.values())
    names = catalog_names.find_names_by_digest(writing, list(rebuilt))
    own = catalog_names.filter_owned_names(writing, [word for words in names.values() for word in words])
    catalog_names.move_name(writing, name, new.digest)
    catalog_store.confirm_definitions(writing, new)
    for digest, catalog in rebuilt.items():
        for word in names.get(digest, ()):
            if word in own:
                catalog_names.move_name(writing, word, catalog.digest)
