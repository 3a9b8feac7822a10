"""``provenn archive import``: what another archive knows, from a portable file."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["import_archive"]


def import_archive(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of `provenn archive export`.")],
    *,
    prefix: Annotated[
        str, typer.Option(metavar="TEXT", help="Put this before every name in the file.", show_default=False)
    ] = "",
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Take over what a portable file holds: all of it or, if anything in it is wrong, nothing.

    Everything in it is checked and computed anew, and nothing in it is executed. What is there already stays as it is:
    importing a file twice is importing it once. Calculators of others run only if you allow them: `provenn allow`.

    Try:

    - `provenn archive import survey.provenn`
    - `provenn archive import survey.provenn --prefix ada/`
    """
    with opened(archive, as_json) as found:
        came = found.import_definitions(file, prefix=prefix)
    if as_json:
        write_json({"file": file, "new": came.new, "there": came.there, "kept": list(came.kept)})
        return
    new = [f"{count} {kind}{'s' * (count != 1)}" for kind, count in came.new.items() if count]
    write_text(f"{file}: " + (", ".join(new) + " taken over" if new else "nothing that was not there"))
    for attribute in came.kept:
        write_text(f"{attribute} means something else here, and still does")
