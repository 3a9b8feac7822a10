"""New versions of base catalogs that share files with the version before.

A version consists of the base catalogs of its files. Files with the same fingerprints have the same rows, so the new
version has the earlier base catalogs, as far as their files are still there, and a base catalog of the new files.
Sources and values of shared files are therefore the same in both versions by definition. New files with the columns of
earlier ones continue their attributes (`provenn.archive.continuing`). Base catalogs that are read alike, from one
place, are joined to one; otherwise a version is a concatenation. That no key occurs twice is checked on the data, once,
for what is new; for a concatenation it is recorded as an observed fact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from provenn.archive import rebuilding
from provenn.archive.column_changes import check_new_columns
from provenn.archive.concatenations import find_unproved_concatenations
from provenn.archive.context import Context
from provenn.archive.continuing import check_continuation, continue_attributes
from provenn.archive.log_evidence import NO_EVIDENCE, LogEvidence, find_log_evidence
from provenn.archive.shared_files import describe_place, share_files
from provenn.catalogs import (
    Base,
    Catalog,
    ConcatSources,
    DeriveAttributes,
    Files,
    SqlCalculator,
    list_joined_bases,
    list_version_bases,
)
from provenn.catalogs.base import make_file_label
from provenn.catalogs.key_ranges import have_other_keys
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
from provenn.knowledge import verified_keys
from provenn.knowledge.observations import observe_fact
from provenn.logic import Statement, disjoint
from provenn.logic.terms import Op, chain, nothing, term
from provenn.words.changed_sources import ChangedFiles

__all__ = [
    "NewVersion",
    "add_version",
    "append_files",
    "compare_keys",
    "find_current_version",
    "find_new_version",
    "list_changed_files",
    "list_expected_facts",
    "move_names",
    "write_definitions",
]


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A new version of a base catalog, as far as the files tell.

    Parameters
    ----------
    earlier
        The version before.
    kept
        The base catalogs of the files that both versions have.
    added
        The base catalog of the new files; None if there are none.
    came, went
        How many files the new version has that the earlier one lacks, and the reverse.
    log
        For a table with a log: what the log says of the new version.
    """

    earlier: Catalog
    kept: tuple[Base, ...]
    added: Base | None
    came: int
    went: int
    log: LogEvidence = NO_EVIDENCE

    @property
    def only_grew(self) -> bool:
        """Whether the new version has all files of the earlier one, or all its rows by the log of the table."""
        return not self.went or self.log.relation in ("equal", "subset")

    @property
    def is_same(self) -> bool:
        """Whether both versions have the same files."""
        return not self.came and not self.went

    def define(self) -> Catalog:
        """Return the catalog of the new version.

        Its columns are those of the newest files. Older files without one of these columns give NULL for it.

        Raises
        ------
        BaseFilesError
            If a column changed its type, or is missing in the new files.
        """
        if self.is_same:  # a base catalog that is the same may have a new location
            return self.kept[0] if len(self.kept) == 1 and self.kept[0] == self.earlier else self.earlier
        if self.added is not None:
            check_new_columns(self.earlier, self.kept, self.added)
        bases = list(self.members)
        members = _join_bases(bases if self.added is None else [*bases, self.added])
        catalogs = [_add_absent_columns(member, members[-1]) for member in members]
        return catalogs[0] if len(catalogs) == 1 else ConcatSources.of(*catalogs, overlap="files")

    @property
    def members(self) -> tuple[Base, ...]:
        """The base catalogs of the files that both versions have, joined as in the earlier version if none is gone."""
        if self.went or self.moved:
            return self.kept
        return list_joined_bases(self.earlier) or ()

    @property
    def moved(self) -> tuple[Base, ...]:
        """The base catalogs whose files are known at another place now, or among other files, and new parts of them."""
        earlier = {base.digest: describe_place(base) for base in list_version_bases(self.earlier) or ()}
        return tuple(base for base in self.kept if describe_place(base) != earlier.get(base.digest))


def _join_bases(bases: Sequence[Base]) -> list[Base]:
    """Return base catalogs, those joined that can be; the last stays the last, or a part of it."""
    joined: list[Base] = []
    for base in bases:
        place = next((place for place, other in enumerate(joined) if other.can_join(base)), None)
        joined.append(base if place is None else joined.pop(place).join(base))
    return joined


