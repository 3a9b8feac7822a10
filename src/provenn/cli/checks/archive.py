"""Checks of an archive: the database, the folder of the data, and the files of base catalogs."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from sqlalchemy import select

from provenn.archive.opening import DATABASE, find_data_folder
from provenn.catalogs import Base
from provenn.cli.archives import is_address
from provenn.cli.checks import CheckFunction, CheckResult
from provenn.cli.checks.places import check_writable
from provenn.data import fragments
from provenn.data.changed_files import check_base
from provenn.database.tables import VERSION, bases, names
from provenn.database.transactions import Database, Reading
from provenn.definitions import catalog_store
from provenn.errors import ProvennError
from provenn.files.data_folder import DataFolder
from provenn.files.file_set import EXTERNAL
from provenn.formats.opening import open_database
from provenn.hints import phrase_for_command
from provenn.sizes import format_size

__all__ = ["list_archive_checks", "locate_database"]

_PATIENCE = 5.0
_CHECKED_WHOLE = 64 * 2**20
"""An SQLite database up to this size is read and checked completely, which takes less than a second."""

_MOST_BASES, _MOST_FILES = 100, 1000
_SHOWN = 3


def locate_database(path: str) -> Path | str:
    """Return the database of an archive, given its folder or the address of the database."""
    return path if is_address(path) else Path(path) / DATABASE


def list_archive_checks(location: Path | str) -> Iterator[tuple[str, CheckFunction]]:
    """Yield the checks of an archive, each with a subject; only the database, if the database cannot be opened.

    Parameters
    ----------
    location
        The file of the database, or the address of one.
    """
    try:
        database = open_database(location, patience=_PATIENCE)
    except ProvennError as error:
        yield "database", partial(CheckResult, "wrong", error.message, phrase_for_command(error.hint))
        return
    with database:
        yield "database", partial(_check_database, database, location)
        yield "store", partial(_check_store, database, location)
        yield "base files", partial(_check_base_files, database, location)


def _check_database(database: Database, location: Path | str) -> CheckResult:
    """Check that the database is undamaged and can be written to."""
    with database.reading() as reading:
        count = catalog_store.count_catalogs(reading)
        content = f"format {VERSION}, {count:,} catalogs"
        if database.engine.dialect.name == "postgresql":
            server = reading.connection.exec_driver_sql("SHOW server_version").scalar()
            may_write = reading.connection.exec_driver_sql("SELECT has_table_privilege('names', 'INSERT')").scalar()
            kind = f"PostgreSQL {server}"
        else:
            may_write = not database.read_only
            kind = _describe_sqlite(reading)
            damage = _find_damage(reading, Path(location))
            if damage:
                return CheckResult("wrong", f"{database.place} is damaged: {damage}", "restore it from a backup")
    message = f"{database.place}: {content}, {kind}"
    if not may_write:
        return CheckResult("warning", f"{message}; it is read-only", "to write, copy it, or ask its owner")
    return CheckResult("ok", f"{message}; changes are recorded under the name {database.who}")


def _describe_sqlite(reading: Reading) -> str:
    """Return the version and the journal mode of SQLite, in words."""
    version = reading.connection.exec_driver_sql("SELECT sqlite_version()").scalar()
    journal = reading.connection.exec_driver_sql("PRAGMA journal_mode").scalar()
    return f"SQLite {version}, journal mode {journal}"


def _find_damage(reading: Reading, file: Path) -> str:
    """Return the damage of an SQLite database in words; empty without damage, or if the file is too large to check."""
    if file.stat().st_size > _CHECKED_WHOLE:
        return ""
    report = str(reading.connection.exec_driver_sql("PRAGMA quick_check(1)").scalar())
    return "" if report == "ok" else report


def _check_store(database: Database, location: Path | str) -> CheckResult:
    """Check that the folder of the data exists and can be written to."""
    folder = find_data_folder(database, location)
    with database.reading() as reading:
        stored = fragments.all_fragments(reading)
    used = f"{len(stored):,} fragments of {format_size(sum(fragment.size for fragment in stored))}"
    if folder is None:
        return CheckResult("warning", "the archive has no place for data", "name a place: provenn init --store PLACE")
    if not folder.is_local:
        return _check_remote_store(folder, used)
    path = Path(folder.location)
    if path.is_dir():
        return check_writable(path, used) if not database.read_only else CheckResult("ok", f"{path}, {used}; only read")
    if path.exists():
        return CheckResult("wrong", f"{path} is not a folder", "move the file away")
    if stored:
        return CheckResult(
            "wrong",
            f"{path} is missing, but should hold {used}",
            "is the disk mounted? If the data are lost, they are recomputed when they are next requested",
        )
    ancestor = next(parent for parent in path.parents if parent.is_dir())
    if database.read_only:
        return CheckResult("ok", f"{path} does not exist yet: no fragments")
    result = check_writable(ancestor)
    return CheckResult(result.state, f"{path} is created when data are first stored; {result.message}", result.hint)


def _check_remote_store(folder: DataFolder, used: str) -> CheckResult:
    """Check that the folder of the data can be reached in an object store."""
    with folder.open_filesystem() as (filesystem, path):
        exists = filesystem.get_file_info(path).type.name != "NotFound"
    return CheckResult("ok", f"{folder.location}, {used}{'' if exists else '; it does not exist yet'}")


def _check_base_files(database: Database, location: Path | str) -> CheckResult:
    """Check the files of base catalogs that have a name; files of older versions may be gone legitimately."""
    with database.reading() as reading:
        query = select(bases.c.catalog, names.c.name).join(names, names.c.catalog == bases.c.catalog)
        rows = reading.connection.execute(query.order_by(bases.c.seen_at.desc(), names.c.name))
        name_by_digest = {row.catalog: row.name for row in rows}
        catalogs = catalog_store.get_catalogs(reading, [*name_by_digest][:_MOST_BASES])
    folder = find_data_folder(database, location)
    checked, files, errors = 0, 0, []
    for digest, base in catalogs.items():
        if not isinstance(base, Base) or base.files.format == EXTERNAL:
            continue
        if files + len(base.files.fingerprints) > _MOST_FILES:
            continue
        checked, files = checked + 1, files + len(base.files.fingerprints)
        try:
            check_base(database, folder, base)
        except ProvennError as error:
            errors.append((name_by_digest[digest], error))
    if not name_by_digest:
        return CheckResult("ok", "no base catalog has a name")
    message = f"{files:,} files examined, of {checked:,} of {len(name_by_digest):,} base catalogs"
    if not errors:
        return CheckResult("ok", f"{message}: unchanged since they were ingested")
    listed = "; ".join(f"{name}: {error.message}" for name, error in errors[:_SHOWN])
    more = f"; and {len(errors) - _SHOWN} more" if len(errors) > _SHOWN else ""
    return CheckResult("wrong", f"{message}: {listed}{more}", phrase_for_command(errors[0][1].hint))
