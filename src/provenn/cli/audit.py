"""``provenn audit``: who did what."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.output import AsJson, write_json, write_table

__all__ = ["show_audit"]


def show_audit(
    *,
    most: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="How many to show.")] = 100,
    action: Annotated[
        str | None, typer.Option("--action", metavar="ACTION", help="Only what is told so.", show_default=False)
    ] = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """List who did what, when and from where, the latest first.

    Try:

    - `provenn audit --most 20`
    - `provenn audit --action retract`
    """
    with opened(archive, as_json) as found:
        done = found.audit(most=most, action=action)
        if as_json:
            keys = ("who", "via", "action", "subject", "detail")
            write_json([{"at": one.at.isoformat()} | {key: getattr(one, key) for key in keys} for one in done])
        else:
            rows = [(f"{one.at:%Y-%m-%d %H:%M:%S}", one.who, one.via, one.action, one.subject) for one in done]
            write_table(("when", "who", "via", "action", "subject"), rows)