def _add_absent_columns(member: Base, newest: Base) -> Catalog:
    """Return a member of a version with the columns of the newest files: NULL for the columns that it lacks."""
    absent: dict[str, str] = {}
    for attribute in newest.schema.attributes:
        matches = member.schema.matching(attribute.name)
        if not matches and attribute.name not in newest.key:
            absent[attribute.name] = f"CAST(NULL AS {attribute.type})"
    return DeriveAttributes.of(member, SqlCalculator.of(absent)) if absent else member


def find_new_version(
    context: Context,
    earlier: Catalog,
    path: str | PathLike[str],
    *,
    key: str | Sequence[str] | None,
    population: str,
    **options: Any,  # noqa: ANN401 - those of Files.at
) -> NewVersion | None:
    """Return the version of a base catalog with the files at a path; None if it would share no file with the earlier.

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
    added = None
    if shared.new:
        files = context.workshop.inspect_files(place, names=frozenset(shared.new), **options)
        added = _define_added(context, files, kept, bases[-1])
    return NewVersion(earlier, kept, added, len(shared.new) if added else 0, shared.went, log)


def _fingerprint_version(
    context: Context, place: str, bases: Sequence[Base], model: Files, snapshot: TableSnapshot | None
) -> tuple[dict[str, str], LogEvidence]:
    """Return the fingerprints of the files at a place, or of a version of the table there, and what its log says.

    Where the log says that files were only rewritten, the former files stand for them, as long as they are there and
    unchanged: they have the same rows, and everything that was computed of them stays valid.
    """
    if snapshot is None:
        return context.workshop.compute_fingerprints(place, model), NO_EVIDENCE
    # Without a key, a source is a row of a certain file: then rewritten files have other sources.
    own = [base for base in bases if base.files.location == place and not base.files.row_key]
    recorded = {name: text for base in own for name, text in base.files.fingerprints}
    since = min((int(base.files.table.partition(" ")[2] or 0) for base in own), default=0)
    evidence = find_log_evidence(snapshot, recorded.keys(), is_whole=len(own) == len(bases), since=since)
    names = evidence.names
    list_snapshot_files(snapshot, names)  # those that are in the snapshot are as its log states
    fingerprints = context.workshop.compute_fingerprints(place, model, names, snapshot.partitions)
    former = names - snapshot.names
    if any(fingerprints.get(name) != recorded[name] for name in former):
        names = snapshot.names
        evidence = replace(evidence, names=names, is_gone=True)
        list_snapshot_files(snapshot, names)
        fingerprints = context.workshop.compute_fingerprints(place, model, names, snapshot.partitions)
    return fingerprints, evidence


def find_current_version(context: Context, earlier: Catalog) -> NewVersion | None:
    """Return the version of a base catalog with the files that are at its locations now; None if it has no files.

    Files that were appended from several places are looked for in each of them. The new version gets the new files of
    one place, the first place with new files; the next refresh adds new files of the next place.
    """
    bases = list_version_bases(earlier) or ()
    places = dict.fromkeys(base.files.location for base in bases if _has_files(base))
    kept = {base.digest: base for base in bases}
    new: dict[str, str] = {}
    snapshots: dict[str, TableSnapshot | None] = {}
    went, new_place, log = 0, "", NO_EVIDENCE
    for place in places:
        own = [base for base in bases if base.files.location == place and _has_files(base)]
        snapshot = find_snapshot(place)
        fingerprints, evidence = _fingerprint_version(context, place, bases, own[0].files, snapshot)
        snapshots[place] = snapshot
        log = evidence if snapshot else log
        shared = share_files(own, fingerprints, place, evidence.table)
        kept |= shared.kept
        for base in own:
            if base.digest not in shared.kept:
                del kept[base.digest]
        went += shared.went
        if shared.new and not new:
            new, new_place = shared.new, place
    if not places or not (kept or new):
        return None
    if not new:
        return NewVersion(earlier, tuple(kept.values()), None, 0, went, log)
    model = next(base for base in bases if base.files.location == new_place)
    files = context.workshop.inspect_files(
        new_place,
        names=frozenset(new),
        format=model.files.format,
        options=_list_user_options(model.files),
        snapshot=snapshots[new_place],
    )
    added = _define_added(context, files, tuple(kept.values()), model)
    return NewVersion(earlier, tuple(kept.values()), added, len(new) if added else 0, went, log)


def _list_user_options(files: Files) -> dict[str, str]:
    return {name: value for name, value in files.options if name != LAYOUT}


def _is_comparable(bases: Sequence[Base], key: str | Sequence[str] | None, population: str) -> bool:
    """Return whether a new version has the key and population of the earlier one, and files known by their content."""
    newest = bases[-1]
    names = newest.files.row_key if key is None else (key,) if isinstance(key, str) else tuple(key)
    is_known = all(base.files.basis in ("content", "store") for base in bases if base.files.format != GIVEN)
    return is_known and newest.population.name == population and names == newest.key


def _define_added(context: Context, files: Files, kept: Sequence[Base], model: Base) -> Base | None:
    """Return the base catalog of new files, with the key and population of an earlier one of a version.

    None if they have no rows, and another base catalog of the version is the same files without rows.
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
    """Add a new version of a base catalog, and move its name, and those of its descendants, in one transaction.

    First, the keys of the new files are compared with all others. Return the catalog that has the name afterwards.

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
        context.write(_record_locations, version)
        return catalog
    rows = compare_keys(context, version)
    if rebuild is None and version.only_grew:
        rebuild = True
    context.write(_write_version, name, version, catalog, rows, rebuild=rebuild)
    return catalog


def compare_keys(context: Context, version: NewVersion) -> int | None:
    """Compare the keys of the new files with all others; return how many there are, or None if they need no check.

    Raises
    ------
    KeyValuesError
        If a key is NULL, or occurs twice in the files of the new version.
    KeyColumnsError
        If a source is a row of a file, and two files have the same content.
    """
    if version.added is None:
        return None
    if version.added.files.row_key:
        check_different([pair for base in (*version.kept, version.added) for pair in base.files.fingerprints])
    return context.workshop.compare_new_keys(context.read(_find_near_bases, version), version.added)


def _find_near_bases(reading: Reading, version: NewVersion) -> list[Base]:
    """Return the base catalogs of a version that may have keys of the new files, by what their files state.

    The files of a part state nothing of their own; those of its whole hold for it as well.
    """
    assert version.added is not None, "there are new files"  # noqa: S101 - for the type checker
    near: list[Base] = []
    for member in version.members:
        if have_other_keys(version.added, member):
            continue
        parts = {part.part_of or part.digest: part for part in member.list_parts()}
        stored = base_locations.find_base_locations(reading, parts)
        # Whoever sees a version sees the files that were joined to it.
        described = catalog_store.get_catalogs(replace(reading, viewer=None), sorted(stored)) if stored else {}
        for digest, part in parts.items():
            base = described.get(digest, part)
            if not (isinstance(base, Base) and have_other_keys(version.added, base)):
                near.append(part)
    return near


def _record_locations(writing: Writing, version: NewVersion) -> None:
    """Record where the files of base catalogs are now, if they are known at another place than before.

    A joined base catalog is one more that has these files.
    """
    moved: list[Base] = list(version.moved)
    if moved and isinstance(version.earlier, Base) and version.earlier.joins and not version.went:
        prints = {name: text for base in version.kept for name, text in base.files.fingerprints}
        moved.append(version.earlier.take(prints, version.kept[0].files.location, table=version.log.table or None))
    for base in moved:
        if not catalog_store.add_catalogs(writing, base):
            base_locations.record_current_location(writing, base)


def _write_version(
    writing: Writing, name: str, version: NewVersion, catalog: Catalog, rows: int | None, *, rebuild: bool | None
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
    """Move the name of a base catalog to its new version, and the names of its descendants.

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


