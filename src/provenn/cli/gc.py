"""``provenn gc``: delete data that nobody needs."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.output import AsJson, write_json, write_text
from provenn.cli.sizes import parse_size, size_text

__all__ = ["collect"]


def collect(
    *,
    limit: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Drop fragments, least useful first, down to this size.", show_default=False),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be deleted.")] = False,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Delete data that nothing refers to: leftovers of runs that died, files of fragments that are not used any more.

    What a run reads or writes now is left alone. What is deleted can be computed again.

    Try:

    - `provenn gc --dry-run`
    - `provenn gc --limit 10GB`
    """
    most = None if limit is None else parse_size(limit)
    with opened(archive, as_json) as found:
        told = found.collect_garbage(limit=most, dry_run=dry_run)
        if as_json:
            write_json(
                {
                    "dropped": [{"number": one.fragment.id, "reason": one.reason} for one in told.dropped],
                    "deleted": list(told.deleted),
                    "freed": told.freed,
                    "kept": told.kept,
                    "dry_run": dry_run,
                }
            )
            return
        for one in told.dropped:
            write_text(f"fragment #{one.fragment.id}, {size_text(one.fragment.size)}: {one.reason}")
        for place in told.deleted:
            write_text(f"{'would delete' if dry_run else 'deleted'} {place}")
        verb = "would free" if dry_run else "freed"
        write_text(f"{verb} {size_text(told.freed)}; fragments have {size_text(told.kept)}")
