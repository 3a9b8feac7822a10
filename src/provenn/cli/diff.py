"""``provenn diff``: what came and went between two versions of a catalog, a folder of queries, or an archive."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, holds_archive, is_address, open_archive_at
from provenn.cli.completion import complete_catalog_names
from provenn.cli.dbt_project import AsMarkdown, split_name
from provenn.cli.output import AsJson, write_json, write_text

if TYPE_CHECKING:
    from provenn.dbt.differing import ProjectChanges

__all__ = ["show_difference"]


def show_difference(
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD",
            help="A catalog, such as stars@1; or a folder of SQL files; or another archive.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ],
    new: Annotated[
        str | None,
        typer.Argument(
            metavar="[NEW]",
            help="A catalog, such as stars@2; or a folder of SQL files.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ] = None,
    *,
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            metavar="TABLE=COLUMN,…",
            help="The key of a table that the SQL files create. May be repeated.",
            show_default=False,
        ),
    ] = None,
    dialect: Annotated[str, typer.Option("--dialect", metavar="NAME", help="The dialect of the SQL files.")] = "spark",
    archive_path: ArchivePath = CURRENT_FOLDER,
    markdown: AsMarkdown = False,
    as_json: AsJson = False,
) -> None:
    """Show what came and went between two catalogs, two folders of SQL files, or two archives.

    For catalogs: their proved relation, and the files and columns that came and went.

    For folders: what became of the rows and columns of each query, with a row that differs. A file is a SELECT, or
    statements that create tables; tables that no file creates are catalogs of the archive.

    For archives: what became of each name, from the archive of --archive to the one named.

    Exit status for folders and archives: 0 all tables are proved to be the same, 1 some are not, 2 invalid input.

    Try:

    - `provenn diff stars@1 stars@2`
    - `provenn diff queries_old queries --key orders=id`
    - `provenn diff --archive survey survey-copy`
    """
    if new is not None and _holds_queries(old) and _holds_queries(new):
        _compare_folders(old, new, key or (), dialect, archive_path, markdown=markdown, as_json=as_json)
    elif new is None and not (is_address(old) or Path(old).exists()):
        raise typer.BadParameter(f"{old} is no archive; two catalogs are compared by provenn diff {old} OTHER")
    elif new is None:
        _compare_archives(archive_path, old, markdown=markdown, as_json=as_json)
    else:
        _compare_catalogs(archive_path, old, new, as_json=as_json)


def _holds_queries(path: str) -> bool:
    """Return whether a path is a folder with SQL files."""
    return Path(path).is_dir() and next(Path(path).rglob("*.sql"), None) is not None


def _compare_catalogs(archive_path: str, old: str, new: str, *, as_json: bool) -> None:
    """Show what came and went between two catalogs."""
    with open_archive_at(archive_path) as archive:
        difference = archive.diff(old, new)
        if as_json:
            summary = difference.relation.summary
            write_json({"relation": summary, "files": difference.files, "columns": list(difference.columns)})
        else:
            typer.echo(str(difference))


def _compare_folders(
    old: str, new: str, keys: list[str] | tuple[()], dialect: str, archive_path: str, *, markdown: bool, as_json: bool
) -> None:
    """Show what became of the queries in a folder; an archive is opened only if there is one."""
    from provenn.dbt.other_versions import compare_folders  # noqa: PLC0415 - sqlglot takes long to import

    columns = {name: value.split(",") for name, value in map(split_name, keys)}
    if holds_archive(archive_path):
        with open_archive_at(archive_path) as archive:
            changes = compare_folders(Path(old), Path(new), archive=archive, keys=columns, dialect=dialect)
    else:
        changes = compare_folders(Path(old), Path(new), keys=columns, dialect=dialect)
    _write_changes(changes, markdown=markdown, as_json=as_json)


def _compare_archives(old: str, new: str, *, markdown: bool, as_json: bool) -> None:
    """Show what became of the names of an archive."""
    from provenn.dbt.other_versions import compare_archives  # noqa: PLC0415 - sqlglot takes long to import

    with open_archive_at(old) as first, open_archive_at(new) as second:
        changes = compare_archives(first, second)
    _write_changes(changes, markdown=markdown, as_json=as_json)


def _write_changes(changes: "ProjectChanges", *, markdown: bool, as_json: bool) -> None:
    """Write changes, and end with the status that says whether there are any."""
    from provenn.dbt.change_reports import describe_changes, encode_changes  # noqa: PLC0415 - see above

    if as_json:
        write_json(encode_changes(changes))
    else:
        write_text(describe_changes(changes, markdown=markdown))
    raise typer.Exit(1 if changes.affected else 0)
