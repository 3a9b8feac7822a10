"""``provenn sql``: a query over catalogs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import (
    CURRENT_FOLDER,
    ArchivePath,
    RequestName,
    SparkUrl,
    catalog_data,
    open_archive_at,
    write_catalog,
)
from provenn.cli.notices import notices_data, write_notices
from provenn.cli.output import AsJson, Overwrite, write_json
from provenn.cli.output_files import OutputFormat
from provenn.cli.plans import plan_data, write_plan
from provenn.cli.row_tables import rows_data, write_file_summary, write_rows, written_file_data

if TYPE_CHECKING:
    from provenn.archive import Notice

__all__ = ["answer_sql"]


def answer_sql(
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            help="One SELECT, in quotes: catalogs are its tables; - for the standard input.",
            show_default=False,
        ),
    ],
    *,
    dialect: Annotated[
        str,
        typer.Option(metavar="NAME", help="The dialect: spark, duckdb, postgres, snowflake, bigquery, tsql or adql."),
    ] = "spark",
    plan: Annotated[bool, typer.Option("--plan", help="Only show the plan; compute nothing.")] = False,
    why: Annotated[bool, typer.Option("--why", help="With --plan: also show the proofs.")] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the rows to a file: .parquet, .csv, .fits, .vot or .ecsv.",
            show_default=False,
        ),
    ] = None,
    format_: OutputFormat = None,
    overwrite: Overwrite = False,
    name: RequestName = None,
    head: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=1, help="How many rows to show; by default 10.", show_default=False),
    ] = None,
    spark: SparkUrl = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Ask a query, or define the catalog that it means.

    Shows the first rows. With --name, defines a catalog and computes nothing, unless --output or --head requests it;
    ORDER BY and LIMIT at the end belong to the request, and are not part of the catalog.

    Try:

    - `provenn sql "SELECT hip, vmag FROM hipparcos WHERE vmag < 6" --name bright`
    - `provenn sql "SELECT con, count(*) AS n FROM hipparcos GROUP BY con ORDER BY n DESC LIMIT 5"`
    """
    if query == "-":
        query = typer.get_text_stream("stdin").read()
    notices: list[Notice] = []
    with open_archive_at(archive_path, spark=spark, notices=notices) as archive:
        from provenn.archive.query_answers import answer_query  # noqa: PLC0415 - loads sqlglot

        parts: dict[str, Any] = {}
        defined = None if name is None else archive.sql(query, name=name, dialect=dialect)
        answer = answer_query(archive, query, dialect=dialect) if plan or output is not None else None
        described = answer.catalog.plan() if answer is not None and plan else None
        written = None
        if answer is not None and output is not None:
            written = answer.catalog.write(output, format=format_, overwrite=overwrite)
        rows = None
        if head is not None or not (plan or name or output):
            rows = answer_query(archive, query, dialect=dialect, most=head or 10, keeps_order=True).collect()
        if as_json:
            if described is not None:
                parts["plan"] = plan_data(described)
            if defined is not None:
                parts["catalog"] = catalog_data(archive.describe(name or defined))
            if written is not None:
                parts["written"] = written_file_data(written)
            if rows is not None:
                parts |= rows_data(rows)
            parts["remarks"] = [notice.message for notice in notices if notice.kind == "not understood"]
            write_json(parts | notices_data(notices))
            return
        if described is not None:
            write_plan(described, why)
        if defined is not None:
            write_catalog(defined, name, False)
        if written is not None:
            write_file_summary(written)
        if rows is not None:
            write_rows(rows)
        write_notices(notices)
