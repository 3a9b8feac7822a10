"""``provenn operation``: the outcome of an operation whose connection was lost at its end."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["show_operation"]


def show_operation(
    number: Annotated[str, typer.Argument(metavar="ID", help="The id of the operation, from the error message.")],
    *,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show whether an operation with an unknown outcome was done.

    If the connection to a PostgreSQL server breaks while an operation is committed, the error message shows the id of
    the operation. Ids are kept for 30 days.

    Exit status: 0 if the operation was done, 1 if it was not.

    Try:

    - `provenn operation 0123456789abcdef0123456789abcdef`
    """
    with open_archive_at(archive_path) as archive:
        operation = archive.operation(number)
    if as_json:
        write_json(
            {"id": number, "done": False}
            if operation is None
            else {
                "id": operation.id,
                "done": True,
                "at": operation.at.isoformat(),
                "who": operation.who,
                "via": operation.via,
            }
        )
    elif operation is None:
        write_text(f"operation {number} was not done: the archive is unchanged")
    else:
        write_text(f"operation {number} was done by {operation.who} at {operation.at:%Y-%m-%d %H:%M:%S}, completely")
    raise typer.Exit(0 if operation is not None else 1)
