"""``provenn archive import``: import a portable file of another archive."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["import_archive"]


def import_archive(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of `provenn archive export`.")],
    *,
    prefix: Annotated[
        str, typer.Option(metavar="TEXT", help="Put this before every name in the file.", show_default=False)
    ] = "",
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Import a portable file: everything in it or, if anything is wrong, nothing.

    Every digest is checked, and nothing in the file is executed. Existing catalogs, names and facts are unchanged, so
    importing a file twice has no further effect. Calculators of others run only if you allow them: `provenn allow`.

    Try:

    - `provenn archive import survey.provenn`
    - `provenn archive import survey.provenn --prefix ada/`
    """
    with open_archive_at(archive_path) as archive:
        result = archive.import_definitions(file, prefix=prefix)
    if as_json:
        write_json(
            {
                "file": file,
                "new": result.new,
                "there": result.there,
                "kept": list(result.kept),
                "unchanged": list(result.unchanged),
            }
        )
        return
    new = [f"{count} {kind}{'s' * (count != 1)}" for kind, count in result.new.items() if count]
    write_text(f"{file}: " + (", ".join(new) + " imported" if new else "nothing new"))
    for attribute in result.kept:
        write_text(f"{attribute} already has another meaning here, which it keeps")
    for sentence in result.unchanged:
        write_text(sentence)
