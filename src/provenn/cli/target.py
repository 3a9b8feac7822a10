"""``provenn target``: request attributes of sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import (
    CURRENT_FOLDER,
    ArchivePath,
    EngineName,
    RequestName,
    SparkUrl,
    catalog_data,
    open_archive_at,
    write_catalog,
)
from provenn.cli.completion import complete_attribute_names, complete_catalog_names
from provenn.cli.notices import CheckFacts, notices_data, write_notices
from provenn.cli.output import AsJson, Overwrite, SvgFile, write_json, write_svg
from provenn.cli.output_files import OutputFormat
from provenn.cli.plans import plan_data, write_plan
from provenn.cli.row_tables import rows_data, write_file_summary, write_rows, written_file_data
from provenn.targets.engine_choice import choose_engine

if TYPE_CHECKING:
    import pyarrow as pa

    from provenn.archive import Catalog, Notice
    from provenn.spark.writing import WrittenFiles
    from provenn.words.described_plan import DescribedPlan

__all__ = ["answer_target"]


def answer_target(
    sources: Annotated[
        str,
        typer.Argument(
            metavar="SOURCES",
            help="The catalog whose sources are requested.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ],
    attributes: Annotated[
        list[str],
        typer.Argument(
            metavar="ATTRIBUTES",
            help="The attributes; the key is included. DR1.z is z of another catalog; DR1.z AS z1 renames it.",
            show_default=False,
            autocompletion=complete_attribute_names,
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
            help="For sources that are not proved to have an attribute: raise an error, leave the value NULL, or "
            "leave the source out.",
        ),
    ] = "error",
    keep: Annotated[
        str,
        typer.Option(
            metavar="always|worthwhile|never",
            help="Which results to store: all, those of Python calculators, or none. Only with --output.",
        ),
    ] = "worthwhile",
    plan: Annotated[bool, typer.Option("--plan", help="Only show the plan; compute nothing.")] = False,
    why: Annotated[bool, typer.Option("--why", help="With --plan: also show the proofs.")] = False,
    svg: SvgFile = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the whole answer to a file: .parquet, .csv, .fits, .vot or .ecsv.",
            show_default=False,
        ),
    ] = None,
    format_: OutputFormat = None,
    overwrite: Overwrite = False,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="With --output: let `provenn refresh` write the file anew when it has changed."),
    ] = False,
    name: RequestName = None,
    check: CheckFacts = False,
    head: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=0, help="How many sources to show; by default 10.", show_default=False),
    ] = None,
    engine: EngineName = "auto",
    spark: SparkUrl = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Request attributes of sources; provenn finds or defines them, and computes as little as possible.

    Shows the first sources and stores nothing; or writes the whole answer to a file and stores costly results. With
    --plan, --svg or --name, nothing is computed unless --output or --head requests it.

    Try:

    - `provenn target bright vmag photo_z --plan`
    - `provenn target bright vmag photo_z --where "plx > 10" -o out.parquet`
    - `provenn target bright vmag "tycho.vmag AS tycho_vmag" --missing null`
    """
    if follow and output is None:
        raise typer.BadParameter("--follow needs a file: add --output FILE")
    notices: list[Notice] = []
    with open_archive_at(archive_path, spark=spark, notices=notices) as archive:
        options: Any = {"where": where, "missing": missing, "keep": keep}
        target = archive.target(sources, attributes, **options)
        if svg is not None:
            write_svg(target.plan().svg(), svg, overwrite=overwrite)
        answer = _TargetAnswer(
            target.plan() if plan else None,
            None if name is None else target.catalog(name),
            None
            if output is None
            else target.write(output, format=format_, overwrite=overwrite, check=check, follow=follow and sources),
            target.collect_first_rows(10 if head is None else head, check=check, engine=choose_engine(engine))
            if head is not None or not (plan or svg or name or output)
            else None,
        )
        if as_json:
            write_json(
                answer.data(name) | ({} if answer.rows is None and answer.written is None else notices_data(notices))
            )
        else:
            answer.write(name, why)
            write_notices(notices)


@dataclass(frozen=True, slots=True)
class _TargetAnswer:
    """The parts of an answer: a plan, a definition, a file, some rows; None for a part that was not requested."""

    plan: DescribedPlan | None
    catalog: Catalog | None
    written: WrittenFiles | None
    rows: pa.Table | None

    def write(self, name: str | None, why: bool) -> None:
        """Write the answer as text; with `why`, the plan has its proofs."""
        if self.plan is not None:
            write_plan(self.plan, why)
        if self.catalog is not None:
            write_catalog(self.catalog, name, False)
        if self.written is not None:
            write_file_summary(self.written)
        if self.rows is not None:
            write_rows(self.rows)

    def data(self, name: str | None) -> dict[str, Any]:
        """Return the answer as JSON data."""
        parts: dict[str, Any] = {}
        if self.plan is not None:
            parts["plan"] = plan_data(self.plan)
        if self.catalog is not None:
            parts["catalog"] = catalog_data(self.catalog.archive.describe(name or self.catalog))
        if self.written is not None:
            parts["written"] = written_file_data(self.written)
        return parts | ({} if self.rows is None else rows_data(self.rows))
