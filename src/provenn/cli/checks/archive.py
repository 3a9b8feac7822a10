"""An archive: its database, the place of its data, and the files of its base catalogs."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from sqlalchemy import select

from provenn.archive.opening import DATABASE, data_folder
from provenn.catalogs import Base
from provenn.catalogs.files import EXTERNAL
from provenn.cli.archives import is_address
from provenn.cli.checks import Finding, Look
from provenn.cli.checks.places import writable
from provenn.cli.sizes import size_text
from provenn.errors import ProvennError
from provenn.store import catalog_store, fragments
from provenn.store.base_files import check_base
from provenn.store.database import Database, Reading, open_database
from provenn.store.folder import DataFolder
from provenn.store.tables import VERSION, bases, names

__all__ = ["archive_looks", "database_at"]

_PATIENCE = 5.0
_CHECKED_WHOLE = 64 * 2**20
"""Up to this size, all of an SQLite database is read and checked: that takes less than a second."""

_MOST_BASES, _MOST_FILES = 100, 1000
_SHOWN = 3


def database_at(path: str) -> Path | str:
    """Return the database of an archive, given its folder or the address of the database."""
    return path if is_address(path) else Path(path) / DATABASE


def archive_looks(where: Path | str) -> Iterator[tuple[str, Look]]:
    """Give what there is to look at in an archive: only its database, if that cannot be opened.

    Parameters
    ----------
    where
        The file of its database, or the address of one.
    """
    try:
        database = open_database(where, patience=_PATIENCE)
    except ProvennError as error:
        yield "database", partial(Finding, "wrong", error.message, error.hint)
        return
    with database:
        yield "database", partial(_database, database, where)
        yield "store", partial(_store, database, where)
        yield "base files", partial(_base_files, database, where)


def _database(database: Database, where: Path | str) -> Finding:
    with database.reading() as reading:
        count = catalog_store.count(reading)
        said = f"format {VERSION}, {count:,} catalogs"
        if database.engine.dialect.name == "postgresql":
            server = reading.connection.exec_driver_sql("SHOW server_version").scalar()
            may_write = reading.connection.exec_driver_sql("SELECT has_table_privilege('names', 'INSERT')").scalar()
            kind = f"PostgreSQL {server}"
        else:
            may_write = not database.read_only
            kind = _sqlite(reading)
            damage = _damage(reading, Path(where))
            if damage:
                return Finding("wrong", f"{database.place} is damaged: {damage}", "restore it from a copy")
    told = f"{database.place}: {said}, {kind}"
    if not may_write:
        return Finding("warning", f"{told}; it can only be read", "to write, copy it, or ask its owner")
    return Finding("ok", f"{told}; what is written is recorded as by {database.who}")


def _sqlite(reading: Reading) -> str:
    version = reading.connection.exec_driver_sql("SELECT sqlite_version()").scalar()
    journal = reading.connection.exec_driver_sql("PRAGMA journal_mode").scalar()
    return f"SQLite {version}, journal mode {journal}"


def _damage(reading: Reading, file: Path) -> str:
    if file.stat().st_size > _CHECKED_WHOLE:
        return ""
    said = str(reading.connection.exec_driver_sql("PRAGMA quick_check(1)").scalar())
    return "" if said == "ok" else said


def _store(database: Database, where: Path | str) -> Finding:
    folder = data_folder(database, where)
    with database.reading() as reading:
        stored = fragments.all_fragments(reading)
    used = f"{len(stored):,} fragments of {size_text(sum(one.size for one in stored))}"
    if folder is None:
        return Finding("warning", "nobody has said where data are kept", 'open the archive with store="…" once')
    if not folder.local:
        return _remote(folder, used)
    path = Path(folder.location)
    if path.is_dir():
        return writable(path, used) if not database.read_only else Finding("ok", f"{path}, {used}; only read")
    if path.exists():
        return Finding("wrong", f"{path} is no folder", "move away what is there")
    if stored:
        return Finding(
            "wrong",
            f"{path} is not there, and should hold {used}",
            "is the disk mounted? If the data are lost, they are computed anew when they are next asked for",
        )
    there = next(one for one in path.parents if one.is_dir())
    if database.read_only:
        return Finding("ok", f"{path} is not there, as nothing is stored")
    found = writable(there)
    return Finding(found.state, f"{path} is made when something is first stored; {found.told}", found.hint)


def _remote(folder: DataFolder, used: str) -> Finding:
    with folder.reached() as (filesystem, path):
        there = filesystem.get_file_info(path).type.name != "NotFound"
    return Finding("ok", f"{folder.location}, {used}{'' if there else '; it is not there yet'}")


def _base_files(database: Database, where: Path | str) -> Finding:
    """Look at the files of base catalogs that have a name: those of older versions may well be gone."""
    with database.reading() as reading:
        query = select(bases.c.catalog, names.c.name).join(names, names.c.catalog == bases.c.catalog)
        rows = reading.connection.execute(query.order_by(bases.c.seen_at.desc(), names.c.name))
        named = {row.catalog: row.name for row in rows}
        found = catalog_store.get_all(reading, [*named][:_MOST_BASES])
    folder = data_folder(database, where)
    looked, files, wrong = 0, 0, []
    for digest, base in found.items():
        if not isinstance(base, Base) or base.files.format == EXTERNAL:
            continue
        if files + len(base.files.fingerprints) > _MOST_FILES:
            continue
        looked, files = looked + 1, files + len(base.files.fingerprints)
        try:
            check_base(database, folder, base)
        except ProvennError as error:
            wrong.append((named[digest], error))
    if not named:
        return Finding("ok", "no base catalog has a name")
    told = f"{files:,} files looked at, of {looked:,} of {len(named):,} base catalogs"
    if not wrong:
        return Finding("ok", f"{told}: as they were ingested")
    some = "; ".join(f"{name}: {error.message}" for name, error in wrong[:_SHOWN])
    more = f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    return Finding("wrong", f"{told}: {some}{more}", wrong[0][1].hint)
