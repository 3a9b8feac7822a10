"""Connecting to an archive's database, a file of SQLite or an address of PostgreSQL, in any format."""

from __future__ import annotations

import getpass
import os
from pathlib import Path

from provenn.database.engines import format_address, is_sqlite_read_only, make_postgresql_engine, make_sqlite_engine
from provenn.database.secrets import hide_address
from provenn.database.transactions import PATIENCE, Database
from provenn.errors import ArchiveError, ArchiveNotFoundError
from provenn.gate.local_paths import expand_home
from provenn.hints import Hint, suggest_new_archive

__all__ = ["open_unchecked_database"]

_NAME_FOLDER = Hint(
    "name a folder for the archive, then ingest the file: archive.ingest(name, path, key=…, population=…)",
    command="name a folder for the archive, then ingest the file: provenn ingest NAME FILE --key … --population …",
)


def open_unchecked_database(
    where: Path | str,
    *,
    create: bool = False,
    read_only: bool = False,
    who: str | None = None,
    confined: bool = False,
    via: str = "python",
    patience: float = PATIENCE,
) -> Database:
    """Open an archive's database in any format, without an upgrade; the parameters are as for `open_database`.

    Raises
    ------
    ArchiveNotFoundError
        If the file does not exist.
    ArchiveError
        If the location is neither a file nor an address of PostgreSQL.
    """
    if "://" in str(where) or str(where).startswith(("postgresql:", "postgresql+psycopg:", "postgres:")):
        hide_address(str(where))
        engine = make_postgresql_engine(str(where), patience=patience)
        place = format_address(engine.url)
    else:
        path = expand_home(where)
        place = str(path)
        try:
            if path.parent.is_file():
                raise ArchiveError(f"{path.parent} is a file, and an archive is a folder", hint=_NAME_FOLDER)
            exists = path.is_file()
            read_only = read_only or is_sqlite_read_only(path)
            if create and not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = error.strerror or str(error)
            raise ArchiveError(f"the archive {place} cannot be reached: {message}", hint="try again") from error
        if not create and not exists:
            raise ArchiveNotFoundError(f"there is no archive at {place}", hint=suggest_new_archive(place))
        engine = make_sqlite_engine(path, create=create, read_only=read_only, patience=patience)
    person = who or _find_current_user()
    return Database(engine, place, read_only, person, person if confined else None, via, patience=patience)


def _find_current_user() -> str:
    """Return the person of `PROVENN_USER`, or the name or number of the logged-in user."""
    name = os.environ.get("PROVENN_USER")
    if name:
        return name
    try:
        return getpass.getuser()
    except (KeyError, OSError, ModuleNotFoundError):  # a user without a name, as in some containers
        return str(os.getuid())
