"""``provenn relate``: how two catalogs relate."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import (
    CURRENT_FOLDER,
    ArchivePath,
    SparkUrl,
    caveat_lines,
    help_data,
    help_lines,
    open_archive_at,
    reason_lines,
    relation_data,
)
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson, Overwrite, SvgFile, write_json, write_svg, write_text

if TYPE_CHECKING:
    from provenn.archive.overlaps import Overlap

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
    look: Annotated[
        bool, typer.Option("--look", help="Count the sources in both and in one alone, if the relation is unknown.")
    ] = False,
    spark: SparkUrl = None,
    svg: SvgFile = None,
    overwrite: Overwrite = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show how two catalogs relate, without reading their data unless you ask for a look.

    The answer is the first of these that is proved: *equal*, *subset* (the first lies inside the second), *superset*,
    *disjoint*, *overlapping*; or *unknown* if none is proved. What a look shows is remembered
    as observed facts.

    Try:

    - `provenn relate bright both --why`
    """
    with open_archive_at(archive_path, spark=spark) as archive:
        relation = archive.relate(left, right, why=why)
        overlap = archive.overlap(left, right) if look and relation.summary == "unknown" else None
        if overlap is not None:
            relation = archive.relate(left, right, why=why)
        cubes = relation.hypercubes
        if as_json:
            write_json(
                {
                    **relation_data(relation),
                    **({} if overlap is None else {"overlap": asdict(overlap)}),
                    **help_data(relation.closest, relation.witnesses),
                    "labels": list(cubes.labels),
                    "hypercubes": [cube.tolist() for cube in cubes.arrays()],
                }
            )
        elif svg != Path("-"):
            lines = reason_lines(relation.lines) if why else []
            because = ", because" if lines else ", whatever they are" if why and relation.statement else ""
            rest = [f"  rests on {fact.words}" for fact in relation.rests_on] if not why else []
            helps = help_lines(relation.closest, relation.witnesses)
            caveats = caveat_lines(relation.caveats)
            seen = [] if overlap is None else _describe_overlap(relation.left, relation.right, overlap)
            write_text(
                "\n".join([f"{relation.summary}: {relation.words}{because}", *seen, *lines, *rest, *helps, *caveats])
            )
        if svg is not None:
            from provenn.display import relationship_svg  # noqa: PLC0415 - only where something is drawn

            write_svg(relationship_svg(cubes.labels, cubes.arrays()), svg, overwrite=overwrite)


def _describe_overlap(left: str, right: str, overlap: Overlap) -> list[str]:
    """Return the counts of a look, a line each."""
    return [
        f"  {overlap.both:,} in both",
        f"  {overlap.left_only:,} in {left} only",
        f"  {overlap.right_only:,} in {right} only",
    ]
