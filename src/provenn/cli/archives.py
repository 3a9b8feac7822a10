"""Shared by the commands on archives: common options, opening the archive, and writing catalogs and facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import find_width, write_json, write_text
from provenn.cli.table_fitting import fold_reason
from provenn.hints import phrase_for_command

if TYPE_CHECKING:
    from provenn.archive import Archive, Catalog, Description, Notice, Reason, Relation
    from provenn.archive.witnesses import Witness
    from provenn.knowledge.stored_facts import Fact
    from provenn.logic import Statement
    from provenn.spark.progress import Progress

__all__ = [
    "CURRENT_FOLDER",
    "ArchivePath",
    "CatalogName",
    "EngineName",
    "NewName",
    "ProjectOption",
    "ReadingOptions",
    "RequestName",
    "SparkUrl",
    "VisibilityOption",
    "catalog_data",
    "chain_data",
    "fact_data",
    "help_data",
    "help_lines",
    "holds_archive",
    "is_address",
    "open_archive_at",
    "parse_pairs",
    "reason_data",
    "reason_lines",
    "relation_data",
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
VisibilityOption = Annotated[
    Literal["private", "project", "public"] | None,
    typer.Option("--visibility", metavar="WHO", help="Who sees it: private, project or public.", show_default=False),
]
ProjectOption = Annotated[
    str | None,
    typer.Option("--project", metavar="PROJECT", help="The project whose members see it.", show_default=False),
]
CatalogName = Annotated[
    str,
    typer.Argument(
        metavar="CATALOG",
        help="The name of the catalog, or the beginning of its digest.",
        show_default=False,
        autocompletion=complete_catalog_names,
    ),
]
NewName = Annotated[
    str | None, typer.Option("--name", "-n", metavar="NAME", help="A name for the new catalog.", show_default=False)
]


def _refuse_number(name: str | None) -> str | None:
    """Return a name for the result of a request; refuse a number, which is meant to be that of rows, as in head -n."""
    if name is not None and name.isdecimal():
        raise typer.BadParameter(f"-n is a name here: for {name} rows, write --head {name}")
    return name


RequestName = Annotated[
    str | None,
    typer.Option(
        "--name",
        "-n",
        metavar="NAME",
        callback=_refuse_number,
        help="A name for the new catalog.",
        show_default=False,
    ),
]
ReadingOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="An option of Spark for reading the files. May be repeated.",
        show_default=False,
    ),
]

EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="auto|spark",
        help="Who reads: a look without Spark where it has the same answer and is quicker, or Spark.",
    ),
]

SparkUrl = Annotated[
    str | None,
    typer.Option(
        "--spark",
        metavar="URL",
        envvar="PROVENN_SPARK",
        help="Where to compute: a Spark master, or Spark Connect (sc://…). By default the Spark of `provenn warm`, "
        "or else this process.",
        show_default=False,
    ),
]


def holds_archive(folder: str) -> bool:
    """Return whether a folder is an archive, without opening it."""
    return (Path(folder) / _FILE).is_file()


def is_address(path: str) -> bool:
    """Return whether a path is the address of a database with an archive, and not a folder."""
    return "://" in path or path.startswith(_DATABASE)


@contextmanager
def open_archive_at(
    path: str,
    *,
    create: bool = False,
    spark: object | None = None,
    store: str | None = None,
    notices: list[Notice] | None = None,
    is_short: bool = True,
    **confinement: Any,  # noqa: ANN401 - options of open_archive
) -> Iterator[Archive]:
    """Open the archive of a command.

    Parameters
    ----------
    path
        The folder, or the address of the database.
    create
        Whether to create an archive if there is none.
    spark
        Where data are computed, if the command computes any.
    store
        Where data are kept, if the command specifies it.
    notices
        Collects the notices on answers, if the command writes them itself; otherwise they go to the standard error.
    is_short
        Whether the command ends soon: then it uses the warm Spark, if there is one and `spark` names no other.
    confinement
        How calculators are confined: ``calculators_as`` and ``calculators_environment``, if the command specifies them.
    """
    from provenn.archive import open_archive  # noqa: PLC0415 - a command that only helps starts without it

    database = path if is_address(path) else None
    location: dict[str, Any] = {
        "path": None if database else path,
        "database": database,
        "create": create,
        "store": store,
        "notify": _write_notice if notices is None else notices.append,
    }
    spark = "warm" if spark is None and is_short else spark
    with open_archive(**location, spark=spark, progress=_show_progress, via="cli", **confinement) as archive:
        yield archive


def _show_progress(progress: Progress) -> None:
    """Show the progress of long work on the standard error."""
    from provenn.cli.progress import get_progress_listener  # noqa: PLC0415 - only where data are computed

    get_progress_listener()(progress)


def _write_notice(notice: Notice) -> None:
    """Write a notice on an answer to the standard error."""
    from provenn.display.markup import make_printable  # noqa: PLC0415 - only where there is a notice

    typer.echo(f"note: {make_printable(notice.message)}", err=True)


def parse_pairs(arguments: Iterable[str], form: str) -> dict[str, str]:
    """Parse arguments such as ``vmag=v`` into a dictionary, split at the first ``=``.

    Parameters
    ----------
    arguments
        The arguments.
    form
        The expected form of an argument, such as ``OLD=NEW``, for error messages.

    Raises
    ------
    typer.BadParameter
        If an argument lacks a side, or a left side occurs twice.
    """
    values: dict[str, str] = {}
    for argument in arguments:
        left, equals, right = argument.partition("=")
        if not equals or not left.strip() or not right.strip():
            raise typer.BadParameter(f"expected {form}, got {argument!r}")
        if left.strip() in values:
            raise typer.BadParameter(f"{left.strip()} occurs twice")
        values[left.strip()] = right.strip()
    return values


def write_catalog(catalog: Catalog, name: str | None, as_json: bool) -> None:
    """Write the description of a new or newly named catalog."""
    description = catalog.archive.describe(catalog if name is None else name)
    if as_json:
        write_json(catalog_data(description))
    else:
        sentence = f"{description.name}: {description.is_what}"
        is_empty = description.sources == "none"  # by its own definition, as in x > 10 AND x < 5, or x = NULL
        warnings = [f"warning: by its definition, {description.name} cannot have any sources"] if is_empty else []
        write_text("\n".join([sentence, *caveat_lines(description.caveats), *warnings]))


def catalog_data(description: Description) -> dict[str, Any]:
    """Return the description of a catalog as JSON data."""
    return {
        "name": description.name,
        "names": list(description.names),
        "digest": description.digest,
        "kind": description.kind,
        "is": description.is_what,
        "made_from": list(description.made_from),
        "population": description.population,
        "key": list(description.key),
        "attributes": [
            {
                "name": attribute.name,
                "type": str(attribute.type),
                "nullable": attribute.nullable,
                "unit": attribute.unit,
                "ucd": attribute.ucd,
                "description": attribute.description,
            }
            for attribute in description.attributes
        ],
        "sources": description.sources,
        "definition": [str(statement) for statement in description.says],
        "facts": [fact_data(fact) for fact in description.facts],
        "unproved": list(description.unproved),
        "known_by": description.known_by or None,
        "caveats": list(description.caveats),
        "created_at": description.created_at.isoformat(),
        "created_by": description.created_by,
        "metadata": dict(description.metadata),
        "news": [phrase_for_command(line) for line in description.news],
        "not_understood": list(description.not_understood),
    }


def fact_data(fact: Fact) -> dict[str, Any]:
    """Return a declared or observed fact as JSON data."""
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
    """Return a proof as lines, one per fact: statement and origin. The lines of a chain have numbers."""
    lines = list(reasons)
    is_chain = any(line.is_inferred for line in lines)
    digits = len(str(len(lines)))
    facts = [
        (f"{number:{digits}}. {line.words}" if is_chain else line.words, line.because)
        for number, line in enumerate(lines, 1)
    ]
    column = min(48, max((len(statement) for statement, _ in facts), default=0))
    width = find_width()
    return [line for statement, because in facts for line in fold_reason(statement, because, column, width)]


def caveat_lines(caveats: Iterable[str]) -> list[str]:
    """Return the caveats of an answer as lines, one per sentence."""
    return [f"taken on trust: {line}" for line in caveats]


def help_lines(closest: Iterable[Statement], witnesses: Iterable[Witness]) -> list[str]:
    """Return what helps where little is proved as lines."""
    from provenn.archive.witnesses import describe_help  # noqa: PLC0415 - other commands start without it

    return [f"  {line}" for line in describe_help(closest, witnesses)]


def help_data(closest: Iterable[Statement], witnesses: Iterable[Witness]) -> dict[str, Any]:
    """Return what helps where little is proved as JSON data."""
    return {
        "closest": [str(statement) for statement in closest],
        "witnesses": [
            {
                "values": dict(witness.values),
                "inside": list(witness.inside),
                "outside": list(witness.outside),
                "words": witness.words,
            }
            for witness in witnesses
        ],
    }


def reason_data(reasons: Iterable[Reason]) -> list[dict[str, str]]:
    """Return the facts of a proof as JSON data."""
    return [{"statement": str(reason.statement), "because": reason.because} for reason in reasons]


def chain_data(chain: Iterable[Reason]) -> list[dict[str, Any]]:
    """Return the lines of a proof as JSON data: facts, and what follows from earlier lines."""
    return [
        {
            "line": number,
            "statement": str(line.statement),
            "because": line.because,
            "inferred": line.is_inferred,
            "from": list(line.premises),
        }
        for number, line in enumerate(chain, 1)
    ]


def relation_data(relation: Relation) -> dict[str, Any]:
    """Return the relation of two catalogs as JSON data."""
    return {
        "left": relation.left,
        "right": relation.right,
        "summary": relation.summary,
        "statement": relation.statement and str(relation.statement),
        "reasons": reason_data(relation.reasons),
        "chain": chain_data(relation.chain),
        "caveats": list(relation.caveats),
        "rests_on": [fact_data(fact) for fact in relation.rests_on],
    }
