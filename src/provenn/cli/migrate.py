"""``provenn migrate``: from one format of the archive to another."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, is_address
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["migrate_archive"]


def migrate_archive(
    *,
    to: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="The format to migrate to, older or newer.", show_default="the newest"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be done, and what would be lost.")
    ] = False,
    lose: Annotated[bool, typer.Option("--lose", help="Allow the loss of what an older format cannot hold.")] = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Migrate an archive to another format, completely or not at all.

    Every command migrates an archive to the newest format when it opens it. For an older version of provenn, `--to`
    migrates to an older format, and refuses to lose anything without `--lose`. Make a backup first.

    Try:

    - `provenn migrate --dry-run`
    - `provenn migrate --to 0004 --dry-run`
    """
    from pathlib import Path  # noqa: PLC0415 - as below

    from provenn.archive import DATABASE  # noqa: PLC0415 - a command that only helps starts without it
    from provenn.database.tables import VERSION  # noqa: PLC0415
    from provenn.formats.migrations import migrate_format  # noqa: PLC0415

    database = archive_path if is_address(archive_path) else Path(archive_path) / DATABASE
    migration = migrate_format(database, VERSION if to is None else to, dry_run=dry_run, lose=lose)
    if as_json:
        write_json(
            {
                "archive": migration.place,
                "before": migration.before,
                "after": migration.after,
                "newest": VERSION,
                "lost": list(migration.lost),
                "dry_run": dry_run,
            }
        )
        return
    if migration.before == migration.after:
        write_text(
            f"the archive {migration.place} has format {migration.before}"
            f"{', the newest' * (migration.before == VERSION)}"
        )
        return
    verb = "would be migrated" if dry_run else "was brought"
    write_text(f"the archive {migration.place} {verb} from format {migration.before} to {migration.after}")
    for loss in migration.lost:
        write_text(f"{'would be lost' if dry_run else 'lost'}: {loss}")
