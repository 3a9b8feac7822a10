"""``provenn lineage``: what a catalog is made from, and what is made from it; as a tree, or as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, opened
from provenn.cli.output import AsJson, SvgFile, write_json, write_svg, write_text

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
            help=f"How many steps to go: as far as it goes up, {_DEPTH} otherwise.",
            show_default=False,
        ),
    ] = None,
    direction: Annotated[
        Literal["up", "down", "both"] | None,
        typer.Option(
            metavar="up|down|both",
            help="To what it is made from, to what is made from it, or both: up in text, both in a picture.",
            show_default=False,
        ),
    ] = None,
    most: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, max=1000, help="How many catalogs to show of those around it.")
    ] = _MOST,
    svg: SvgFile = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show what a catalog is made from, down to the files, or what is made from it: as a tree, or as a picture.

    Try:

    - `provenn lineage both`
    - `provenn lineage hipparcos --direction down`
    - `provenn lineage both --svg both.svg`
    """
    with opened(archive, as_json) as found:
        if svg is not None:
            around = _around(found, catalog, depth, direction or "both", most)
            write_svg(around.svg(), svg)
            if as_json:
                write_json(_nodes(around))
        elif direction in (None, "up"):
            _whole(found, catalog, depth, as_json)
        else:
            around = _around(found, catalog, depth, direction, most)
            if as_json:
                write_json(_nodes(around))
            else:
                above = [around.tree(up=True), "", "and made from it"] if direction == "both" else []
                write_text("\n".join([*above, around.tree(up=False)]))


def _around(
    archive: Archive, catalog: str, depth: int | None, direction: Literal["up", "down", "both"], most: int
) -> Neighbourhood:
    return archive.neighbourhood(catalog, depth=_DEPTH if depth is None else depth, direction=direction, most=most)


def _whole(archive: Archive, catalog: str, depth: int | None, as_json: bool) -> None:
    lineage = archive.lineage(catalog)
    if not as_json:
        write_text(lineage.tree(depth))
        return
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


def _nodes(around: Neighbourhood) -> list[dict[str, Any]]:
    return [
        {
            "digest": one.id,
            "name": one.name,
            "kind": one.kind,
            "is": one.what,
            "made_from": [part for part, made in around.picture.edges if made == one.id],
            "stored": one.stored,
            "more_above": one.above,
            "more_below": one.below,
        }
        for one in around.picture.nodes
    ]
