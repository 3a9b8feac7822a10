"""``provenn lineage``: what a catalog is made from."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, opened
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["show_lineage"]


def show_lineage(
    catalog: CatalogName,
    *,
    depth: Annotated[
        int | None, typer.Option(metavar="NUMBER", min=0, help="How far down to go.", show_default=False)
    ] = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show what a catalog is made from, down to the files, as a tree.

    Try:

    - `provenn lineage both`
    """
    with opened(archive, as_json) as found:
        lineage = found.lineage(catalog)
        if as_json:
            write_json(
                [
                    {
                        "digest": one.digest,
                        "name": one.name,
                        "kind": one.kind,
                        "is": one.is_what,
                        "made_from": list(one.made_from),
                    }
                    for one in lineage.steps
                ]
            )
        else:
            write_text(lineage.tree(depth))
