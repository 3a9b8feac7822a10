"""``provenn archive export``: what an archive knows, as a portable file."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.completion import catalog_names
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
            help="Only this catalog and its lineage; can be given several times.",
            show_default=False,
            autocompletion=catalog_names,
        ),
    ] = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Write definitions, names, facts, calculators and preferences to a portable file.

    There are no data in it, and no code: of calculators written in Python, where they are imported from and a hash.
    Catalogs have the same digests wherever it is imported.

    Try:

    - `provenn archive export survey.provenn`
    - `provenn archive export bright.provenn --names bright`
    """
    with opened(archive, as_json) as found:
        counts = found.export_definitions(file, names or None)
    if as_json:
        write_json({"file": file, **counts})
    else:
        write_text(
            f"wrote {file}: " + ", ".join(f"{count} {kind}{'s' * (count != 1)}" for kind, count in counts.items())
        )
