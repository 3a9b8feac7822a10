"""``provenn lineage``: the dependencies of a catalog, and the catalogs made from it, as a tree or a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, open_archive_at
from provenn.cli.output import AsJson, Overwrite, SvgFile, write_json, write_svg, write_text

if TYPE_CHECKING:
    from provenn.archive import Archive, Neighbourhood

__all__ = ["show_lineage"]

_DEPTH = 2
_MOST = 60


def show_lineage(
    catalog: CatalogName,
    *,
    depth: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            min=0,
            help=f"How many steps to follow: all of them up, {_DEPTH} otherwise.",
            show_default=False,
        ),
    ] = None,
    direction: Annotated[
        Literal["up", "down", "both"] | None,
        typer.Option(
            metavar="up|down|both",
            help="up: the catalogs it is made from; down: the catalogs made from it; or both. By default up in "
            "text, both in a picture.",
            show_default=False,
        ),
    ] = None,
    most: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, max=1000, help="How many catalogs to show around it.")
    ] = _MOST,
    svg: SvgFile = None,
    overwrite: Overwrite = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show the catalogs and files that a catalog is made from, or those made from it: as a tree or a picture.

    Try:

    - `provenn lineage both`
    - `provenn lineage hipparcos --direction down`
    - `provenn lineage both --svg both.svg`
    """
    with open_archive_at(archive_path) as archive:
        if svg is not None:
            neighbourhood = _find_neighbourhood(archive, catalog, depth, direction or "both", most)
            write_svg(neighbourhood.svg(), svg, overwrite=overwrite)
            if as_json:
                write_json(_node_data(neighbourhood))
        elif direction in (None, "up"):
            _write_lineage(archive, catalog, depth, as_json)
        else:
            neighbourhood = _find_neighbourhood(archive, catalog, depth, direction, most)
            if as_json:
                write_json(_node_data(neighbourhood))
            else:
                above = [neighbourhood.tree(up=True), "", "and made from it"] if direction == "both" else []
                write_text("\n".join([*above, neighbourhood.tree(up=False)]))


def _find_neighbourhood(
    archive: Archive, catalog: str, depth: int | None, direction: Literal["up", "down", "both"], most: int
) -> Neighbourhood:
    """Return the catalogs around a catalog, up to a depth."""
    return archive.neighbourhood(catalog, depth=_DEPTH if depth is None else depth, direction=direction, most=most)


def _write_lineage(archive: Archive, catalog: str, depth: int | None, as_json: bool) -> None:
    """Write the whole lineage of a catalog."""
    lineage = archive.lineage(catalog)
    if not as_json:
        write_text(lineage.tree(depth))
        return
    write_json(
        [
            {
                "digest": step.digest,
                "name": step.name,
                "kind": step.kind,
                "is": step.is_what,
                "made_from": list(step.made_from),
            }
            for step in lineage.steps
        ]
    )


def _node_data(neighbourhood: Neighbourhood) -> list[dict[str, Any]]:
    """Return the catalogs of a neighbourhood as JSON data."""
    return [
        {
            "digest": node.id,
            "name": node.name,
            "kind": node.kind,
            "is": node.what,
            "made_from": [dependency for dependency, dependent in neighbourhood.picture.edges if dependent == node.id],
            "stored": node.stored,
            "more_above": node.above,
            "more_below": node.below,
        }
        for node in neighbourhood.picture.nodes
    ]
