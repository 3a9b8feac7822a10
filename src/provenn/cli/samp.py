"""``provenn samp``: tables for TOPCAT, Aladin and notebooks, and those that they ask for."""

from __future__ import annotations

import signal
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, SparkUrl, opened
from provenn.cli.completion import attribute_names
from provenn.cli.output import AsJson, errors_as_json, write_error, write_json, write_table, write_text

if TYPE_CHECKING:
    from provenn.samp import Pulled

__all__ = ["list_clients", "listen", "run_hub", "send"]

HubFile = Annotated[
    str | None,
    typer.Option(
        "--hub",
        metavar="FILE",
        help="The lock file of the hub; by default where SAMP_HUB says, or ~/.samp.",
        show_default=False,
    ),
]


def send(
    catalog: CatalogName,
    *,
    attributes: Annotated[
        list[str] | None,
        typer.Option(
            "--attributes",
            metavar="NAME",
            help="Only these attributes: own ones, calculated ones, or DR1.z of another catalog. May be repeated.",
            show_default=False,
            autocompletion=attribute_names,
        ),
    ] = None,
    where: Annotated[
        str | None, typer.Option(metavar="SQL", help="A criterion on the sources.", show_default=False)
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="CLIENT", help="Who gets it; by default all who load tables.", show_default=False),
    ] = None,
    format_: Annotated[str, typer.Option("--format", metavar="votable|fits", help="What is sent.")] = "votable",
    hub: HubFile = None,
    spark: SparkUrl = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Compute a catalog, and have it loaded by TOPCAT, Aladin or another program on the SAMP hub.

    Try:

    - `provenn samp send bright`
    - `provenn samp send bright --attributes vmag --attributes dist_pc --to topcat`
    """
    with opened(archive, as_json, spark=spark) as found:
        from provenn.samp import send as sent  # noqa: PLC0415 - other commands start without it

        one = found[catalog]
        asked: Any = (
            one
            if not attributes and where is None
            else found.target(catalog, attributes or one.attributes, where=where)
        )
        options: Any = {"format": format_}
        deliveries = sent(asked, to, hub=hub, **options)
    if as_json:
        write_json(
            [
                {"client": one.client, "name": one.name, "url": one.url, "rows": one.rows, "problem": one.problem}
                for one in deliveries
            ]
        )
        return
    for done in deliveries:
        said = f"{done.name} has {done.rows:,} sources" if done.problem is None else f"not loaded: {done.problem}"
        write_text(said)


def listen(
    *,
    hub: HubFile = None,
    spark: SparkUrl = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Answer programs on the SAMP hub that ask for attributes of sources, until it is interrupted.

    The message is `catalog.pull`, with start_catalog, query and attributes; the answer has the URL of a VOTable.

    Try:

    - `provenn samp listen`
    """
    with opened(archive, as_json, spark=spark) as found:
        from provenn.samp import PULL  # noqa: PLC0415 - other commands start without it
        from provenn.samp import listen as answer  # noqa: PLC0415

        def ready(called: str) -> None:
            if as_json:
                write_json({"client": called, "mtype": PULL})
            else:
                write_text(f"provenn answers {PULL} as {called}\nCtrl-C ends it")

        signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends it so wants it to leave the hub, too
        answer(found, hub=hub, ready=ready, told=_write_json if as_json else _write)


def list_clients(*, hub: HubFile = None, as_json: AsJson = False) -> None:
    """List the programs on the SAMP hub, and which of them load tables or answer requests.

    Try:

    - `provenn samp clients`
    """
    with errors_as_json(as_json):
        from provenn.samp.hubs import clients  # noqa: PLC0415 - other commands start without it

        found = clients(hub)
    if as_json:
        write_json([{"client": one.id, "name": one.name, "mtypes": list(one.mtypes)} for one in found])
        return
    told = ("table.load.votable", "table.load.fits", "catalog.pull")
    rows = [(one.id, one.name, ", ".join(name for name in told if name in one.mtypes)) for one in found]
    write_table(("client", "name", "takes"), rows)


def run_hub(*, hub: HubFile = None, as_json: AsJson = False) -> None:
    """Run a SAMP hub, where no program that has one is running, until it is interrupted.

    Try:

    - `provenn samp hub`
    """
    with errors_as_json(as_json):
        from provenn.samp import hubs  # noqa: PLC0415 - other commands start without it

        def ready(lock: str) -> None:
            if as_json:
                write_json({"hub": lock})
            else:
                write_text(f"the hub is there: {lock}\nCtrl-C ends it")

        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as above
        hubs.run_hub(hub, ready=ready, wait=lambda: _until_interrupted(Event()))


def _until_interrupted(never: Event) -> None:
    while not never.wait(1):
        pass  # a wait without an end could not be interrupted everywhere


def _write(one: Pulled) -> None:
    if one.problem is None:
        write_text(f"{one.sender}: {one.asked}: {one.rows:,} sources")
    else:
        write_text(f"{one.sender}: {one.asked}: refused")
        write_error(one.problem)


def _write_json(one: Pulled) -> None:
    problem = one.problem and {
        "kind": type(one.problem).__name__,
        "message": one.problem.message,
        "hint": one.problem.hint,
    }
    write_json({"sender": one.sender, "asked": one.asked, "url": one.url, "rows": one.rows, "problem": problem})
