"""``provenn samp``: tables for TOPCAT, Aladin and notebooks, and answers to their requests."""

from __future__ import annotations

import signal
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, SparkUrl, open_archive_at
from provenn.cli.completion import complete_attribute_names
from provenn.cli.output import AsJson, write_error, write_json, write_table, write_text
from provenn.hints import phrase_for_command

if TYPE_CHECKING:
    from provenn.samp import Pulled

__all__ = ["list_clients", "listen", "run_hub", "send"]

HubFile = Annotated[
    str | None,
    typer.Option(
        "--hub",
        metavar="FILE",
        help="The lock file of the hub; by default from SAMP_HUB, or ~/.samp.",
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
            help="Only these attributes: of the catalog, calculated, or DR1.z of another catalog. May be repeated.",
            show_default=False,
            autocompletion=complete_attribute_names,
        ),
    ] = None,
    where: Annotated[
        str | None, typer.Option(metavar="SQL", help="A criterion on the sources.", show_default=False)
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="CLIENT", help="The client to send to; by default all clients that load tables.", show_default=False
        ),
    ] = None,
    format_: Annotated[str, typer.Option("--format", metavar="votable|fits", help="The format to send.")] = "votable",
    hub: HubFile = None,
    spark: SparkUrl = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Compute a catalog, and send it to TOPCAT, Aladin or another program on the SAMP hub.

    Try:

    - `provenn samp send bright`
    - `provenn samp send bright --attributes vmag --attributes dist_pc --to topcat`
    """
    with open_archive_at(archive_path, spark=spark) as archive:
        from provenn.samp import send as send_table  # noqa: PLC0415 - other commands start without it

        catalog_handle = archive[catalog]
        request: Any = (
            catalog_handle
            if not attributes and where is None
            else archive.target(catalog, attributes or catalog_handle.attributes, where=where)
        )
        options: Any = {"format": format_}
        deliveries = send_table(request, to, hub=hub, **options)
    if as_json:
        write_json(
            [
                {
                    "client": delivery.client,
                    "name": delivery.name,
                    "url": delivery.url,
                    "rows": delivery.rows,
                    "problem": delivery.problem,
                }
                for delivery in deliveries
            ]
        )
        return
    for delivery in deliveries:
        outcome = (
            f"{delivery.name} has {delivery.rows:,} sources"
            if delivery.problem is None
            else f"not loaded: {delivery.problem}"
        )
        write_text(outcome)


def listen(
    *,
    hub: HubFile = None,
    spark: SparkUrl = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Answer requests for attributes of sources from programs on the SAMP hub, until interrupted.

    The message is `catalog.pull`, with start_catalog, query and attributes; the answer has the URL of a VOTable.

    Try:

    - `provenn samp listen`
    """
    with open_archive_at(archive_path, spark=spark, is_short=False) as archive:
        from provenn.samp import PULL  # noqa: PLC0415 - other commands start without it
        from provenn.samp import listen as answer  # noqa: PLC0415

        def ready(client: str) -> None:
            if as_json:
                write_json({"client": client, "mtype": PULL})
            else:
                write_text(f"provenn answers {PULL} as {client}\nPress Ctrl-C to stop")

        signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM also leaves the hub properly
        answer(archive, hub=hub, ready=ready, told=_write_pull_json if as_json else _write_pull)


def list_clients(*, hub: HubFile = None, as_json: AsJson = False) -> None:
    """List the programs on the SAMP hub, and which of them load tables or answer requests.

    Try:

    - `provenn samp clients`
    """
    from provenn.samp.hubs import clients  # noqa: PLC0415 - other commands start without it

    hub_clients = clients(hub)
    if as_json:
        write_json(
            [{"client": client.id, "name": client.name, "mtypes": list(client.mtypes)} for client in hub_clients]
        )
        return
    message_types = ("table.load.votable", "table.load.fits", "catalog.pull")
    rows = [
        (client.id, client.name, ", ".join(name for name in message_types if name in client.mtypes))
        for client in hub_clients
    ]
    write_table(("client", "name", "takes"), rows)


def run_hub(*, hub: HubFile = None, as_json: AsJson = False) -> None:
    """Run a SAMP hub, if no other program runs one, until interrupted.

    Try:

    - `provenn samp hub`
    """
    from provenn.samp import hubs  # noqa: PLC0415 - other commands start without it

    def ready(lock: str) -> None:
        if as_json:
            write_json({"hub": lock})
        else:
            write_text(f"the hub is running: {lock}\nPress Ctrl-C to stop")

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as in `listen`
    hubs.run_hub(hub, ready=ready, wait=lambda: _wait_for_interrupt(Event()))


def _wait_for_interrupt(never: Event) -> None:
    """Wait until the process is interrupted; the event is never set."""
    while not never.wait(1):
        pass  # a wait without a limit cannot be interrupted on every platform


def _write_pull(pull: Pulled) -> None:
    """Write a line on a request that was answered or refused."""
    if pull.problem is None:
        write_text(f"{pull.sender}: {pull.asked}: {pull.rows:,} sources")
    else:
        write_text(f"{pull.sender}: {pull.asked}: refused")
        write_error(pull.problem)


def _write_pull_json(pull: Pulled) -> None:
    """Write a request that was answered or refused as JSON."""
    problem = pull.problem and {
        "kind": type(pull.problem).__name__,
        "message": pull.problem.message,
        "hint": phrase_for_command(pull.problem.hint),
    }
    write_json({"sender": pull.sender, "asked": pull.asked, "url": pull.url, "rows": pull.rows, "problem": problem})
