"""``provenn serve``: the archive in the browser."""

from typing import Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, SparkUrl, open_archive_at
from provenn.cli.output import AsJson, write_json, write_text
from provenn.cli.sizes import read_size
from provenn.errors import ServerError

__all__ = ["serve"]


def serve(
    *,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="The address to listen at. Beyond this machine, tokens are required.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="NUMBER", min=0, max=65535, help="The port; 0 means any free port.")
    ] = 8765,
    browser: Annotated[bool, typer.Option("--open", help="Open the pages in the browser.")] = False,
    tokens: Annotated[bool, typer.Option("--tokens", help="Also require tokens on this machine.")] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A host name of the server. May be repeated.", show_default=False),
    ] = None,
    root: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="With tokens: a folder or URI below which base files may be read. May be repeated.",
            show_default="the folder of the archive",
        ),
    ] = None,
    calculators_as: Annotated[
        str | None,
        typer.Option(
            metavar="USER",
            help="The system user that runs Python calculators. Only root can set it.",
            show_default=False,
        ),
    ] = None,
    calculators_environment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="An environment variable to pass to calculators, or NAME*. May be repeated.",
            show_default=False,
        ),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            envvar="PROVENN_PROXY",
            help="A trusted proxy, or a network of trusted proxies. May be repeated.",
            show_default=False,
        ),
    ] = None,
    user_header: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="PROVENN_USER_HEADER",
            help="With --proxy: the header with the name of the person, such as X-Remote-User.",
            show_default=False,
        ),
    ] = None,
    certificate: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            envvar="PROVENN_CERTIFICATE",
            help="Use HTTPS with this certificate (PEM). A renewed certificate is picked up.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            envvar="PROVENN_KEY",
            help="The key of the certificate (PEM).",
            show_default="the file of the certificate",
        ),
    ] = None,
    connections: Annotated[
        int, typer.Option(metavar="NUMBER", envvar="PROVENN_CONNECTIONS", min=1, help="The most open connections.")
    ] = 1000,
    connections_each: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            envvar="PROVENN_CONNECTIONS_EACH",
            min=1,
            help="The most open connections from one address; a trusted proxy may use all.",
        ),
    ] = 250,
    questions: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", envvar="PROVENN_QUESTIONS", min=1, help="The most requests answered at the same time."
        ),
    ] = 8,
    questions_each: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            envvar="PROVENN_QUESTIONS_EACH",
            min=1,
            help="With tokens: the most requests of one person answered at the same time.",
        ),
    ] = 2,
    waiting_each: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            envvar="PROVENN_WAITING_EACH",
            min=1,
            help="With tokens: the most waiting requests of one person.",
        ),
    ] = 50,
    seconds: Annotated[
        float,
        typer.Option(
            metavar="NUMBER",
            envvar="PROVENN_SECONDS",
            min=0.1,
            help="Seconds after which an unanswered request is stopped.",
        ),
    ] = 60.0,
    jobs: Annotated[
        int,
        typer.Option(metavar="NUMBER", envvar="PROVENN_JOBS", min=1, help="The most jobs running at the same time."),
    ] = 2,
    jobs_each: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            envvar="PROVENN_JOBS_EACH",
            min=1,
            help="With tokens: the most jobs of one person running at the same time.",
        ),
    ] = 1,
    tap_rows: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", envvar="PROVENN_TAP_ROWS", min=1, help="TAP: the rows of an answer without MAXREC."
        ),
    ] = 20_000,
    tap_rows_most: Annotated[
        int,
        typer.Option(metavar="NUMBER", envvar="PROVENN_TAP_ROWS_MOST", min=1, help="TAP: the most rows of an answer."),
    ] = 1_000_000,
    tap_seconds: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", envvar="PROVENN_TAP_SECONDS", min=1, help="TAP: the seconds of a job that asks for none."
        ),
    ] = 600,
    tap_seconds_most: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", envvar="PROVENN_TAP_SECONDS_MOST", min=1, help="TAP: the most seconds of a job."
        ),
    ] = 3600,
    tap_hours: Annotated[
        float,
        typer.Option(
            metavar="NUMBER",
            envvar="PROVENN_TAP_HOURS",
            min=0.01,
            help="TAP: the hours for which a job is kept that asks for none.",
        ),
    ] = 24.0,
    tap_hours_most: Annotated[
        float,
        typer.Option(
            metavar="NUMBER",
            envvar="PROVENN_TAP_HOURS_MOST",
            min=0.01,
            help="TAP: the most hours for which a job is kept.",
        ),
    ] = 168.0,
    tap_upload: Annotated[
        str,
        typer.Option(
            metavar="SIZE", envvar="PROVENN_TAP_UPLOAD", help="TAP: the most bytes of uploaded tables, such as 100MB."
        ),
    ] = "32MB",
    tap_jobs: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", envvar="PROVENN_TAP_JOBS", min=1, help="TAP: the most jobs of one person that are kept."
        ),
    ] = 100,
    workers: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            envvar="PROVENN_WORKERS",
            min=0,
            max=64,
            help="The processes that compute pages, besides the process of the server.",
        ),
    ] = 0,
    spark: SparkUrl = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Serve the archive to browsers and programs, until interrupted.

    The pages show catalogs, their lineage, how they compare, targets and their costs; everything is also available as
    JSON. TOPCAT, pyvo and other clients of the Virtual Observatory query the catalogs at the TAP address. By default
    only this machine can connect; others need a token: see `provenn token`.

    Try:

    - `provenn serve --open`
    - `provenn serve --workers 4`
    - `provenn serve --port 0 --json`
    - `provenn serve --host 192.0.2.7 --allow-host survey.example.org --root /data/survey`
    - `provenn serve --tokens --calculators-as calc --calculators-environment SWIRE_DATA`
    - `provenn serve --host 192.0.2.7 --certificate fullchain.pem --key privkey.pem`
    - `provenn serve --tap-rows-most 5000000 --tap-upload 100MB`
    - `provenn serve --allow-host survey.example.org --proxy 127.0.0.1 --user-header X-Remote-User`
    """
    confinement: Any = {"calculators_as": calculators_as, "calculators_environment": calculators_environment}
    upload = read_size(tap_upload)
    with open_archive_at(archive_path, spark=spark, is_short=False, **confinement) as archive:
        from provenn.tap.service_limits import ServiceLimits  # noqa: PLC0415 - other commands start without it
        from provenn.web.connections import ConnectionLimits  # noqa: PLC0415
        from provenn.web.encryption import Certificate  # noqa: PLC0415
        from provenn.web.job_threads import JobLimits  # noqa: PLC0415
        from provenn.web.proxies import read_proxies  # noqa: PLC0415
        from provenn.web.serving import ServerLimits  # noqa: PLC0415
        from provenn.web.serving import serve as serve_archive  # noqa: PLC0415
        from provenn.web.turns import TurnLimits  # noqa: PLC0415

        if key is not None and certificate is None:
            raise ServerError("--key needs --certificate", hint="also name the file of the certificate")
        limits = ServerLimits(
            ConnectionLimits(connections, min(connections, connections_each)),
            TurnLimits(questions, min(questions, questions_each), waiting_per_client=waiting_each),
            JobLimits(jobs, min(jobs, jobs_each)),
            seconds,
            ServiceLimits(
                min(tap_rows, tap_rows_most),
                tap_rows_most,
                min(tap_seconds, tap_seconds_most),
                tap_seconds_most,
                round(3600 * min(tap_hours, tap_hours_most)),
                round(3600 * tap_hours_most),
                upload,
                tap_jobs,
            ),
            workers,
        )

        def ready(address: str) -> None:
            if as_json:
                write_json({"address": address, "tap": f"{address}tap"})
            else:
                write_text(f"{archive.place} is at {address}\nTAP: {address}tap\nPress Ctrl-C to stop")
            if browser:
                typer.launch(address)

        serve_archive(
            archive,
            host=host,
            port=port,
            tokens=tokens,
            hosts=allow_host or (),
            roots=root or (),
            proxies=read_proxies(proxy or (), user_header),
            certificate=None if certificate is None else Certificate(certificate, key or certificate),
            limits=limits,
            ready=ready,
        )
