"""Opening and creating archives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from provenn.archive.archive import Archive
from provenn.archive.context import Context
from provenn.archive.knowledge_cache import KnowledgeCache
from provenn.archive.locations import DATABASE, STORE, find_data_folder
from provenn.archive.workshop import Progress, Workshop
from provenn.archive.wrong_calls import explain_calls
from provenn.database import settings
from provenn.definitions.moc_files import serve_mocs
from provenn.errors import ArchiveError, ArgumentsError
from provenn.formats.opening import open_database
from provenn.gate.local_paths import expand_home
from provenn.spark.confinement import Confinement

if TYPE_CHECKING:
    from provenn.archive.notices import Notify
    from provenn.database.transactions import Database

__all__ = ["DATABASE", "STORE", "find_data_folder", "open_archive"]


@explain_calls
def open_archive(
    path: str | Path | None = None,
    *,
    database: str | Path | None = None,
    store: str | Path | None = None,
    spark: object | None = None,
    progress: Progress = None,
    notify: Notify = None,
    create: bool = True,
    who: str | None = None,
    confined: bool = False,
    via: str = "python",
    calculators_as: str | None = None,
    calculators_environment: Sequence[str] | None = None,
) -> Archive:
    """Open an archive, or create a new one.

    Parameters
    ----------
    path
        The folder of the archive; by default the current folder.
    database
        Instead of a folder: the address of a database (``postgresql://…``), or a database file.
    store
        The place of the data: a path, or a URI that Spark reaches. The archive remembers it. By default, a folder
        beside the metadata; an archive in a database on a server needs a store before it can keep data.
    spark
        The Spark to compute with, started when first needed. By default Spark inside this process; or a master URL
        (``spark://…``, ``yarn``, ``k8s://…``), a Spark Connect URL (``sc://…``), or a session of your own, which is
        neither changed nor stopped.
    progress
        Called with the progress of long work; False for no progress. By default a bar, on a terminal or in a notebook.
    notify
        Called with a `Notice` about an answer: it rests on declared facts, or data contradict a declared fact; False
        for no calls. By default a notice is a `ProvennWarning`. `Archive.notices` keeps all notices.
    create
        Whether to create the archive if it does not exist.
    who
        The person recorded with all writes; by default PROVENN_USER of the environment, or the logged-in user.
    confined
        Whether to hide the private objects of other people. By default everything is visible, as to any reader of the
        database itself.
    via
        The interface in use, for the audit log.
    calculators_as
        The system user that runs Python calculators, which requires root; by default
        PROVENN_CALCULATORS_AS of the environment, or the user of this process.
    calculators_environment
        Additional environment variables for calculators: names, or prefixes such as ``SWIRE_*``; by default the
        variables in PROVENN_CALCULATORS_ENVIRONMENT.

    Raises
    ------
    EngineError
        If calculators cannot run as this user, or cannot get one of the variables.
    ArchiveError
        If the archive does not exist and `create` is False, a newer version made it, or the place holds something else.
    """
    confinement = None  # the environment's settings for calculators matter only once data are computed
    if calculators_as or calculators_environment is not None:
        variables = None if calculators_environment is None else tuple(calculators_environment)
        confinement = Confinement.of(calculators_as, variables)
        confinement.check_python()
    if not isinstance(path, str | PathLike | None):
        raise ArgumentsError(f"open() cannot use {path!r:.60} as path", hint="pass the folder of an archive")
    where = database if database is not None else expand_home(path if path is not None else ".") / DATABASE
    opened = open_database(where, create=create, who=who, confined=confined, via=via)
    try:
        _require_finished(replace(opened, viewer=None))
        folder = find_data_folder(replace(opened, viewer=None), where, store)
        if folder is not None:
            serve_mocs(folder)
        opened = replace(opened, folder=folder)
        workshop = Workshop(opened, folder, spark, progress, notify=notify, confinement=confinement)
        return Archive(Context(workshop.database, workshop, KnowledgeCache(opened)))
    except BaseException:
        opened.close()
        raise


def _require_finished(database: Database) -> None:
    """Refuse the target of an unfinished copy."""
    with database.reading() as reading:
        unfinished = settings.read_setting(reading, settings.UNFINISHED)
    if unfinished is not None:
        raise ArchiveError(
            f"{database.place} holds an unfinished {unfinished.removeprefix('a ')}",
            hint="the original archive is elsewhere: back it up again, here or to another place",
        )
