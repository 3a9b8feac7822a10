"""``provenn name``: put a name on a catalog, move it, delete it."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, InProject, WhoSees, opened, write_catalog
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
    visibility: WhoSees = None,
    project: InProject = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Put a name on a catalog, move it to another one, or delete it. `provenn log` shows what happened to it.

    Who sees a name sees the catalog, and how all that it is made from is defined. If that shows catalogs of which you
    have private names, that is told.

    Try:

    - `provenn name dazzling bright`
    - `provenn name bright 3c6fb3ef --move`
    - `provenn name bright bright --visibility public`
    - `provenn name bright --delete`
    """
    if delete == (catalog is not None) or (delete and move):
        raise typer.BadParameter("give either a catalog or --delete")
    with opened(archive, as_json) as found:
        if catalog is not None:
            shown = visibility or ("project" if project else None)
            one = found.name(catalog, name, move=move, visibility=shown, project=project)
            write_catalog(one, name, as_json)
            revealed = found.revealed(one) if shown not in (None, "private") else ()
            if revealed:
                typer.echo(f"how these are defined is seen as its lineage: {', '.join(revealed)}", err=True)
            return
        found.delete_name(name)
        if as_json:
            write_json({"name": name, "catalog": None})
        else:
            write_text(f"deleted the name {name}")
