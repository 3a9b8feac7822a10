"""``provenn ls``: the catalogs of an archive."""

from typing import Annotated, Any, Literal

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.output import AsJson, write_json, write_nothing, write_table, write_text

__all__ = ["list_catalogs"]


def list_catalogs(
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT",
            help="Only catalogs with this text in a name or definition, or at the beginning of the digest.",
            show_default=False,
        ),
    ] = "",
    *,
    kind: Annotated[
        str | None, typer.Option(metavar="CLASS", help="Only catalogs of this class.", show_default=False)
    ] = None,
    population: Annotated[
        str | None,
        typer.Option("--population", "-p", metavar="WORD", help="Only this population.", show_default=False),
    ] = None,
    attribute: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Only catalogs with an attribute whose name begins with this.", show_default=False
        ),
    ] = None,
    owner: Annotated[
        str | None, typer.Option(metavar="WHO", help="Only catalogs that this person defined.", show_default=False)
    ] = None,
    sort: Annotated[
        Literal["newest", "oldest", "name"], typer.Option(metavar="ORDER", help="newest, oldest or name.")
    ] = "newest",
    everything: Annotated[bool, typer.Option("--all", help="Also catalogs without a name.")] = False,
    most: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="How many to show.")] = 100,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """List catalogs, by default newest first.

    Try:

    - `provenn ls`
    - `provenn ls vmag --all`
    - `provenn ls --attribute dist_pc --sort name`
    """
    with open_archive_at(archive_path) as archive:
        filters: dict[str, Any] = {"kind": kind, "population": population, "attribute": attribute, "owner": owner}
        matches = archive.search(text, **filters, named=not everything, sort=sort, most=most + 1)
        rows = matches[:most]
        if as_json:
            write_json(
                [
                    {
                        "names": list(catalog.names),
                        "digest": catalog.digest,
                        "kind": catalog.kind,
                        "population": catalog.population,
                        "attributes": catalog.attributes,
                        "created_at": catalog.created_at.isoformat(),
                        "created_by": catalog.created_by,
                    }
                    for catalog in rows
                ]
            )
            return
        if not rows:
            is_filtered = bool(text) or any(value is not None for value in filters.values())
            write_nothing("no catalogs" if everything else "no named catalogs", _advise(is_filtered, everything))
            return
        write_table(
            ("name", "class", "population", "attributes", "since", "by"),
            [
                (
                    ", ".join(catalog.names) or catalog.digest[:12],
                    catalog.kind,
                    catalog.population,
                    str(catalog.attributes),
                    f"{catalog.created_at:%Y-%m-%d %H:%M}",
                    catalog.created_by,
                )
                for catalog in rows
            ],
        )
        if len(matches) > most:
            write_text(f"… and more: --most {10 * most} shows more; a search word shows fewer")


def _advise(is_filtered: bool, everything: bool) -> str:
    """Return what to do if no catalog is listed."""
    if not is_filtered:
        return "provenn ingest stars stars.parquet --key hip --population star"
    return "provenn ls lists all names" + ("" if everything else "; --all also finds catalogs without a name")
