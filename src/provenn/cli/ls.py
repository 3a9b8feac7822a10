"""``provenn ls``: the catalogs of an archive."""

from typing import Annotated, Any, Literal

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.output import AsJson, write_json, write_table, write_text

__all__ = ["list_catalogs"]


def list_catalogs(
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT",
            help="Only catalogs with this in a name or in the definition, or whose digest begins so.",
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
        typer.Option(metavar="NAME", help="Only catalogs with an attribute whose name begins so.", show_default=False),
    ] = None,
    owner: Annotated[
        str | None, typer.Option(metavar="WHO", help="Only catalogs that this person defined.", show_default=False)
    ] = None,
    sort: Annotated[
        Literal["newest", "oldest", "name"], typer.Option(metavar="ORDER", help="newest, oldest or name.")
    ] = "newest",
    everything: Annotated[bool, typer.Option("--all", help="Also catalogs without a name.")] = False,
    most: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="How many to show.")] = 100,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """List catalogs, by default the newest first.

    Try:

    - `provenn ls`
    - `provenn ls vmag --all`
    - `provenn ls --attribute dist_pc --sort name`
    """
    with opened(archive, as_json) as found:
        which: dict[str, Any] = {"kind": kind, "population": population, "attribute": attribute, "owner": owner}
        listed = found.search(text, **which, named=not everything, sort=sort, most=most + 1)
        rows = listed[:most]
        if as_json:
            write_json(
                [
                    {
                        "names": list(one.names),
                        "digest": one.digest,
                        "kind": one.kind,
                        "population": one.population,
                        "attributes": one.attributes,
                        "created_at": one.created_at.isoformat(),
                        "created_by": one.created_by,
                    }
                    for one in rows
                ]
            )
            return
        if not rows:
            write_text("no catalogs" if everything else "no catalogs with a name")
            return
        write_table(
            ("name", "class", "population", "attributes", "since", "by"),
            [
                (
                    ", ".join(one.names) or one.digest[:12],
                    one.kind,
                    one.population,
                    str(one.attributes),
                    f"{one.created_at:%Y-%m-%d %H:%M}",
                    one.created_by,
                )
                for one in rows
            ],
        )
        if len(listed) > most:
            write_text(f"… and more: --most {10 * most} shows more, a word to look for shows fewer")
