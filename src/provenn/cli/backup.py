"""``provenn backup``: a copy of the archive, which is itself an archive."""

import time
from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.output import AsJson, write_json, write_text
from provenn.sizes import format_size

__all__ = ["back_up"]

_INTERVAL = 5.0
"""Seconds between two lines about the progress."""


def back_up(
    place: Annotated[str, typer.Argument(metavar="PLACE", help="A new folder, or the address of an empty database.")],
    *,
    data: Annotated[bool, typer.Option("--data", help="Copy the fragments too.")] = False,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Where to store the data of the copy; by default in its folder.", show_default=False
        ),
    ] = None,
    skip_damaged: Annotated[
        bool, typer.Option("--skip-damaged", help="Leave out damaged data, copy damaged rows, and list both.")
    ] = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Copy an archive as it is at one moment, even while others write to it.

    Every byte of data is compared with its digest, in the archive and in the copy, and the database is checked as by
    provenn check. If anything is damaged, nothing is copied, unless --skip-damaged is given.

    The copy is an archive: open it where it is, or copy it back in the same way, also between SQLite and PostgreSQL.
    Existing data are never overwritten. Without --data the copy has no fragments, and their values are recomputed on
    request.

    Try:

    - `provenn backup ../survey-copy`
    - `provenn backup ../survey-copy --data`
    - `provenn backup postgresql://host/surveys --archive survey-copy`
    """
    with open_archive_at(archive_path) as archive:
        lines = _ProgressLines()
        backup = archive.backup(
            place,
            data=data,
            store=store,
            skip_damaged=skip_damaged,
            progress=lines.show_copied,
            checking=lines.show_checked,
        )
    if as_json:
        write_json(
            {
                "catalogs": backup.catalogs,
                "rows": backup.rows,
                "fragments": backup.fragments,
                "size": backup.size,
                "audit_head": backup.audit_head,
                "left_out": {str(number): reason for number, reason in backup.left_out.items()},
                "missing": list(backup.missing),
                "verified_definitions": backup.verified_definitions,
                "verified_audit_entries": backup.verified_audit_entries,
                "damaged": list(backup.damaged),
            }
        )
        return
    write_text(f"copied {backup.catalogs:,} catalogs, {backup.rows:,} rows in all")
    definitions, entries = backup.verified_definitions, backup.verified_audit_entries
    write_text(f"verified {definitions:,} definitions, {entries:,} audit entries")
    for description in backup.damaged:
        write_text(f"damaged: {description}")
    for description in backup.missing:
        write_text(f"left out {description}")
    if backup.audit_head is not None:
        write_text(f"audit log up to {backup.audit_head}")
    if data:
        write_text(f"copied {backup.fragments:,} fragments, {format_size(backup.size)}")
        for number, reason in backup.left_out.items():
            write_text(f"left out fragment #{number}: {reason}")
    elif backup.left_out:
        write_text(f"left out {len(backup.left_out):,} fragments: --data copies them too")


class _ProgressLines:
    """Writes the progress of a backup to the standard error, at intervals."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def show_checked(self, subject: str, checked: int, total: int) -> None:
        """Show the progress of the check before the copy."""
        self._show(f"checking {subject}: {checked:,} of {total:,}" if total else f"checking {subject}")

    def show_copied(self, copied: int, total: int) -> None:
        """Show the number of copied rows."""
        self._show(f"copied {copied:,} of {total:,} rows")

    def _show(self, line: str) -> None:
        if time.monotonic() - self._last > _INTERVAL:
            self._last = time.monotonic()
            typer.echo(line, err=True)
