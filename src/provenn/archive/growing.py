"""New versions of base catalogs, sharing files with the version before.

A version consists of the base catalogs of its files. Files with the same fingerprints have the same rows, so the new
version has the earlier base catalogs, as far as their files still exist, and a base catalog of the new files. Sources
and values of shared files are therefore the same in both versions by definition. Files with the rows of former files,
by the log of a table, have the sources and values of the former files (`provenn.archive.rewritten_files`). New files
with the columns of earlier files continue their attributes (`provenn.archive.continuing`). Base catalogs read alike,
from a single place, are joined; otherwise a version is a concatenation. The uniqueness of keys is checked on the data,
once, for new files; for a concatenation the uniqueness is recorded as an observed fact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from provenn.archive import rebuilding
from provenn.archive.context import Context
from provenn.archive.continuing import continue_attributes
from provenn.archive.log_evidence import NO_EVIDENCE, LogEvidence, find_log_evidence
from provenn.archive.new_version import NewVersion
from provenn.archive.rewritten_files import define_rewritten
from provenn.archive.shared_files import DividedFiles, share_files
from provenn.archive.version_writing import record_locations, write_definitions
from provenn.catalogs import (
    Base,
    Catalog,
    Files,
    list_version_bases,
)
from provenn.catalogs.key_ranges import have_other_keys
from provenn.catalogs.set_labels import make_file_label
from provenn.database.transactions import Reading, Writing
from provenn.definitions import base_locations, catalog_names, catalog_store
from provenn.digests import CatalogDigest
from provenn.errors import ArchiveBusyError, DefinitionError
from provenn.files.file_set import EXTERNAL, GIVEN, TABLE
from provenn.files.hats import read_hats
from provenn.files.listing import make_absolute
from provenn.files.parquet_columns import LAYOUT
from provenn.files.row_keys import check_different
from provenn.files.snapshots import TableSnapshot
from provenn.files.table_logs import find_snapshot, list_snapshot_files
from provenn.logic.terms import Op, chain, nothing, term
from provenn.words.changed_sources import ChangedFiles

__all__ = [
    "add_version",
    "append_files",
    "compare_keys",
    "find_current_version",
    "find_new_version",
    "list_changed_files",
    "move_names",
]


def find_new_version(
    context: Context,
    earlier: Catalog,
    path: str | PathLike[str],
    *,
    key: str | Sequence[str] | None,
    population: str,
    **options: Any,  # noqa: ANN401 - those of Files.at
) -> NewVersion | None:
    """Return the version of a base catalog with the files at a path; None without a file shared with the earlier.

    Raises
    ------
    FilesMissingError
        If there are no files.
    BaseFilesError
        If the new files cannot be read.
    """
    bases = list_version_bases(earlier)
    if bases is None or not _is_comparable(bases, key, population):
        return None
    snapshot: TableSnapshot | None = options.get("snapshot")
    place = make_absolute(path) if snapshot is None else snapshot.folder
    known = [base.files for base in bases if base.files.format not in (GIVEN, TABLE, EXTERNAL)]
    if not known or (snapshot is None and read_hats(place) is not None):
        return None
    fingerprints, log = _fingerprint_version(context, place, bases, known[-1], snapshot)
    shared = share_files(bases, fingerprints, place, log.table)
    kept = tuple(shared.kept.values())
    if not kept and not log.relation:
        return None

    def inspect(names: frozenset[str]) -> Files:
        return context.workshop.inspect_files(place, names=names, **options)

    own = [base for base in bases if base.files.location == place]
    return _assemble_version(context, earlier, shared, log, _NewFiles(shared.new.keys(), own, bases[-1], inspect))


@dataclass(frozen=True, slots=True)
class _NewFiles:
    """Files at a place, missing from every base catalog of the earlier version.

    Parameters
    ----------
    names
        Their names.
    own
        The base catalogs of the earlier version with files at that place.
    model
        The one whose attributes the new files may continue.
    inspect
        Returns the files with some names.
    """

    names: Collection[str]
    own: Sequence[Base]
    model: Base
    inspect: Callable[[frozenset[str]], Files]


def _assemble_version(
    context: Context, earlier: Catalog, shared: DividedFiles, log: LogEvidence, new: _NewFiles
) -> NewVersion:
    """Return the version of a base catalog with the files shared with the earlier version, and new files."""
    rewritten = define_rewritten(context, log.replaced, new.own, new.names, new.inspect)
    log = (replace(log, relation="") if rewritten.is_log_wrong else log).doubt(*rewritten.doubts)
    kept = tuple(shared.kept.values())
    others = frozenset(new.names) - rewritten.names
    added = _define_added(context, new.inspect(others), (*kept, *rewritten.bases), new.model) if others else None
    came = len(new.names) if added or not others else len(rewritten.names)
    return NewVersion(earlier, kept, added, came, shared.went, log, rewritten.bases)


def _fingerprint_version(
    context: Context, place: str, bases: Sequence[Base], model: Files, snapshot: TableSnapshot | None
) -> tuple[dict[str, str], LogEvidence]:
    """Return the fingerprints of the files at a place, or of a version of a table, and the evidence of the table's log.

    Where the log says that files were only rewritten, the former files stand for the new files while the former files
    exist unchanged: both have the same rows, and everything computed of the former files stays valid. If the former
    files are gone, see `provenn.archive.rewritten_files`.
    """
    if snapshot is None:
        return context.workshop.compute_fingerprints(place, model), NO_EVIDENCE
    # Without a key, a source is a row of a certain file: then rewritten files have other sources.
    own = [base for base in bases if base.files.location == place and not base.files.row_key]
    recorded = {name: text for base in own for name, text in base.files.fingerprints}
    seen = {int(base.files.table.partition(" ")[2] or 0) for base in own}
    evidence = find_log_evidence(snapshot, recorded.keys(), is_whole=len(own) == len(bases), seen=seen)
    names = evidence.names
    list_snapshot_files(snapshot, names)  # those that are in the snapshot are as its log states
    fingerprints = context.workshop.compute_fingerprints(place, model, names, snapshot.partitions)
    former = names - snapshot.names
    if any(fingerprints.get(name) != recorded[name] for name in former):
        names = snapshot.names
        evidence = evidence.distrust_former_files(names)
        list_snapshot_files(snapshot, names)
        fingerprints = context.workshop.compute_fingerprints(place, model, names, snapshot.partitions)
    return fingerprints, evidence


def find_current_version(context: Context, earlier: Catalog) -> NewVersion | None:
    """Return the version of a base catalog with the present files at its locations; None without files.

    Files appended from several places are looked for in each place. The new version gets the new files of the first
    place with new files; the next refresh adds new files of the next place.
    """
    bases = list_version_bases(earlier) or ()
    places = dict.fromkeys(base.files.location for base in bases if _has_files(base))
    kept = {base.digest: base for base in bases}
    new: dict[str, str] = {}
    snapshots: dict[str, TableSnapshot | None] = {}
    went, new_place, log = 0, "", NO_EVIDENCE  # the log of the place with new files, or else of the last table
    for place in places:
        own = [base for base in bases if base.files.location == place and _has_files(base)]
        snapshot = find_snapshot(place)
        fingerprints, evidence = _fingerprint_version(context, place, bases, own[0].files, snapshot)
        snapshots[place] = snapshot
        log = evidence if snapshot and not new else log
        shared = share_files(own, fingerprints, place, evidence.table)
        kept |= shared.kept
        for base in own:
            if base.digest not in shared.kept:
                del kept[base.digest]
        went += shared.went
        if shared.new and not new:
            new, new_place, log = shared.new, place, evidence
    if not places or not (kept or new):
        return None
    if not new:
        return NewVersion(earlier, tuple(kept.values()), None, 0, went, log)
    own = [base for base in bases if base.files.location == new_place]

    def inspect(names: frozenset[str]) -> Files:
        return context.workshop.inspect_files(
            new_place,
            names=names,
            format=own[0].files.format,
            options=_list_user_options(own[0].files),
            snapshot=snapshots[new_place],
        )

    shared = DividedFiles(kept, new, went)
    return _assemble_version(context, earlier, shared, log, _NewFiles(new.keys(), own, own[0], inspect))


def _list_user_options(files: Files) -> dict[str, str]:
    return {name: value for name, value in files.options if name != LAYOUT}


def _is_comparable(bases: Sequence[Base], key: str | Sequence[str] | None, population: str) -> bool:
    """Whether a new version has the key and population of the earlier version, and files known by their content."""
    newest = bases[-1]
    names = newest.files.row_key if key is None else (key,) if isinstance(key, str) else tuple(key)
    is_known = all(base.files.basis in ("content", "store") for base in bases if base.files.format != GIVEN)
    return is_known and newest.population.name == population and names == newest.key


def _define_added(context: Context, files: Files, kept: Sequence[Base], model: Base) -> Base | None:
    """Return the base catalog of new files, with the key and population of an earlier base catalog of a version.

    None for files without rows, if another base catalog of the version is the same files without rows.
    """
    added = Base.of(files, key=None if model.files.row_key else model.key, population=model.population)
    continued = context.read(continue_attributes, added, kept, model)
    return None if files.row_count == 0 and continued in kept else continued


def append_files(context: Context, earlier: Catalog, files: Files) -> NewVersion:
    """Return the version of a base catalog with more files.

    Raises
    ------
    DefinitionError
        If the catalog is made from other catalogs.
    """
    bases = list_version_bases(earlier)
    if bases is None:
        raise DefinitionError(
            "files can only be appended to a base catalog",
            hint="append to the base catalog that it is made from",
        )
    known_texts = {text for base in bases for _, text in base.files.fingerprints}
    new = {name: text for name, text in files.fingerprints if text not in known_texts}
    kept = tuple(
        base.take(dict(base.files.fingerprints), base.files.location)
        if _has_files(base) and files.location.startswith(base.files.location)
        else base
        for base in bases
    )
    if not new:
        return NewVersion(earlier, kept, None, 0, 0)
    if len(new) < len(files.fingerprints):
        files = context.workshop.inspect_files(
            files.location, names=frozenset(new), format=files.format, options=dict(files.options)
        )
    model = next((base for base in reversed(bases) if base.files.location == files.location), bases[-1])
    return NewVersion(earlier, kept, _define_added(context, files, kept, model), len(new), 0)


def _has_files(base: Base) -> bool:
    return base.files.format not in (GIVEN, TABLE, EXTERNAL) and not base.files.is_old


def add_version(context: Context, name: str, version: NewVersion, *, rebuild: bool | None) -> Catalog:
    """Add a new version of a base catalog, and move the names of the catalog and all descendants in one transaction.

    First, the keys of the new files are compared with all other keys. Return the catalog under the name afterwards.

    Raises
    ------
    KeyValuesError
        If a key is NULL, or occurs twice in the files of the new version.
    CatalogNameError
        If files are gone, and `rebuild` is None.
    ArchiveBusyError
        If the name was moved meanwhile.
    """
    catalog = version.define()
    if version.is_same:
        context.write(record_locations, version)
        return catalog
    rows = compare_keys(context, version)
    if rebuild is None and version.only_grew:
        rebuild = True
    context.write(_write_version, name, version, catalog, rows, rebuild=rebuild)
    return catalog


def compare_keys(context: Context, version: NewVersion) -> dict[CatalogDigest, int]:
    """Compare the keys of the new files with all other keys; return the row count of each checked base catalog.

    Raises
    ------
    KeyValuesError
        If a key is NULL, or occurs twice in the files of the new version.
    KeyColumnsError
        If a source is a row of a file, and two files have the same content.
    """
    if version.added is not None and version.added.files.row_key:
        check_different([pair for base in (*version.kept, version.added) for pair in base.files.fingerprints])
    rows: dict[CatalogDigest, int] = {}
    for base, others in version.list_comparisons():
        count = context.workshop.compare_new_keys(context.read(_find_near_bases, base, others), base)
        if count is not None:
            rows[base.digest] = count
    return rows


def _find_near_bases(reading: Reading, new: Base, others: Sequence[Base]) -> list[Base]:
    """Return the base catalogs of a version with possible keys of new files, by what their files state.

    The files of a part state nothing of their own; statements of the whole hold for the part as well.
    """
    near: list[Base] = []
    for member in others:
        if have_other_keys(new, member):
            continue
        parts = {part.part_of or part.digest: part for part in member.list_parts()}
        stored = base_locations.find_base_locations(reading, parts)
        # Whoever sees a version sees the files that were joined to it.
        described = catalog_store.get_catalogs(replace(reading, viewer=None), sorted(stored)) if stored else {}
        for digest, part in parts.items():
            base = described.get(digest, part)
            if not (isinstance(base, Base) and have_other_keys(new, base)):
                near.append(part)
    return near


def _write_version(
    writing: Writing,
    name: str,
    version: NewVersion,
    catalog: Catalog,
    rows: Mapping[CatalogDigest, int],
    *,
    rebuild: bool | None,
) -> None:
    """Write the definitions, the observed fact and the names of a new version."""
    write_definitions(writing, version, [catalog], rows)
    move_names(writing, name, version, catalog, rebuild=rebuild)


def move_names(
    writing: Writing,
    name: str,
    version: NewVersion,
    catalog: Catalog,
    *,
    rebuild: bool | None = True,
    redefined: Mapping[CatalogDigest, Catalog] | None = None,
) -> None:
    """Move the name of a base catalog to the new version, and the names of all descendants.

    Parameters
    ----------
    writing
        The transaction.
    name
        The name.
    version, catalog
        The new version, and its catalog.
    rebuild
        Whether descendants move as well; None is an error if there are any.
    redefined
        The descendants as redefined before, by their old digests.

    Raises
    ------
    ArchiveBusyError
        If the name was moved meanwhile.
    """
    if catalog_names.find_named_digest(writing, name) != version.earlier.digest:
        raise ArchiveBusyError(f"{name} was changed meanwhile", hint="try again")
    rebuilding.replace_base(writing, name, version.earlier.digest, catalog, rebuild=rebuild, redefined=redefined)


def list_changed_files(version: NewVersion) -> ChangedFiles:
    """Return the sources of the files added with a version, and of the removed files, as sets."""
    kept = {base.part_of or base.digest: base for base in version.kept}
    gone = []
    for base in list_version_bases(version.earlier) or ():
        whole = base.part_of or base.digest
        if whole in kept:
            gone += [term(make_file_label(whole, text)) for text in kept[whole].gone if text not in base.gone]
        else:
            gone.append(term(base.digest))
    came = nothing if version.added is None else term(version.added.digest)
    still_there = tuple(term(base.digest) for base in version.rewritten)
    return ChangedFiles(came, chain(Op.MINUS, (chain(Op.OR, tuple(gone)), *still_there)) if gone else nothing)
