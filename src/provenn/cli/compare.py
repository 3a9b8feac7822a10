"""``provenn compare``: what is known of two or three catalogs together."""

from pathlib import Path
from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, caveat_lines, fact_data, opened, reason_data, reason_lines
from provenn.cli.completion import catalog_names
from provenn.cli.output import AsJson, SvgFile, write_json, write_svg, write_text

__all__ = ["compare"]


def compare(
    catalogs: Annotated[
        list[str],
        typer.Argument(
            metavar="CATALOG CATALOG [CATALOG]",
            help="Two or three catalogs, by name or the beginning of their digest.",
            show_default=False,
            autocompletion=catalog_names,
        ),
    ],
    *,
    why: Annotated[bool, typer.Option("--why", help="Show the proofs.")] = False,
    svg: SvgFile = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Say what is known of two or three catalogs together: how each pair relates, and what each region holds.

    A region is what some of the catalogs share and the others have not. It *must be empty*, *must hold something*, or
    is *unknown*.

    Try:

    - `provenn compare bright near both --svg venn.svg`
    """
    with opened(archive, as_json) as found:
        compared = found.compare(*catalogs)
        if as_json:
            write_json(
                {
                    "names": list(compared.names),
                    "digests": list(compared.digests),
                    "regions": [
                        {"inside": list(one.inside), "words": one.words, "state": one.state.value}
                        for one in compared.regions
                    ],
                    "relations": [
                        {
                            "left": one.left,
                            "right": one.right,
                            "summary": one.summary,
                            "statement": one.statement and str(one.statement),
                            "reasons": reason_data(one.reasons),
                            "caveats": list(one.caveats),
                            "rests_on": [fact_data(fact) for fact in one.rests_on],
                        }
                        for one in compared.relations
                    ],
                    "hypercubes": [cube.tolist() for cube in compared.hypercubes.arrays()],
                }
            )
        elif svg != Path("-"):
            for one in compared.relations:
                lines = reason_lines(one.reasons) if why else []
                rest = [] if why else [f"  rests on {fact.words}" for fact in one.rests_on]
                write_text("\n".join([one.words + (", because" if lines else ""), *lines, *rest]))
            write_text("\n".join([*(f"  {one}" for one in compared.regions), *caveat_lines(compared.caveats)]))
        if svg is not None:
            write_svg(compared.venn_svg(), svg)
