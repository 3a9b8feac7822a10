"""Opening an archive, or making one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from provenn.archive.archive import Archive
from provenn.archive.notices import Notify
from provenn.archive.places import DATABASE, STORE, data_folder
from provenn.archive.workshop import Progress
from provenn.store.database import open_database

__all__ = ["DATABASE", "STORE", "data_folder", "open_archive"]


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
) -> Archive:
    """Open an archive, or make a new one.

    Parameters
    ----------
    path
        A folder, which holds all of it; by default the current one.
    database
        Instead: the address of a database (``postgresql://…``), or the file of one.
    store
        Where data are kept: a path, or a URI that Spark reaches. It is remembered. By default, a folder beside the
        metadata; for an archive in a database on a server it must be given before any data are kept.
    spark
        Where data are computed, once that is asked for. By default Spark inside this process; or a master URL
        (``spark://…``, ``yarn``, ``k8s://…``), a Spark Connect URL (``sc://…``), or a session of your own, which is
        neither changed nor stopped.
    progress
        Called with the progress of long work; False for nobody. By default a bar, on a terminal or in a notebook.
    notify
        Called with a `Notice` of what to know of an answer: that it rests on declared facts, or that data contradict
        one; False for nobody. By default such a notice is a `ProvennWarning`. `Archive.notices` has all of them.
    create
        Whether to make an archive if there is none.
    who
        The person recorded with what is written; by default PROVENN_USER of the environment, or who is logged in.
    confined
        Whether only what this person may see exists: what others have privately does not. By default everything is
        seen, as by whoever can read the database itself.
    via
        From where the archive is used, for the audit log.

    Raises
    ------
    ArchiveError
        If there is no archive and none is to be made, a newer version made it, or what is there is something else.
    """
    where = database if database is not None else Path(path if path is not None else ".") / DATABASE
    opened = open_database(where, create=create, who=who, confined=confined, via=via)
    try:
        folder = data_folder(replace(opened, viewer=None), where, store)
        return Archive(opened, folder, spark=spark, progress=progress, notify=notify)
    except BaseException:
        opened.close()
        raise
