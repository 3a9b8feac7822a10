"""``provenn compare``: what is known about two or three catalogs together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from provenn.cli.archives import (
    CURRENT_FOLDER,
    ArchivePath,
    caveat_lines,
    fact_data,
    open_archive_at,
    reason_lines,
    relation_data,
)
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson, Overwrite, SvgFile, write_json, write_svg, write_text

__all__ = ["compare"]


def compare(
    catalogs: Annotated[
        list[str],
        typer.Argument(
            metavar="CATALOG CATALOG [CATALOG]",
            help="Two or three catalogs, by name or the beginning of their digest.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ],
    *,
    why: Annotated[bool, typer.Option("--why", help="Show the proofs.")] = False,
    svg: SvgFile = None,
    overwrite: Overwrite = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Compare two or three catalogs: how each pair relates, and what is known about each region.

    A region is what some of the catalogs share and the others lack. It *must be empty*, *must hold something*, or is
    *unknown*. Counts
    and bounds of its sources are shown as far as they are known, and the declared facts on which the answer rests.

    Try:

    - `provenn compare bright near both --svg venn.svg`
    """
    with open_archive_at(archive_path) as archive:
        comparison = archive.compare(*catalogs)
        if as_json:
            write_json(
                {
                    "names": list(comparison.names),
                    "digests": list(comparison.digests),
                    "regions": [
                        {
                            "inside": list(region.inside),
                            "words": region.words,
                            "state": region.state.value,
                            "low": None if region.sources is None else region.sources.low,
                            "high": None if region.sources is None else region.sources.high,
                        }
                        for region in comparison.regions
                    ],
                    "rests_on": [fact_data(fact) for fact in comparison.rests_on],
                    "relations": [relation_data(relation) for relation in comparison.relations],
                    "hypercubes": [cube.tolist() for cube in comparison.hypercubes.arrays()],
                }
            )
        elif svg != Path("-"):
            for relation in comparison.relations:
                lines = reason_lines(relation.lines) if why else []
                support = [] if why else [f"  rests on {fact.words}" for fact in relation.rests_on]
                write_text("\n".join([relation.words + (", because" if lines else ""), *lines, *support]))
            regions = [f"  {region}" for region in comparison.regions]
            shown = set() if why else {fact.id for relation in comparison.relations for fact in relation.rests_on}
            facts = [f"  rests on {fact.words}" for fact in comparison.rests_on if fact.id not in shown]
            write_text("\n".join([*regions, *facts, *caveat_lines(comparison.caveats)]))
        if svg is not None:
            write_svg(comparison.venn_svg(), svg, overwrite=overwrite)
