"""What the commands on archives share: how the archive is found, and how a catalog is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from provenn.cli.completion import catalog_names
from provenn.cli.output import errors_as_json, write_json, write_text

if TYPE_CHECKING:
    from provenn.archive import Archive, Catalog, Description, Notice, Reason
    from provenn.spark.progress import Progress
    from provenn.store.facts import Fact

__all__ = [
    "CURRENT_FOLDER",
    "ArchivePath",
    "CatalogName",
    "InProject",
    "NewName",
    "SparkUrl",
    "WhoSees",
    "catalog_data",
    "fact_data",
    "holds_archive",
    "is_address",
    "opened",
    "pairs",
    "reason_data",
    "reason_lines",
    "write_catalog",
]

CURRENT_FOLDER = "."
_FILE = "provenn.sqlite"  # as in provenn.archive, which is slow to import
_DATABASE = ("postgresql:", "postgresql+psycopg:", "postgres:")

ArchivePath = Annotated[
    str,
    typer.Option(
        "--archive",
        "-a",
        metavar="PATH",
        envvar="PROVENN_ARCHIVE",
        help="The folder of the archive, or the address of its database.",
    ),
]
WhoSees = Annotated[
    Literal["private", "project", "public"] | None,
    typer.Option("--visibility", metavar="WHO", help="Who sees it: private, project or public.", show_default=False),
]
InProject = Annotated[
    str | None,
    typer.Option("--project", metavar="PROJECT", help="The project whose members see it.", show_default=False),
]
CatalogName = Annotated[
    str,
    typer.Argument(
        metavar="CATALOG",
        help="Its name, or the beginning of its digest.",
        show_default=False,
        autocompletion=catalog_names,
    ),
]
NewName = Annotated[
    str | None, typer.Option("--name", "-n", metavar="NAME", help="A name for the new catalog.", show_default=False)
]

SparkUrl = Annotated[
    str | None,
    typer.Option(
        "--spark",
        metavar="URL",
        envvar="PROVENN_SPARK",
        help="Where data are computed: a master, or Spark Connect (sc://…). By default in this process.",
        show_default=False,
    ),
]


def holds_archive(folder: str) -> bool:
    """Whether a folder is an archive; without opening it."""
    return (Path(folder) / _FILE).is_file()


def is_address(path: str) -> bool:
    """Whether it is the address of a database that an archive is in, and not a folder."""
    return "://" in path or path.startswith(_DATABASE)


@contextmanager
def opened(
    path: str,
    as_json: bool = False,
    *,
    create: bool = False,
    spark: object | None = None,
    store: str | None = None,
    notices: list[Notice] | None = None,
) -> Iterator[Archive]:
    """Open the archive that a command is about; errors are told as the command tells its answer.

    Parameters
    ----------
    path
        The folder, or the address of the database.
    as_json
        Whether answers are JSON.
    create
        Whether to make an archive if there is none.
    spark
        Where data are computed, if the command computes any.
    store
        Where data are kept, if that is said now.
    notices
        Takes what to know of answers, if the command tells it itself; otherwise it goes to the standard error.
    """
    with errors_as_json(as_json):
        from provenn.archive import open_archive  # noqa: PLC0415 - a command that only helps starts without it

        database = path if is_address(path) else None
        where: dict[str, Any] = {
            "path": None if database else path,
            "database": database,
            "create": create,
            "store": store,
            "notify": _noted if notices is None else notices.append,
        }
        with open_archive(**where, spark=spark, progress=_shown, via="cli") as archive:
            yield archive


def _shown(progress: Progress) -> None:
    """Show the progress of long work on the standard error."""
    from provenn.cli.progress import command_listener  # noqa: PLC0415 - only where data are computed

    command_listener()(progress)


def _noted(notice: Notice) -> None:
    """Tell people what to know of an answer, on the standard error."""
    from provenn.display.markup import visible  # noqa: PLC0415 - only where there is something to know

    typer.echo(f"note: {visible(notice.message)}", err=True)


def pairs(given: Iterable[str], what: str) -> dict[str, str]:
    """Read arguments such as ``vmag=v``; what comes first, up to the first ``=``, is given once."""
    found: dict[str, str] = {}
    for one in given:
        left, equals, right = one.partition("=")
        if not equals or not left.strip() or not right.strip():
            raise typer.BadParameter(f"{what} is expected, not {one!r}")
        if left.strip() in found:
            raise typer.BadParameter(f"{left.strip()} is given twice")
        found[left.strip()] = right.strip()
    return found


def write_catalog(catalog: Catalog, name: str | None, as_json: bool) -> None:
    """Tell what a catalog is that was just defined, or given this name."""
    told = catalog.archive.describe(catalog if name is None else name)
    if as_json:
        write_json(catalog_data(told))
    else:
        write_text("\n".join([f"{told.name}: {told.is_what}", *caveat_lines(told.caveats)]))


def catalog_data(told: Description) -> dict[str, Any]:
    """Return a description for programs."""
    return {
        "name": told.name,
        "names": list(told.names),
        "digest": told.digest,
        "kind": told.kind,
        "is": told.is_what,
        "made_from": list(told.made_from),
        "population": told.population,
        "key": list(told.key),
        "attributes": [
            {
                "name": one.name,
                "type": str(one.type),
                "nullable": one.nullable,
                "unit": one.unit,
                "ucd": one.ucd,
                "description": one.description,
            }
            for one in told.attributes
        ],
        "sources": told.sources,
        "definition": [str(said) for said in told.says],
        "facts": [fact_data(fact) for fact in told.facts],
        "unproved": list(told.unproved),
        "known_by": told.known_by or None,
        "caveats": list(told.caveats),
        "created_at": told.created_at.isoformat(),
        "created_by": told.created_by,
        "metadata": dict(told.metadata),
    }


def fact_data(fact: Fact) -> dict[str, Any]:
    """Return a declared or observed fact for programs."""
    return {
        "number": fact.id,
        "statement": str(fact.statement),
        "origin": fact.origin,
        "reason": fact.reason,
        "declared_by": fact.declared_by,
        "declared_at": fact.declared_at.isoformat(),
        "retracted_by": fact.retracted_by,
        "retracted_at": fact.retracted_at and fact.retracted_at.isoformat(),
        "retracted_reason": fact.retracted_reason,
        "visibility": fact.visibility,
        "project": fact.project,
    }


def reason_lines(reasons: Iterable[Reason]) -> list[str]:
    """Return a proof as a chain, a fact a line: what it says, and where it comes from."""
    facts = [(str(one.statement), one.because) for one in reasons]
    width = min(48, max((len(said) for said, _ in facts), default=0))
    return [f"  {said:{width}}   {because}" for said, because in facts]


def caveat_lines(caveats: Iterable[str]) -> list[str]:
    """Return what an answer takes on trust, a sentence a line."""
    return [f"taken on trust: {line}" for line in caveats]


def reason_data(reasons: Iterable[Reason]) -> list[dict[str, str]]:
    """Return a proof for programs."""
    return [{"statement": str(one.statement), "because": one.because} for one in reasons]
