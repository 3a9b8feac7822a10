"""``provenn target``: ask for attributes of sources."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, NewName, SparkUrl, catalog_data, opened, write_catalog
from provenn.cli.completion import attribute_names, catalog_names
from provenn.cli.notices import CheckFacts, notices_data, write_notices
from provenn.cli.output import AsJson, SvgFile, write_json, write_svg
from provenn.cli.plans import plan_data, write_plan
from provenn.cli.rows import rows_data, write_rows, write_written, written_data

if TYPE_CHECKING:
    import pandas as pd

    from provenn.archive import Catalog, Notice
    from provenn.spark.writing import Written
    from provenn.targets.plan import Plan

__all__ = ["answer"]


def answer(
    sources: Annotated[
        str,
        typer.Argument(
            metavar="SOURCES",
            help="The catalog whose sources are meant.",
            show_default=False,
            autocompletion=catalog_names,
        ),
    ],
    attributes: Annotated[
        list[str],
        typer.Argument(
            metavar="ATTRIBUTES",
            help="The attributes; the key comes with them. DR1.z is that of another catalog; DR1.z AS z1 names it.",
            show_default=False,
            autocompletion=attribute_names,
        ),
    ],
    *,
    where: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="A criterion on the sources, on any attributes.", show_default=False),
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            metavar="error|null|drop",
            help="What becomes of sources that are not proved to have an attribute: an error; no value; left out.",
        ),
    ] = "error",
    keep: Annotated[
        str,
        typer.Option(
            metavar="always|worthwhile|never",
            help="Which results are kept: all; those of calculators in Python; none. Only with --output.",
        ),
    ] = "worthwhile",
    plan: Annotated[
        bool, typer.Option("--plan", help="Only tell how it would be computed. Nothing is computed for it.")
    ] = False,
    why: Annotated[bool, typer.Option("--why", help="With --plan: also the proofs.")] = False,
    svg: SvgFile = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write all of it to a file: .parquet, .csv, .fits, .vot or .ecsv.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that is there.")] = False,
    name: NewName = None,
    check: CheckFacts = False,
    head: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=0, help="How many sources to show; by default 10.", show_default=False),
    ] = None,
    spark: SparkUrl = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Ask for attributes of sources: who has them is found, what nobody has is created, as little as possible computed.

    Shows the first sources, and keeps nothing; or writes all to a file, and keeps what was costly. With --plan, --svg
    or --name, nothing is computed unless --output or --head asks for it.

    Try:

    - `provenn target bright vmag photo_z --plan`
    - `provenn target bright vmag photo_z --where "plx > 10" -o out.parquet`
    - `provenn target bright vmag "tycho.vmag AS tycho_vmag" --missing null`
    """
    notices: list[Notice] = []
    with opened(archive, as_json, spark=spark, notices=notices) as found:
        asked: Any = {"where": where, "missing": missing, "keep": keep}
        target = found.target(sources, attributes, **asked)
        if svg is not None:
            write_svg(target.plan().svg(), svg)
        told = _Answer(
            target.plan() if plan else None,
            None if name is None else target.catalog(name),
            None if output is None else target.write(output, overwrite=overwrite, check=check),
            target.head(10 if head is None else head, check=check)
            if head is not None or not (plan or svg or name or output)
            else None,
        )
        if as_json:
            write_json(told.data(name) | ({} if told.rows is None and told.written is None else notices_data(notices)))
        else:
            told.write(name, why)
            write_notices(notices)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What was asked for: a plan, a definition, a file, some rows."""

    plan: Plan | None
    catalog: Catalog | None
    written: Written | None
    rows: pd.DataFrame | None

    def write(self, name: str | None, why: bool) -> None:
        """Tell people."""
        if self.plan is not None:
            write_plan(self.plan, why)
        if self.catalog is not None:
            write_catalog(self.catalog, name, False)
        if self.written is not None:
            write_written(self.written)
        if self.rows is not None:
            write_rows(self.rows)

    def data(self, name: str | None) -> dict[str, Any]:
        """Return it for programs."""
        told: dict[str, Any] = {}
        if self.plan is not None:
            told["plan"] = plan_data(self.plan)
        if self.catalog is not None:
            told["catalog"] = catalog_data(self.catalog.archive.describe(name or self.catalog))
        if self.written is not None:
            told["written"] = written_data(self.written)
        return told | ({} if self.rows is None else rows_data(self.rows))
