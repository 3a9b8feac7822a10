"""``provenn name``: give, move or delete a name of a catalog."""

from typing import Annotated

import typer

from provenn.cli.archives import (
    CURRENT_FOLDER,
    ArchivePath,
    ProjectOption,
    VisibilityOption,
    open_archive_at,
    write_catalog,
)
from provenn.cli.completion import complete_catalog_names
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
            autocompletion=complete_catalog_names,
        ),
    ] = None,
    *,
    move: Annotated[bool, typer.Option("--move", help="Move the name from another catalog.")] = False,
    delete: Annotated[bool, typer.Option("--delete", help="Delete the name; the catalog stays.")] = False,
    visibility: VisibilityOption = None,
    project: ProjectOption = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Name a catalog, move a name to another catalog, or delete a name. `provenn log` shows the history.

    People who see a name also see the catalog and the definitions in its lineage. The command warns if that reveals
    catalogs with private names.

    Try:

    - `provenn name dazzling bright`
    - `provenn name bright 3c6fb3ef --move`
    - `provenn name bright bright --visibility public`
    - `provenn name bright --delete`
    """
    if delete == (catalog is not None) or (delete and move):
        raise typer.BadParameter("give either a catalog or --delete")
    with open_archive_at(archive_path) as archive:
        if catalog is not None:
            wanted_visibility = visibility or ("project" if project else None)
            named_catalog = archive.name(catalog, name, move=move, visibility=wanted_visibility, project=project)
            write_catalog(named_catalog, name, as_json)
            revealed = archive.revealed(named_catalog) if wanted_visibility not in (None, "private") else ()
            if revealed:
                typer.echo(f"viewers of its lineage also see the definitions of {', '.join(revealed)}", err=True)
            return
        archive.delete_name(name)
        if as_json:
            write_json({"name": name, "catalog": None})
        else:
            write_text(f"deleted the name {name}; the catalog stays, without this name (`provenn log {name}`)")
