"""``provenn relate``: how two catalogs relate."""

from pathlib import Path
from typing import Annotated

import typer

from provenn.cli.archives import (
    CURRENT_FOLDER,
    ArchivePath,
    caveat_lines,
    help_data,
    help_lines,
    open_archive_at,
    reason_lines,
    relation_data,
)
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson, SvgFile, write_json, write_svg, write_text

__all__ = ["relate"]


def relate(
    left: Annotated[
        str,
        typer.Argument(
            metavar="LEFT",
            help="A catalog, by name or the beginning of its digest.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ],
    right: Annotated[
        str,
        typer.Argument(
            metavar="RIGHT", help="Another catalog.", show_default=False, autocompletion=complete_catalog_names
        ),
    ],
    *,
    why: Annotated[
        bool, typer.Option("--why", help="Show the proof, and possible rows that only one of them would hold.")
    ] = False,
    svg: SvgFile = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show how two catalogs relate, without reading their data.

    The answer is the first of these that is proved: *equal*, *subset* (the first lies inside the second), *superset*,
    *disjoint*, *overlapping*; or *unknown* if none is proved.

    Try:

    - `provenn relate bright both --why`
    """
    with open_archive_at(archive_path, as_json) as archive:
        relation = archive.relate(left, right, why=why)
        cubes = relation.hypercubes
        if as_json:
            write_json(
                {
                    **relation_data(relation),
                    **help_data(relation.closest, relation.witnesses),
                    "labels": list(cubes.labels),
                    "hypercubes": [cube.tolist() for cube in cubes.arrays()],
                }
            )
        elif svg != Path("-"):
            lines = reason_lines(relation.reasons) if why else []
            because = ", because" if lines else ", whatever they are" if why and relation.statement else ""
            rest = [f"  rests on {fact.words}" for fact in relation.rests_on] if not why else []
            helps = help_lines(relation.closest, relation.witnesses)
            caveats = caveat_lines(relation.caveats)
            write_text("\n".join([f"{relation.summary}: {relation.words}{because}", *lines, *rest, *helps, *caveats]))
        if svg is not None:
            from provenn.display import relationship_svg  # noqa: PLC0415 - only where something is drawn

            write_svg(relationship_svg(cubes.labels, cubes.arrays()), svg)
