"""Checks of data: fragments and their files, unreferred files in the data folder, and the files of base catalogs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from sqlalchemy import select, update

from provenn.catalogs.base import Base, list_bases
from provenn.catalogs.catalog import Catalog
from provenn.data import fragments, garbage_collection
from provenn.data.changed_files import check_base, read_contents
from provenn.data.conversions import all_conversions, find_conversion_damage
from provenn.data.fragments import Fragment
from provenn.data.parquet_contents import find_parquet_damage, read_parquet_contents
from provenn.database import clock
from provenn.database.tables import fragments as fragment_rows
from provenn.database.transactions import Database, Reading, Writing
from provenn.definitions import catalog_names
from provenn.definitions.base_locations import list_files_digests
from provenn.definitions.descendants import find_descendants
from provenn.definitions.moc_files import find_moc_damage, locate_moc
from provenn.definitions.moc_files import find_named_mocs as named_mocs
from provenn.digests import CatalogDigest
from provenn.errors import FilesChangedError, ProvennError, StoreError
from provenn.files.data_folder import DataFolder
from provenn.files.false_footers import find_false_statements
from provenn.files.file_set import GIVEN
from provenn.files.fingerprints import find_basis
from provenn.soundness.problems import ArchiveProblem, Progress, no_progress
from provenn.transfer.backup_manifests import find_file_damage, read_manifest

__all__ = [
    "find_backup_problems",
    "find_base_file_problems",
    "find_conversion_problems",
    "find_fragment_problems",
    "find_fragment_row_problems",
    "find_leftovers",
    "find_moc_problems",
]

_SHOWN = 10
"""The number of names to show of catalogs that depend on damaged data."""


def find_fragment_problems(
    reading: Reading,
    folder: DataFolder | None,
    sound: Mapping[CatalogDigest, Catalog],
    *,
    deep: bool,
    progress: Progress = no_progress,
) -> Iterator[ArchiveProblem]:
    """Check all fragments and their files."""
    all_fragments = list(fragments.iterate_fragments(reading))
    usable = [fragment for fragment in all_fragments if isinstance(fragment, Fragment) and fragment.is_usable]
    store_problem = _describe_missing_store(folder, usable)
    if store_problem:
        yield ArchiveProblem("store", store_problem)
    for number, fragment in enumerate(all_fragments):
        progress("fragments", number, len(all_fragments))
        yield from _find_row_problems(reading, fragment, sound)
        if isinstance(fragment, Fragment) and fragment.is_usable and folder is not None and not store_problem:
            yield from _find_file_problems(folder, fragment, deep=deep)


def find_fragment_row_problems(reading: Reading, sound: Mapping[CatalogDigest, Catalog]) -> Iterator[ArchiveProblem]:
    """Check the rows of all fragments, without the files."""
    for fragment in list(fragments.iterate_fragments(reading)):
        yield from _find_row_problems(reading, fragment, sound)


def _describe_missing_store(folder: DataFolder | None, usable: list[Fragment]) -> str:
    """Return the problem if a folder of fragments is missing, or ""; the disk is then to blame, not a fragment."""
    if not usable:
        return ""
    if folder is None:
        return "the archive has no place for data"
    for parent in sorted({fragment.location.rpartition("/")[0] for fragment in usable}):
        try:
            with folder.open_filesystem(parent) as (filesystem, path):
                exists = filesystem.get_file_info(path).type.name != "NotFound"
        except StoreError as error:
            return error.message
        if not exists:
            return f"{folder.at(parent)} is missing, but should hold fragments; is the disk mounted?"
    return ""


def _find_row_problems(
    reading: Reading, fragment: Fragment | tuple[int, str], sound: Mapping[CatalogDigest, Catalog]
) -> Iterator[ArchiveProblem]:
    """Check the row of a fragment against the definition of the catalog, and against itself."""
    if not isinstance(fragment, Fragment):
        number, problem = fragment
        yield ArchiveProblem(f"fragment #{number}", problem, remedy="forget", mend=partial(_forget, number))
        return
    where, catalog = f"fragment #{fragment.id}", sound.get(fragment.catalog)
    if catalog is not None and (fragment.extent, fragment.population) != (
        catalog.extent.digest,
        catalog.population.name,
    ):
        yield ArchiveProblem(
            where, "it does not belong to its catalog", remedy="forget", mend=partial(_forget, fragment.id)
        )
    elif catalog is not None and not fragment.identities <= catalog.schema.by_identity.keys():
        yield ArchiveProblem(
            where, "it has attributes that its catalog lacks", remedy="forget", mend=partial(_forget, fragment.id)
        )
    if len({fragment.dropped_at is None, fragment.dropped_by is None, fragment.dropped_reason is None}) > 1:
        mend = partial(_complete_drop, fragment.id)
        yield ArchiveProblem(where, "its record is incomplete: neither in use nor dropped", remedy="forget", mend=mend)
    elif fragment.removed_at is not None and fragment.dropped_at is None:
        mend = partial(_change, fragment.id, {"removed_at": None})
        yield ArchiveProblem(where, "its files are marked as deleted, but it is in use", remedy="index", mend=mend)
    size = reading.connection.scalar(select(fragment_rows.c.size).where(fragment_rows.c.id == fragment.id))
    if size != fragment.size:
        mend = partial(_change, fragment.id, {"size": fragment.size})
        yield ArchiveProblem(where, f"its files have {fragment.size:,} bytes, not {size}", remedy="index", mend=mend)


def _find_file_problems(folder: DataFolder, fragment: Fragment, *, deep: bool) -> Iterator[ArchiveProblem]:
    """Check the files of a fragment."""
    where = f"fragment #{fragment.id}"
    try:
        problem = find_parquet_damage(folder, fragment.location, fragment.files, deep=deep)
        if not problem and deep and (rows := read_parquet_contents(folder, fragment.location).rows) != fragment.rows:
            problem = f"its files have {rows:,} rows, not {fragment.rows:,}"
    except StoreError as error:
        problem = error.message
    if problem:
        mend = partial(_drop, fragment.id, problem)
        yield ArchiveProblem(
            where, problem, remedy="compute", mend=mend, stored=(fragment.catalog, fragment.identities)
        )
        return
    known_names = {file.name for file in fragment.files}
    for stray in folder.files(fragment.location):
        if stray.name not in known_names:
            mend = partial(_remove, folder, fragment.location, stray.name)
            yield ArchiveProblem(
                where, f"{stray.name} is in its folder, but is not one of its files", "leftover", "delete", mend
            )


def find_leftovers(reading: Reading, folder: DataFolder | None) -> Iterator[ArchiveProblem]:
    """Find unreferred files and folders."""
    if folder is None:
        return
    now = clock.now(reading.connection)
    for place, size, is_deletable in garbage_collection.find_unreferred(
        reading, garbage_collection.list_data_folder(folder), now
    ):
        what = f"nothing refers to it: {size:,} bytes"
        yield ArchiveProblem(
            place, what if is_deletable else f"{what}; it is recent, and is kept for a day", "leftover", "delete"
        )
    for place, size in garbage_collection.find_abandoned_outside(reading, now).items():
        yield ArchiveProblem(place, f"its writer was stopped: {size:,} bytes", "leftover", "delete")


def find_conversion_problems(
    folder: DataFolder | None, *, deep: bool, progress: Progress = no_progress
) -> Iterator[ArchiveProblem]:
    """Check base files converted to Parquet; damaged files are converted again when next needed."""
    if folder is None:
        return
    conversions = list(all_conversions(folder))
    for number, conversion in enumerate(conversions):
        progress("conversions", number, len(conversions))
        mend = partial(_remove, folder, conversion.place, "")
        if not conversion.has_digest:
            what = f"an older version wrote it without a digest, and nothing reads it: {conversion.size:,} bytes"
            yield ArchiveProblem(conversion.place, what, "leftover", "delete", mend)
            continue
        problem = find_conversion_damage(folder, conversion, deep=deep)
        if problem:
            yield ArchiveProblem(conversion.place, problem, remedy="compute", mend=mend)


def find_base_file_problems(
    database: Database,
    reading: Reading,
    sound: Mapping[CatalogDigest, Catalog],
    folder: DataFolder | None = None,
    *,
    deep: bool = False,
    progress: Progress = no_progress,
) -> Iterator[ArchiveProblem]:
    """Check the files of base catalogs, with `deep` every byte and footers; files of old archives are read then.

    Missing files, and changed files of a catalog without a name, are only remarks, because external files are not part
    of the archive. Tables ingested from memory are part of the archive. False footers are damage if the catalog has a
    name, because proofs and Spark believe footers.
    """
    compared: dict[str, list[str]] = {}
    bases = list_bases(sound.values())
    names_by_digest = catalog_names.find_names_by_digest(reading, [base.digest for base in bases])
    for number, base in enumerate(bases):
        progress("base files", number, len(bases))

        def report_bytes(done: int, total: int, where: str = base.files.location) -> None:
            progress(f"MB of {where}", done // 10**6, total // 10**6)

        base_names, where = names_by_digest.get(base.digest, ()), f"catalog {base.digest}"
        try:
            if deep:
                read_contents(database, folder, base, report_bytes)
            check_base(database, folder, base, deep=deep, progress=report_bytes)
        except ProvennError as error:
            is_damage = base.files.format == GIVEN or (
                deep and bool(base_names) and isinstance(error, FilesChangedError)
            )
            what = f"{', '.join(base_names)}: {error.message}" if base_names else error.message
            if base.files.format == GIVEN:
                what += _describe_dependents(reading, base.digest)
            yield ArchiveProblem(where, what) if is_damage else ArchiveProblem(where, what, "remark", "none")
            continue
        if deep and base.files.format == "parquet":
            for problem in _find_footer_problems(base, compared, progress):
                if base_names:
                    yield ArchiveProblem(where, f"{', '.join(base_names)}: {problem}", remedy="rewrite")
                else:
                    yield ArchiveProblem(where, problem, "remark", "rewrite")


def _find_footer_problems(base: Base, compared: dict[str, list[str]], progress: Progress) -> Iterator[str]:
    """Yield the false statements in the footers of files; files with known content are compared only once.

    Parameters
    ----------
    base
        The catalog.
    compared
        The false statements of files that were compared before, by fingerprint; files are added.
    progress
        Called with the progress.
    """
    fingerprints = dict(base.files.contents or base.files.fingerprints)
    files = base.files.list_own_files()
    for number, file in enumerate(files):
        progress(f"footers of {base.files.location}", number, len(files))
        fingerprint = fingerprints.get(file.name, "")
        problems = compared.get(fingerprint)
        if problems is None:
            try:
                problems = find_false_statements(file)
            except ProvennError as error:
                problems = [error.message]
            if find_basis([fingerprint]) == "content":
                compared[fingerprint] = problems
        yield from (f"{file.name}: {problem}" for problem in problems)


def find_backup_problems(reading: Reading, folder: DataFolder | None, *, deep: bool) -> Iterator[ArchiveProblem]:
    """Compare the files of a backup with the manifest, as far as the archive still refers to them."""
    if folder is None:
        return
    try:
        manifest = read_manifest(folder)
    except StoreError as error:
        yield ArchiveProblem("backup", error.message)
        return
    if manifest is None:
        return
    referred = fragments.find_locations(reading) | {f"{GIVEN}/{digest}" for digest in list_files_digests(reading)}
    referred |= {locate_moc(digest) for digest in named_mocs(reading)}
    for place, (size, digest) in manifest.files.items():
        if place in referred or place.rpartition("/")[0] in referred:
            problem = find_file_damage(folder, place, size, digest, deep=deep)
            if problem:
                yield ArchiveProblem(f"backup of {manifest.made_at[:10]}, {place}", problem)


def _describe_dependents(reading: Reading, digest: CatalogDigest) -> str:
    """Describe the catalogs lost with a base catalog: all descendants."""
    dependents = find_descendants(reading, digest)
    if not dependents:
        return ""
    names_by_digest = catalog_names.find_names_by_digest(reading, dependents)
    dependent_names = sorted(name for catalog_names in names_by_digest.values() for name in catalog_names)
    unnamed = len(dependents) - len(names_by_digest)
    shown = dependent_names[:_SHOWN] + (
        [f"{len(dependent_names) - _SHOWN} more names"] if len(dependent_names) > _SHOWN else []
    )
    shown += [f"{unnamed} without a name"] if unnamed else []
    return f"; what depends on it: {', '.join(shown)}"


def find_moc_problems(reading: Reading, folder: DataFolder | None) -> Iterator[ArchiveProblem]:
    """Check the files of the large MOCs named by definitions: no other copy exists."""
    if folder is None:
        return
    for digest in sorted(named_mocs(reading)):
        problem = find_moc_damage(folder, digest)
        if problem:
            yield ArchiveProblem(f"MOC {digest}", problem)


# --- mending ---


def _forget(number: int, writing: Writing) -> None:
    fragments.forget(writing, number)


def _drop(number: int, problem: str, writing: Writing) -> None:
    fragments.drop(writing, number, f"damaged: {problem}")


def _complete_drop(number: int, writing: Writing) -> None:
    """Record a fragment with an incomplete record of dropping as dropped."""
    values = {"dropped_at": writing.when, "dropped_by": writing.who, "dropped_reason": "its row was changed"}
    _change(number, values, writing)


def _change(number: int, values: dict[str, object], writing: Writing) -> None:
    writing.connection.execute(update(fragment_rows).where(fragment_rows.c.id == number).values(values))


def _remove(folder: DataFolder, location: str, name: str, writing: Writing) -> None:  # noqa: ARG001 - the interface
    folder.remove(*filter(None, (location, name)))
