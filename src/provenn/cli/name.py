"""``provenn name``: put a name on a catalog, move it, delete it."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened, write_catalog
from provenn.cli.completion import catalog_names
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["set_name"]


def set_name(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name.", show_default=False)],
    catalog: Annotated[
        str | None,
        typer.Argument(
            metavar="CATALOG",
            help="A name that the catalog has, or the beginning of its digest.",
            show_default=False,
            autocompletion=catalog_names,
        ),
    ] = None,
    *,
    move: Annotated[bool, typer.Option("--move", help="The name may be on another catalog now.")] = False,
    delete: Annotated[bool, typer.Option("--delete", help="Delete the name; the catalog stays.")] = False,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Put a name on a catalog, move it to another one, or delete it. `provenn log` shows what happened to it.

    Try:

    - `provenn name dazzling bright`
    - `provenn name bright 3c6fb3ef --move`
    - `provenn name bright --delete`
    """
    if delete == (catalog is not None) or (delete and move):
        raise typer.BadParameter("give either a catalog or --delete")
    with opened(archive, as_json) as found:
        if catalog is not None:
            write_catalog(found.name(catalog, name, move=move), name, as_json)
            return
        found.delete_name(name)
        if as_json:
            write_json({"name": name, "catalog": None})
        else:
            write_text(f"deleted the name {name}")