def list_expected_facts(version: NewVersion, catalog: Catalog) -> list[Statement]:
    """Return what will be observed when a version is written, unless its keys turn out to be wrong."""
    if isinstance(catalog, Base):
        return []
    apart = [] if version.added is None else [_state_apart(version.members, version.added)]
    return [*apart, *_state_separated_files(version)]


def _state_apart(members: Sequence[Base], added: Base) -> Statement:
    """Return the statement that new files share no source with the others."""
    return disjoint(chain(Op.OR, tuple(term(base.digest) for base in members)), added.digest)


def list_changed_files(version: NewVersion) -> ChangedFiles:
    """Return the sources of the files that came with a version, and of those that went, as sets."""
    kept = {base.part_of or base.digest: base for base in version.kept}
    gone = []
    for base in list_version_bases(version.earlier) or ():
        whole = base.part_of or base.digest
        if whole in kept:
            gone += [term(make_file_label(whole, text)) for text in kept[whole].gone if text not in base.gone]
        else:
            gone.append(term(base.digest))
    came = nothing if version.added is None else term(version.added.digest)
    return ChangedFiles(came, chain(Op.OR, tuple(gone)) if gone else nothing)


def write_definitions(writing: Writing, version: NewVersion, catalogs: Sequence[Catalog], rows: int | None) -> None:
    """Write the base catalogs and the observed fact of a new version, then its catalog and others on it.

    Parameters
    ----------
    writing
        The transaction.
    version
        The new version.
    catalogs
        Its catalog, and catalogs that are made from it.
    rows
        The number of new keys that were compared with all others; None if a source is a row of a file.

    Raises
    ------
    DefinitionError
        If the files of the version are not proved to share no source.
    """
    _record_locations(writing, version)
    stored = base_locations.find_base_locations(writing, [base.digest for base in version.kept])
    catalog_store.add_catalogs(writing, *(base for base in version.kept if base.digest not in stored))
    if version.added is not None:
        check_continuation(writing, version.added, version.kept)
        catalog_store.add_catalogs(writing, version.added)
        if rows is not None:
            verified_keys.record_verification(writing, version.added.digest, rows)
    catalog = catalogs[0]
    if isinstance(catalog, Base):
        catalog_store.add_catalogs(writing, catalog)
        _record_joined_keys(writing, version, catalog, rows)
    elif version.added is not None:
        reason = "different files: a source is a row of a file"
        if rows is not None:
            reason = f"{rows:,} new keys compared with all others: none occurs twice"
        observe_fact(writing, _state_apart(version.members, version.added), reason)
    if not isinstance(catalog, Base):
        _record_separated_files(writing, version)
    catalog_store.add_catalogs(writing, *catalog.dependencies)
    if find_unproved_concatenations(writing, [catalog]):
        raise DefinitionError("it is not proved that the files of the new version share no source")
    catalog_store.add_catalogs(writing, *catalogs)
    statement = version.log.state_relation(version.earlier.digest, catalog.digest)
    if statement is not None:
        observe_fact(writing, statement, version.log.reason)


