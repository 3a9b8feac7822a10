"""``provenn backup``: a copy of the archive, which is an archive."""

import time
from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.output import AsJson, write_json, write_text
from provenn.cli.sizes import size_text

__all__ = ["back_up"]

_EVERY = 2.0
"""Seconds between two lines about the progress."""


def back_up(
    place: Annotated[str, typer.Argument(metavar="PLACE", help="A new folder, or the address of an empty database.")],
    *,
    data: Annotated[bool, typer.Option("--data", help="Copy the fragments too.")] = False,
    store: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Where the data of the copy go, if not into its folder.", show_default=False),
    ] = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Copy an archive as it is at one moment, whatever others write meanwhile.

    The copy is an archive: open it where it is, or copy it back in the same way; also from SQLite to PostgreSQL and
    back. Nothing is overwritten. Without --data the copy has no fragments: what they hold is computed again.

    Try:

    - `provenn backup ../survey-copy`
    - `provenn backup ../survey-copy --data`
    - `provenn backup postgresql://host/surveys --archive survey-copy`
    """
    with opened(archive, as_json) as found:
        copied = found.backup(place, data=data, store=store, progress=_Lines())
    if as_json:
        write_json(
            {
                "catalogs": copied.catalogs,
                "rows": copied.rows,
                "fragments": copied.fragments,
                "size": copied.size,
                "left_out": {str(number): why for number, why in copied.left_out.items()},
            }
        )
        return
    write_text(f"copied {copied.catalogs} catalogs, {copied.rows} rows in all")
    if data:
        write_text(f"copied {copied.fragments} fragments, {size_text(copied.size)}")
        for number, why in copied.left_out.items():
            write_text(f"left out fragment #{number}: {why}")
    elif copied.left_out:
        write_text(f"left out {len(copied.left_out)} fragments: --data copies them too")


class _Lines:
    """Tell of the progress on the standard error, now and then."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, done: int, every: int) -> None:
        if time.monotonic() - self._last > _EVERY:
            self._last = time.monotonic()
            typer.echo(f"copied {done} of {every} rows", err=True)
