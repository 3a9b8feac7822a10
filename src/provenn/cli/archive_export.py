"""``provenn archive export``: export the knowledge of an archive as a portable file."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["export_archive"]


def export_archive(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A new file.")],
    *,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--names",
            metavar="CATALOG",
            help="Only this catalog and its lineage. May be repeated.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ] = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Write definitions, names, facts, calculators and preferences to a portable file.

    The file contains no data. For a Python calculator it holds the import path and a hash; for a function from a
    notebook or a script, its source, which runs only where it is allowed. Catalogs keep their digests when the file is
    imported.

    Try:

    - `provenn archive export survey.provenn`
    - `provenn archive export bright.provenn --names bright`
    """
    with open_archive_at(archive_path) as archive:
        counts = archive.export_definitions(file, names or None)
    if as_json:
        write_json({"file": file, **counts})
    else:
        write_text(
            f"wrote {file}: " + ", ".join(f"{count} {kind}{'s' * (count != 1)}" for kind, count in counts.items())
        )