def _record_separated_files(writing: Writing, version: NewVersion) -> None:
    """Record that files of the earlier version share no source, if they are other members now.

    Sound: their keys were compared when they came, which is still proved, and a part has fewer sources.
    """
    if find_unproved_concatenations(writing, [version.earlier]):
        return
    for statement in _state_separated_files(version):
        observe_fact(writing, statement, "files of one version: their keys were compared when they came")


def _state_separated_files(version: NewVersion) -> list[Statement]:
    """Return the statements that files share no source which were joined, or members with more files, before."""
    kept, earlier = {base.digest for base in version.kept}, list_version_bases(version.earlier) or ()
    has_parts = len(kept) > 1 and not kept <= {base.digest for base in earlier}
    statements = [disjoint(*sorted(kept))] if has_parts and not isinstance(version.earlier, Base) else []
    for joined in list_joined_bases(version.earlier) or ():
        digests = {digest for digest, _ in joined.joins}
        separated = [base.digest for base in version.members if (base.part_of or base.digest) in digests]
        statements += [disjoint(*separated)] if len(separated) > 1 else []
    return statements


def _record_joined_keys(writing: Writing, version: NewVersion, catalog: Base, rows: int | None) -> None:
    """Record that the keys of joined files are verified, if those of all others are: new keys were compared."""
    if not catalog.joins or (version.added is not None and rows is None):
        return
    others = version.kept if version.went else (version.earlier,)
    counted = verified_keys.find_verified_counts(writing, [other.digest for other in others])
    if len(counted) == len(others):
        verified_keys.record_verification(writing, catalog.digest, sum(counted.values()) + (rows or 0))
