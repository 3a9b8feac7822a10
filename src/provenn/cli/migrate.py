"""``provenn migrate``: from one format of the archive to another."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, is_address
from provenn.cli.output import AsJson, errors_as_json, write_json, write_text

__all__ = ["migrate_archive"]


def migrate_archive(
    *,
    to: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="A format, older or newer.", show_default="the newest")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done, and be lost.")] = False,
    lose: Annotated[bool, typer.Option("--lose", help="Lose what an older format has no place for.")] = False,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Bring an archive to another format: all of the way, or none of it.

    Every command brings an archive to the newest format when it opens it. An older version of provenn needs an older
    one: `--to` goes back, and refuses to lose anything unless `--lose` says that it may. Make a backup before.

    Try:

    - `provenn migrate --dry-run`
    - `provenn migrate --to 0004 --dry-run`
    """
    with errors_as_json(as_json):
        from pathlib import Path  # noqa: PLC0415 - as below

        from provenn.archive import DATABASE  # noqa: PLC0415 - a command that only helps starts without it
        from provenn.store.migrations import migrate  # noqa: PLC0415
        from provenn.store.tables import VERSION  # noqa: PLC0415

        where = archive if is_address(archive) else Path(archive) / DATABASE
        told = migrate(where, VERSION if to is None else to, dry_run=dry_run, lose=lose)
    if as_json:
        write_json(
            {
                "archive": told.place,
                "before": told.before,
                "after": told.after,
                "newest": VERSION,
                "lost": list(told.lost),
                "dry_run": dry_run,
            }
        )
        return
    if told.before == told.after:
        write_text(f"the archive {told.place} has format {told.before}{', the newest' * (told.before == VERSION)}")
        return
    verb = "would be brought" if dry_run else "was brought"
    write_text(f"the archive {told.place} {verb} from format {told.before} to {told.after}")
    for one in told.lost:
        write_text(f"{'would be lost' if dry_run else 'lost'}: {one}")
