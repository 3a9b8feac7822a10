"""``provenn audit``: the audit log."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.output import AsJson, write_json, write_nothing, write_table, write_text

__all__ = ["show_audit"]


def show_audit(
    *,
    most: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="How many to show.")] = 100,
    action: Annotated[
        str | None,
        typer.Option("--action", metavar="ACTION", help="Only entries with this action.", show_default=False),
    ] = None,
    head: Annotated[
        bool, typer.Option("--head", help="Write only the number and digest of the newest entry, to keep elsewhere.")
    ] = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """List who did what, when and from where, newest first.

    The digest of an entry covers all earlier entries. Keep the head elsewhere, and `provenn check --audit-head HEAD`
    shows later whether an entry up to there was changed or removed.

    Try:

    - `provenn audit --most 20`
    - `provenn audit --action retract`
    - `provenn audit --head > audit-head.txt`
    """
    with open_archive_at(archive_path) as archive:
        if head:
            newest = archive.audit_head()
            write_json({"head": newest}) if as_json else write_text(newest or "the audit log is empty")
            return
        entries = archive.audit(most=most, action=action)
        if as_json:
            keys = ("who", "via", "action", "subject", "detail")
            write_json([{"at": entry.at.isoformat()} | {key: getattr(entry, key) for key in keys} for entry in entries])
        elif not entries and action is not None:
            write_nothing(f"no entry of the audit log has the action {action}", "provenn audit lists all entries")
        elif not entries:
            write_nothing("the audit log is empty", "provenn ingest stars stars.parquet --key hip --population star")
        else:
            rows = [
                (f"{entry.at:%Y-%m-%d %H:%M:%S}", entry.who, entry.via, entry.action, entry.subject)
                for entry in entries
            ]
            write_table(("when", "who", "via", "action", "subject"), rows)
