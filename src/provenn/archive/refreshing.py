"""Refreshing: look at the files of base catalogs again, and bring up to date what is made from them and stored.

The data come first, the names last: all names move in one transaction after what was stored is there for the new
versions. A process that is killed leaves the old names, and fragments that the next refresh uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provenn.archive import rebuilding
from provenn.archive.context import Context
from provenn.archive.growing import NewVersion, compare_keys, find_current_version, move_names, write_definitions
from provenn.archive.merging import merge_fragments
from provenn.archive.versions import describe_files
from provenn.catalogs import Catalog, cone, list_joined_bases
from provenn.criteria import AttributeIdentity
from provenn.data import fragments
from provenn.database.transactions import Reading
from provenn.definitions import catalog_names, catalog_store
from provenn.digests import CatalogDigest
from provenn.errors import DefinitionError
from provenn.targets.plan import Plan
from provenn.targets.planning import plan_catalog

__all__ = ["RefreshedName", "refresh_names"]


@dataclass(frozen=True, slots=True)
class RefreshedName:
    """What a refresh does for one base catalog.

    Attributes
    ----------
    name
        The name of the base catalog.
    files
        Which files came and went, in words: ``"unchanged"``, ``"+ 1 file"``.
    new_sources
        The number of sources in the new files; None if it is not known before they are read.
    rebuilt
        The names of the catalogs that are defined again on the new version, sorted.
    computed
        Those of them whose stored results are brought up to date, sorted.
    """

    name: str
    files: str
    new_sources: int | None = 0
    rebuilt: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.rebuilt and not self.new_sources:
            return f"{self.name}: {self.files}"
        sources = (
            "an unknown number of new sources" if self.new_sources is None else f"{self.new_sources:,} new sources"
        )
        redefined = f"; redefined: {', '.join(self.rebuilt)}" if self.rebuilt else ""
        stored = f"; calculated for new sources only: {', '.join(self.computed)}" if self.computed else ""
        return f"{self.name}: {self.files}, {sources}{redefined}{stored}"


def refresh_names(context: Context, names: Sequence[str], *, plan: bool = False) -> list[RefreshedName]:
    """Refresh the base catalogs with some names, or all that the caller may move; see `Archive.refresh`."""
    chosen = names or context.read(_list_base_names)
    return [_refresh_name(context, name, plan=plan) for name in chosen]


def _list_base_names(reading: Reading) -> list[str]:
    """Return the names of base catalogs with files that the viewer may move."""
    records = catalog_names.list_names(reading)
    own = catalog_names.filter_owned_names(reading, [record.name for record in records])
    catalogs = catalog_store.get_catalogs(reading, sorted({record.catalog for record in records}))
    return [
        record.name
        for record in records
        if record.name in own and list_joined_bases(catalogs[record.catalog]) is not None
    ]


def _refresh_name(context: Context, name: str, *, plan: bool) -> RefreshedName:
    earlier = context.read(_get_named_catalog, name)
    if list_joined_bases(earlier) is None:
        raise DefinitionError(
            f"{name} is made from other catalogs", hint="refresh the base catalogs that it is made from"
        )
    if not plan:
        context.read(catalog_names.check_movable, name)
    version = find_current_version(context, earlier)
    if version is None or version.is_same:
        rewritten = "" if version is None else version.log.describe()
        return RefreshedName(name, f"unchanged: {rewritten}" if rewritten else "unchanged")
    catalog = version.define()
    rebuilt = context.read(rebuilding.rebuild_definitions, earlier.digest, catalog)
    summary = context.read(_summarize, name, version, catalog, rebuilt)
    if not plan:
        rows = compare_keys(context, version)
        context.write(write_definitions, version, [catalog, *rebuilt.values()], rows)
        stored = context.read(_find_stored, list(rebuilt))
        _compute_new_sources(context, version, catalog, [rebuilt[digest] for digest in stored])
        context.write(move_names, name, version, catalog)
        if stored:
            own = set().union(*(_list_own_identities(rebuilt[digest]) for digest in stored))
            merge_fragments(context, catalog, sorted(own))
    return summary


def _get_named_catalog(reading: Reading, name: str) -> Catalog:
    return catalog_store.get_catalog(reading, catalog_store.resolve_catalog(reading, name))


def _summarize(
    reading: Reading, name: str, version: NewVersion, catalog: Catalog, rebuilt: dict[CatalogDigest, Catalog]
) -> RefreshedName:
    names = catalog_names.find_names_by_digest(reading, list(rebuilt))
    stored = _find_stored(reading, list(rebuilt))
    return RefreshedName(
        name,
        "; ".join(filter(None, (describe_files(version.earlier, catalog), version.log.describe()))),
        0 if version.added is None else version.added.files.row_count,
        tuple(sorted(word for words in names.values() for word in words)),
        tuple(sorted(word for digest in stored for word in names.get(digest, ()))),
    )


def _find_stored(reading: Reading, digests: Sequence[CatalogDigest]) -> list[CatalogDigest]:
    """Return the catalogs of which fragments hold results of calculators, in order."""
    catalogs = catalog_store.get_catalogs(reading, digests) if digests else {}
    own = {digest: _list_own_identities(catalogs[digest]) for digest in digests}
    held = {
        identity
        for fragment in fragments.find_by_attributes(reading, set().union(*own.values()))
        for identity in fragment.identities
    }
    return [digest for digest in digests if own[digest] & held]


def _list_own_identities(catalog: Catalog) -> set[AttributeIdentity]:
    """Return the identities of the attributes of a catalog that are not in its files, and of their pieces."""
    return _list_identities([catalog]) - _list_identities(_list_lineage_bases(catalog))


def _list_identities(catalogs: Sequence[Catalog]) -> set[AttributeIdentity]:
    """Return the identities of the attributes of catalogs, and of their pieces."""
    attributes = [attribute for catalog in catalogs for attribute in catalog.schema.attributes]
    return {identity for attribute in attributes for identity in (attribute.identity, *attribute.piece_identities)}


def _list_lineage_bases(catalog: Catalog) -> list[Catalog]:
    """Return the versions of files in the lineage of a catalog."""
    return [member for member in cone(catalog) if list_joined_bases(member) is not None]


def _compute_new_sources(context: Context, change: NewVersion, version: Catalog, catalogs: Sequence[Catalog]) -> None:
    """Compute for the new files what was stored for others, each attribute once.

    A selection needs nothing of its own if its attributes were computed for all new files.
    """
    computed: set[AttributeIdentity] = set()
    for catalog in catalogs:
        own = _list_own_identities(catalog)
        if own <= computed:
            continue
        limited = _limit_to_new_files(catalog, version, change)
        _compute(context, limited or catalog)
        if limited is not None and change.added is not None and limited.extent == change.added.extent:
            computed |= own


def _limit_to_new_files(rebuilt: Catalog, version: Catalog, change: NewVersion) -> Catalog | None:
    """Return a catalog made from a version as made from the new files alone; None if that may be something else.

    Sound: a catalog that selects, keeps, renames or derives row by row has, for the sources of some files, the same
    attributes as for all of them. An attribute of the same identity has the same values, so what is computed for the
    new files serves the whole version.
    """
    steps: list[Catalog] = []
    current = rebuilt
    while current.digest != version.digest:
        if len(current.dependencies) != 1 or len(current.row_parents) != 1:
            return None
        steps.append(current)
        (current,) = current.dependencies
    limited: Catalog | None = change.added
    for step in reversed(steps):
        limited = None if limited is None else step.on([limited])
    if limited is None or limited.schema.by_identity.keys() != rebuilt.schema.by_identity.keys():
        return None
    return limited


def _compute(context: Context, catalog: Catalog) -> None:
    """Compute what calculators give for a catalog, as far as it is not stored, and store it."""
    from provenn.targets.storing import keep_parts  # noqa: PLC0415 - most commands compute nothing

    def replan() -> Plan:
        return context.read(plan_catalog, catalog, catalog.digest[:12])

    keep_parts(context.workshop.pipeline(), replan(), replan, "worthwhile")
