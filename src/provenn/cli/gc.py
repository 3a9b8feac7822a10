"""``provenn gc``: delete data that nothing refers to."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.output import AsJson, write_json, write_text
from provenn.cli.sizes import read_size
from provenn.sizes import format_size

__all__ = ["collect_garbage"]


def collect_garbage(
    *,
    limit: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Drop fragments, least useful first, down to this size.", show_default=False),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be deleted.")] = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Delete unreferenced data: leftovers of interrupted runs, and files of fragments that are no longer used.

    Hidden folders that interrupted exports left behind are deleted, too.

    Data that a run is reading or writing are kept. Everything deleted can be recomputed.

    Try:

    - `provenn gc --dry-run`
    - `provenn gc --limit 10GB`
    """
    size_limit = None if limit is None else read_size(limit)
    with open_archive_at(archive_path) as archive:
        collection = archive.collect_garbage(limit=size_limit, dry_run=dry_run)
        if as_json:
            write_json(
                {
                    "dropped": [
                        {"number": dropped.fragment.id, "reason": dropped.reason} for dropped in collection.dropped
                    ],
                    "deleted": list(collection.deleted),
                    "freed": collection.freed,
                    "kept": collection.kept,
                    "dry_run": dry_run,
                }
            )
            return
        for dropped in collection.dropped:
            write_text(f"fragment #{dropped.fragment.id}, {format_size(dropped.fragment.size)}: {dropped.reason}")
        for path in collection.deleted:
            write_text(f"{'would delete' if dry_run else 'deleted'} {path}")
        verb = "would free" if dry_run else "freed"
        write_text(f"{verb} {format_size(collection.freed)}; fragments have {format_size(collection.kept)}")
