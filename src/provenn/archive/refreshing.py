"""Refreshing: look at the files of base catalogs again, and bring dependent catalogs and stored results up to date.

The data come first, the names last: all names move in a single transaction after everything stored before is stored for
the new versions. A killed process leaves the old names, and fragments for the next refresh to use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from provenn.archive import rebuilding
from provenn.archive.changed_catalogs import ChangedCatalog, plan_changes, suppose_fact
from provenn.archive.context import Context
from provenn.archive.growing import compare_keys, find_current_version, list_changed_files, move_names
from provenn.archive.merging import merge_fragments
from provenn.archive.new_version import NewVersion
from provenn.archive.stored_results import compute_results, find_stored_pairs, find_stored_results, list_own_identities
from provenn.archive.version_writing import list_expected_facts, write_definitions
from provenn.archive.versions import describe_files
from provenn.catalogs import Catalog, list_joined_bases, list_version_bases
from provenn.criteria import AttributeIdentity
from provenn.database.transactions import Reading
from provenn.definitions import catalog_names, catalog_store
from provenn.digests import CatalogDigest
from provenn.errors import DefinitionError
from provenn.files.hats import read_hats_of_parts

__all__ = ["RefreshedName", "refresh_names"]


@dataclass(frozen=True, slots=True)
class RefreshedName:
    """The effects of a refresh on a base catalog.

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
    catalogs
        In a plan, what the new version means for each of them: which sources come and go, and how many rows are
        calculated; otherwise empty.
    """

    name: str
    files: str
    new_sources: int | None = 0
    rebuilt: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    catalogs: tuple[ChangedCatalog, ...] = ()

    @property
    def catalog_changes(self) -> bool:
        """Whether the name moves to a new version."""
        return self.files.partition(":")[0] != "unchanged"

    def __str__(self) -> str:
        if not self.rebuilt and not self.new_sources:
            return f"{self.name}: {self.files}"
        noun = "source" if self.new_sources == 1 else "sources"
        sources = f"{'an unknown number of' if self.new_sources is None else format(self.new_sources, ',')} {noun}"
        first = f"{self.name}: {self.files}, + {sources}"
        if self.catalogs:
            return "\n".join([first, *(f"  {catalog}" for catalog in self.catalogs)])
        redefined = f"; redefined: {', '.join(self.rebuilt)}" if self.rebuilt else ""
        stored = f"; calculated for new sources only: {', '.join(self.computed)}" if self.computed else ""
        return f"{first}{redefined}{stored}"


def refresh_names(context: Context, names: Sequence[str], *, plan: bool = False) -> list[RefreshedName]:
    """Refresh the base catalogs with some names, or all that the caller may move; see `Archive.refresh`."""
    chosen = names or context.read(_list_base_names)
    return [_refresh_name(context, name, plan=plan) for name in chosen]


def _list_base_names(reading: Reading) -> list[str]:
    """Return the names of base catalogs with files, if movable by the viewer."""
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
    _check_completeness(catalog)
    rebuilt = context.read(rebuilding.rebuild_definitions, earlier.digest, catalog)
    if plan:
        summary = context.read(_summarize, name, version, catalog, rebuilt)
        return replace(summary, catalogs=context.read(_plan_catalogs, version, catalog, rebuilt))
    rows = compare_keys(context, version)
    context.write(write_definitions, version, [catalog, *rebuilt.values()], rows)
    stored = context.read(_read_stored, list(rebuilt))
    _compute_new_sources(context, version, catalog, [rebuilt[digest] for digest in stored.results])
    for digest in stored.results:
        if digest in stored.pairs:
            compute_results(context, rebuilt[digest], "always")
    context.write(move_names, name, version, catalog, redefined=rebuilt)
    if stored.results:
        own = set().union(*(list_own_identities(rebuilt[digest]) for digest in stored.results))
        merge_fragments(context, catalog, sorted(own))
    return _make_summary(name, version, catalog, stored)


def _check_completeness(catalog: Catalog) -> None:
    """Make sure that a version of a folder in HATS has all parts and, where their number is known, all rows.

    Raises
    ------
    BaseFilesError
        If parts or rows are missing, or there are additional parts.
    """
    bases = list_version_bases(catalog) or ()
    for location in dict.fromkeys(base.files.location for base in bases):
        hats = read_hats_of_parts(location)
        if hats is not None:
            files = [base.files for base in bases if base.files.location == location]
            rows = [own.row_count for own in files]
            names = [name for own in files for name, _ in own.fingerprints]
            hats.check(names, hats.rows if None in rows else sum(filter(None, rows)))


def _get_named_catalog(reading: Reading, name: str) -> Catalog:
    return catalog_store.get_catalog(reading, catalog_store.resolve_catalog(reading, name))


@dataclass(frozen=True, slots=True)
class _StoredResults:
    """The stored results of the descendants of a base catalog.

    Parameters
    ----------
    names
        The names of the descendants, by digest.
    results
        Those of which fragments hold results of calculators, in order.
    pairs
        Those of `results` that are all pairs of a match and were stored themselves.
    """

    names: Mapping[CatalogDigest, Sequence[str]]
    results: Sequence[CatalogDigest]
    pairs: frozenset[CatalogDigest]


def _read_stored(reading: Reading, digests: Sequence[CatalogDigest]) -> _StoredResults:
    names = catalog_names.find_names_by_digest(reading, digests)
    results = find_stored_results(reading, digests)
    return _StoredResults(names, results, find_stored_pairs(reading, results))


def _summarize(
    reading: Reading, name: str, version: NewVersion, catalog: Catalog, rebuilt: Mapping[CatalogDigest, Catalog]
) -> RefreshedName:
    return _make_summary(name, version, catalog, _read_stored(reading, list(rebuilt)))


def _make_summary(name: str, version: NewVersion, catalog: Catalog, stored: _StoredResults) -> RefreshedName:
    return RefreshedName(
        name,
        "; ".join(filter(None, (describe_files(version.earlier, catalog), version.log.describe()))),
        0 if version.added is None else version.added.files.row_count,
        tuple(sorted(word for words in stored.names.values() for word in words)),
        tuple(sorted(word for digest in stored.results for word in stored.names.get(digest, ()))),
    )


def _plan_catalogs(
    reading: Reading, version: NewVersion, catalog: Catalog, rebuilt: dict[CatalogDigest, Catalog]
) -> tuple[ChangedCatalog, ...]:
    """Return the effects of a version on dependent catalogs, planned exactly as computed later."""
    expected = list_expected_facts(version, catalog)
    return plan_changes(
        reading,
        rebuilt,
        catalog_names.find_names_by_digest(reading, list(rebuilt)),
        files=list_changed_files(version),
        supposed=[suppose_fact(statement, "the keys will be compared") for statement in expected],
        limit=lambda rebuilt_catalog: _limit_to_new_files(rebuilt_catalog, catalog, version),
    )


def _compute_new_sources(context: Context, change: NewVersion, version: Catalog, catalogs: Sequence[Catalog]) -> None:
    """Compute for the new files the attributes stored for earlier files, each attribute once.

    A selection needs no computation if all attributes were computed for all new files.
    """
    computed: set[AttributeIdentity] = set()
    for catalog in catalogs:
        own = list_own_identities(catalog)
        if own <= computed:
            continue
        limited = _limit_to_new_files(catalog, version, change)
        compute_results(context, limited or catalog)
        if limited is not None and change.added is not None and limited.extent == change.added.extent:
            computed |= own


def _limit_to_new_files(rebuilt: Catalog, version: Catalog, change: NewVersion) -> Catalog | None:
    """Return a catalog made from a version as made from the new files alone; None if the meaning may change.

    Sound: a catalog selecting, keeping, renaming or deriving row by row has, for the sources of some files, the same
    attributes as for all files. An attribute of the same identity has the same values, so the results for the new files
    serve the whole version.
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
