"""``provenn dbt``: import, check and compare projects of dbt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.output import AsJson, write_json, write_text

if TYPE_CHECKING:
    from provenn.dbt.importing import ImportedProject

__all__ = ["AsMarkdown", "Dialect", "check_project", "compare_projects", "import_project", "split_name"]

_MANIFEST = Path("target/manifest.json")

AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Write the answer in Markdown.")]
Dialect = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        metavar="NAME",
        help="The dialect of the compiled SQL, if the adapter does not tell.",
        show_default=False,
    ),
]
FullRefresh = Annotated[
    bool,
    typer.Option("--full-refresh", help="Take incremental models for their queries, as after a full refresh."),
]
ManifestPath = Annotated[
    Path,
    typer.Argument(metavar="[FILE]", help="The manifest, or the folder of the project."),
]


def import_project(
    manifest: ManifestPath = _MANIFEST,
    *,
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            metavar="NAME=PATH",
            help="The files of a source or seed. May be repeated.",
            show_default=False,
        ),
    ] = None,
    dialect: Dialect = None,
    full_refresh: FullRefresh = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Move names that belong to other catalogs to the new versions.")
    ] = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Make a catalog of each model of a project, and a fact of each test.

    A source or seed is the catalog of its name in the archive; otherwise its files, if they are given or the seed's CSV
    is there; otherwise a base catalog that is known by its columns alone: everything can be proved, nothing computed.

    Try:

    - `provenn dbt import`
    - `provenn dbt import target/manifest.json --data events=events.parquet`
    """
    with open_archive_at(archive_path) as archive:
        from provenn.dbt.importing import import_project as import_manifest  # noqa: PLC0415 - sqlglot is slow

        files = dict(split_name(text) for text in data or ())
        imported = import_manifest(
            archive, manifest, data=files, dialect=dialect, full_refresh=full_refresh, replace=replace
        )
        if as_json:
            write_json(_encode_import(imported))
        else:
            write_text(str(imported))


def split_name(text: str) -> tuple[str, str]:
    """Return the name and the value of an option such as ``events=events.parquet``."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise typer.BadParameter(f"expected NAME=VALUE, got {text}")
    return name, value


def _encode_import(imported: ImportedProject) -> dict[str, object]:
    """Return the result of an import as JSON data."""
    return {
        "new": imported.new,
        "facts": imported.facts,
        "models": [
            {"name": model.name, "kind": model.kind, "digest": model.digest, "remarks": list(model.remarks)}
            for model in imported.models
        ],
        "left_out": [{"name": name, "reason": reason} for name, reason in imported.left_out],
    }


def check_project(
    manifest: ManifestPath = _MANIFEST,
    *,
    why: Annotated[bool, typer.Option("--why", help="Show the proofs of tests that need not run.")] = False,
    dialect: Dialect = None,
    full_refresh: FullRefresh = False,
    markdown: AsMarkdown = False,
    as_json: AsJson = False,
) -> None:
    """Find models with the same rows, rows lost on the way, tests that need not run, and tests that contradict.

    Everything is proved from compiled SQL and tests: no data are read, nothing is executed, and no archive is needed.

    Exit status: 0 no contradiction, 1 tests contradict each other, 2 invalid input.

    Try:

    - `provenn dbt check`
    - `provenn dbt check target/manifest.json --why`
    - `provenn dbt check --markdown`
    """
    from provenn.dbt.check_reports import describe_findings, encode_findings  # noqa: PLC0415 - sqlglot is slow
    from provenn.dbt.projects import check_manifest  # noqa: PLC0415 - see above

    findings = check_manifest(manifest, dialect=dialect, full_refresh=full_refresh, why=why)
    if as_json:
        write_json(encode_findings(findings))
    else:
        write_text(describe_findings(findings, markdown=markdown))
    raise typer.Exit(1 if findings.contradictions else 0)


def compare_projects(
    old: Annotated[Path, typer.Argument(metavar="OLD_FILE", help="The old manifest, or the folder of its project.")],
    new: Annotated[Path, typer.Argument(metavar="NEW_FILE", help="The new manifest, or the folder of its project.")],
    *,
    dialect: Dialect = None,
    full_refresh: FullRefresh = False,
    markdown: AsMarkdown = False,
    as_json: AsJson = False,
) -> None:
    """Show what a change of a project does to the rows and columns of its models, with a row that differs.

    Both projects are taken to read the same sources and seeds, which pass the tests of the old project.

    Exit status: 0 all models are proved to be the same, 1 some are not, 2 invalid input.

    Try:

    - `provenn dbt diff main/target/manifest.json target/manifest.json`
    - `provenn dbt diff main . --markdown`
    """
    from provenn.dbt.change_reports import describe_changes, encode_changes  # noqa: PLC0415 - sqlglot is slow
    from provenn.dbt.differing import compare_manifests  # noqa: PLC0415 - see above

    changes = compare_manifests(old, new, dialect=dialect, full_refresh=full_refresh)
    if as_json:
        write_json(encode_changes(changes))
    else:
        write_text(describe_changes(changes, markdown=markdown))
    raise typer.Exit(1 if changes.affected else 0)
