"""The HTTP server of an archive, for this machine or for people with a token."""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from provenn.archive import Archive
from provenn.archive.collector_pauses import collect_rarely
from provenn.archive.tokens import list_tokens
from provenn.database.secrets import hide_process
from provenn.errors import ServerError
from provenn.tap.service_limits import ServiceLimits
from provenn.web.accounts import Accounts
from provenn.web.app import READING_PATHS, create_app
from provenn.web.connections import ConnectionLimits, Connections
from provenn.web.encryption import Certificate
from provenn.web.entering import Authenticator
from provenn.web.guarding import LOOPBACK, guard_app
from provenn.web.job_threads import JobLimits
from provenn.web.limits import SECONDS, Limits
from provenn.web.protocol import make_protocol
from provenn.web.proxies import Proxies, ThroughProxies
from provenn.web.turns import TurnLimits, Turns
from provenn.web.workers import Workers, WorkersApp

__all__ = ["ServerLimits", "build_server_app", "serve"]

_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_EVERYWHERE: Final = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - only compared with
_PATIENCE: Final = 20
"""Seconds that open answers may still take when the server ends."""

_OTHER_FILES: Final = 200
"""Approximate number of open files of a server besides its connections."""


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The limits of a server.

    Parameters
    ----------
    connections, turns, jobs
        Limits on connections, questions and jobs, in total and per address or person.
    seconds
        Time limit in seconds until an answer begins.
    tap
        The limits of the TAP service.
    workers
        The number of worker processes that compute pages, besides the process of the server.
    """

    connections: ConnectionLimits = field(default_factory=ConnectionLimits)
    turns: TurnLimits = field(default_factory=TurnLimits)
    jobs: JobLimits = field(default_factory=JobLimits)
    seconds: float = SECONDS
    tap: ServiceLimits = field(default_factory=ServiceLimits)
    workers: int = 0


def build_server_app(
    archive: Archive,
    *,
    tokens: bool = False,
    hosts: Sequence[str] = LOOPBACK,
    roots: Sequence[str] | None = None,
    proxies: Proxies | None = None,
    limits: ServerLimits | None = None,
) -> ASGIApp:
    """Return the application with all layers that handle a request.

    Parameters
    ----------
    archive
        The archive.
    tokens
        Whether requests need a token: then people see and do only what their visibility and role permit. Otherwise
        every request acts as the person that opened the archive.
    hosts
        The host names of the server, as requests contain them.
    roots
        The folders that may contain files of base catalogs, if requests need a token.
    proxies
        The proxies that are trusted to report the origin of requests; by default none.
    limits
        The limits of the server.
    """
    limits = limits or ServerLimits()
    accounts = Accounts(archive) if tokens else None
    allowed_roots = (roots or ()) if tokens else None
    app: ASGIApp = create_app(
        archive, accounts=accounts, roots=allowed_roots, jobs_limits=limits.jobs, tap_limits=limits.tap
    )
    if limits.workers:
        app = WorkersApp(app, Workers(archive, allowed_roots, limits.workers), READING_PATHS)
    answers: ASGIApp = Turns(app, limits.turns, alone=accounts is None)
    if accounts is not None:
        answers = Authenticator(answers, accounts)
    guarded = guard_app(Limits(answers, seconds=limits.seconds), hosts, upload=limits.tap.upload)
    return ThroughProxies(guarded, proxies or Proxies())


def serve(
    archive: Archive,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    tokens: bool = False,
    hosts: Sequence[str] = (),
    roots: Sequence[str] = (),
    proxies: Proxies | None = None,
    certificate: Certificate | None = None,
    limits: ServerLimits | None = None,
    ready: Callable[[str], None],
) -> None:
    """Serve an archive until the process is interrupted.

    Parameters
    ----------
    archive
        The archive.
    host, port
        The address to listen on; port 0 is any free port. Beyond this machine, requests always need a token.
    tokens
        Whether requests need a token on this machine, too.
    hosts
        Host names of the server, besides `host` and the names of this machine.
    roots
        The folders that may contain files of base catalogs, if requests need a token; by default the archive's folder.
    proxies
        The proxies that are trusted to report the origin and the person of requests.
    certificate
        The certificate for TLS; by default connections are not encrypted.
    limits
        The limits of the server.
    ready
        Called with the address of the server once connections are accepted.

    Raises
    ------
    ServerError
        If the port is in use; if requests need a token and no valid token exists; or if the server listens everywhere
        and has no host names.
    """
    hide_process()  # the process holds sessions, and perhaps a password
    collect_rarely()
    proxies = proxies or Proxies()
    limits = limits or ServerLimits()
    tokens = tokens or host not in _LOOPBACK or bool(proxies.networks)
    if tokens:
        _check_tokens(archive, host)
    if host in _EVERYWHERE and not hosts:
        raise ServerError(
            "a server that listens on every address needs its host names",
            hint="--allow-host survey.example.org",
        )
    names = [*LOOPBACK, *hosts, *([] if host in _EVERYWHERE else [_bracket_host(host)])]
    server_socket = _open_socket(host, port)
    app = build_server_app(
        archive,
        tokens=tokens,
        hosts=names,
        roots=roots or _find_archive_folder(archive),
        proxies=proxies,
        limits=limits,
    )
    connections = Connections(_limit_by_open_files(limits.connections), proxies)
    config = uvicorn.Config(
        app,
        log_level="warning",
        server_header=False,
        http=make_protocol(connections, None if certificate is None else certificate.get_context),
        ws="none",
        proxy_headers=False,  # uvicorn trusts every local process; `ThroughProxies` trusts named proxies only
        timeout_keep_alive=max(1, int(limits.connections.seconds)),
        timeout_graceful_shutdown=_PATIENCE,
        h11_max_incomplete_event_size=32_768,
    )
    server = uvicorn.Server(config)
    scheme = "http" if certificate is None else "https"
    ready(f"{scheme}://{_bracket_host(host)}:{server_socket.getsockname()[1]}/")
    try:
        server.run(sockets=[server_socket])
    finally:
        server_socket.close()


def _limit_by_open_files(limits: ConnectionLimits) -> ConnectionLimits:
    """Raise the limit of open files if possible, and return the connection limits reduced to that limit."""
    try:
        import resource  # noqa: PLC0415 - not everywhere
    except ModuleNotFoundError:
        return limits
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limits.most + _OTHER_FILES
    if resource.RLIM_INFINITY != soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    most = limits.most if soft == resource.RLIM_INFINITY else max(1, min(limits.most, soft - _OTHER_FILES))
    return replace(limits, most=most, per_client=min(limits.per_client, most))


def _check_tokens(archive: Archive, host: str) -> None:
    now = datetime.now(UTC)
    if not any(token.is_good(now) for token in list_tokens(archive)):
        raise ServerError(
            f"no token exists for this archive, so nobody could use it at {host}",
            hint="create one: provenn token new WHO --role reader",
        )


def _find_archive_folder(archive: Archive) -> tuple[str, ...]:
    """Return the folder of an archive; an archive in a database server has no folder."""
    return () if "://" in archive.place else (str(Path(archive.place).absolute().parent),)


def _bracket_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _open_socket(host: str, port: int) -> socket.socket:
    # asyncio switches off Nagle's algorithm, which delays answers by 40 ms, only for sockets with a stated protocol.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server_socket = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    server_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server_socket.bind((host, port))
    except (OSError, OverflowError) as error:
        server_socket.close()
        raise ServerError(f"cannot listen at {host}:{port}: {error}", hint="choose another --port") from error
    server_socket.listen(512)
    return server_socket
