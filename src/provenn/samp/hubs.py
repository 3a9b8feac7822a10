"""Find the SAMP hub by the standard lock file, and the clients of the hub; all on this machine."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname
from uuid import uuid4
from xmlrpc.client import Error as XmlRpcError

from provenn.errors import SampError, did_you_mean

__all__ = [
    "Client",
    "choose_clients",
    "clients",
    "connect_to_hub",
    "convert_url_to_path",
    "find_clients",
    "request_answer",
    "request_result",
    "run_hub",
]

_LOOPBACK = "127.0.0.1"
_PATIENCE = 5.0
"""Seconds within which a hub must answer."""
_HINT = "start TOPCAT or Aladin, or run: provenn samp hub"


@dataclass(frozen=True, slots=True)
class Client:
    """A program on the hub.

    Parameters
    ----------
    id
        The identifier that the hub assigns.
    name
        The name that the program states; by default, its identifier.
    mtypes
        The message types that the program accepts, sorted; ``*`` matches the rest of a type.
    """

    id: str
    name: str
    mtypes: tuple[str, ...]


def clients(hub: str | None = None) -> list[Client]:
    """Return the clients on the hub, including the hub itself, sorted by name.

    Parameters
    ----------
    hub
        The lock file of the hub; by default, the file in ``SAMP_HUB``, or ``~/.samp``.

    Raises
    ------
    SampError
        If no hub is running.
    """
    with connect_to_hub("provenn", hub) as client:
        return find_clients(client)


def find_clients(client: Any, mtype: str | None = None) -> list[Client]:  # noqa: ANN401 - pyvo has no types
    """Return the clients on the hub, except provenn, or only the clients for a message type, sorted by name."""
    identifiers = client.get_registered_clients() if mtype is None else client.get_subscribed_clients(mtype)
    others = []
    for identifier in identifiers:
        with suppress(XmlRpcError):  # the client has just left
            name = client.get_metadata(identifier).get("samp.name") or identifier
            others.append(Client(identifier, name, tuple(sorted(client.get_subscriptions(identifier)))))
    return sorted(others, key=lambda other: (other.name.lower(), other.id))


def choose_clients(client: Any, mtype: str, to: str | None) -> list[Client]:  # noqa: ANN401 - as above
    """Return all clients that accept a message type, or only the client with a given name or identifier.

    Raises
    ------
    SampError
        If no client accepts the type, or no client or several clients match `to`.
    """
    candidates = find_clients(client, mtype)
    if not candidates:
        raise SampError(
            f"no client on the hub accepts {mtype}",
            hint="start a program that accepts it; `provenn samp clients` lists the clients",
        )
    if to is None:
        return candidates
    matches = [candidate for candidate in candidates if candidate.id == to] or [
        candidate for candidate in candidates if candidate.name.lower() == to.lower()
    ]
    if len(matches) > 1:
        raise SampError(
            f"{len(matches)} clients are named {to}: {', '.join(candidate.id for candidate in matches)}",
            hint="name one of these",
        )
    if not matches:
        names = [candidate.name for candidate in candidates]
        hint = did_you_mean(to, names) or f"there are {', '.join(names)}"
        raise SampError(f"no client named {to!r} accepts {mtype}", hint=hint)
    return matches


def request_result(
    client: Any,  # noqa: ANN401 - as above
    receiver: Client,
    mtype: str,
    seconds: float,
    params: Mapping[str, Any],
) -> dict[str, Any]:
    """Send a message, wait for the answer, and return its result.

    Raises
    ------
    SampError
        If the receiver refuses, or does not answer in time.
    """
    answer = request_answer(client, receiver, mtype, seconds, params)
    if answer.get("samp.status") != "samp.ok":
        error = answer.get("samp.error") or {}
        raise SampError(
            f"{receiver.name}: {error.get('samp.errortxt') or 'it gave no reason'}",
            hint=str(error.get("samp.debugtxt") or ""),
        )
    return dict(answer.get("samp.result") or {})


def request_answer(
    client: Any,  # noqa: ANN401 - as above
    receiver: Client,
    mtype: str,
    seconds: float,
    params: Mapping[str, Any],
) -> dict[str, Any]:
    """Send a message, wait for the answer, and return the whole answer.

    provenn itself waits, not the hub: pyvo's hub loses answers that arrive immediately.

    Raises
    ------
    SampError
        If no answer arrives in time, or the hub has ended.
    """
    tag, answers = uuid4().hex, Queue[dict[str, Any]]()
    client.bind_receive_response(tag, lambda _key, _sender, _tag, answer: answers.put(answer))
    deadline = monotonic() + seconds
    try:
        client.call(receiver.id, tag, {"samp.mtype": mtype, "samp.params": dict(params)})
        while (left := deadline - monotonic()) > 0:
            with suppress(Empty):
                return answers.get(timeout=min(left, _PATIENCE))
            client.ping()
    except (XmlRpcError, OSError) as error:
        reason = getattr(error, "faultString", error)
        raise SampError(
            f"{receiver.name} cannot be asked: {reason}", hint="check that the client and the hub are running"
        ) from error
    finally:
        client.unbind_receive_response(tag)
    raise SampError(f"{receiver.name} did not answer {mtype} within {seconds:g} seconds", hint="is it busy?")


@contextmanager
def connect_to_hub(name: str, hub: str | None = None, description: str = "") -> Iterator[Any]:
    """Register with the hub, and unregister at the end of the `with` block.

    Only this machine can reach the registered client. The client does not reveal its environment variables, which pyvo
    would do by default.

    Raises
    ------
    SampError
        If no hub is running.
    """
    parameters = _read_lock_file(_find_lock_file(hub))
    from pyvo import samp  # noqa: PLC0415 - slow to import, and only needed where there is a hub

    with samp.conf.set_temp("use_internet", False):
        client = samp.SAMPIntegratedClient(name=name, description=description or None, addr=_LOOPBACK)
        try:
            client.connect(hub_params=parameters)
        except (samp.SAMPHubError, XmlRpcError, OSError) as error:
            raise SampError(f"the hub refused provenn: {error}", hint=_HINT) from error
    try:
        client.unbind_receive_call("client.env.get")
        yield client
    finally:
        with suppress(samp.SAMPClientError, samp.SAMPHubError, XmlRpcError, OSError):  # the hub may be gone
            client.disconnect()


def run_hub(hub: str | None, *, ready: Callable[[str], None], wait: Callable[[], None]) -> None:
    """Run a hub for the programs of this user on this machine, but not for web pages.

    Parameters
    ----------
    hub
        The lock file of the hub; by default, the file in ``SAMP_HUB``, or ``~/.samp``.
    ready
        A function that is called with the lock file once programs can register.
    wait
        A function that returns when the hub should end.

    Raises
    ------
    SampError
        If a hub is already running, or the lock file cannot be written.
    """
    lock = _find_lock_file(hub)
    if _is_hub_running(lock):
        raise SampError(f"a hub is already running: {lock}", hint="use that hub")
    from astropy import log  # noqa: PLC0415 - see above
    from pyvo import samp  # noqa: PLC0415

    level = log.level
    log.setLevel("WARNING")
    try:
        with samp.conf.set_temp("use_internet", False), _hide_hub_setting():
            server = samp.SAMPHubServer(
                addr=_LOOPBACK, web_profile=False, label="provenn", lockfile=str(lock.absolute())
            )
            try:
                server.start()
            except OSError as error:
                _close_port(server)
                raise SampError(f"the hub cannot write {lock}: {error.strerror}") from error
        try:
            ready(str(lock))
            wait()
        finally:
            server.stop()
    finally:
        log.setLevel(level)


def _close_port(server: Any) -> None:  # noqa: ANN401 - pyvo has no types
    """Close the port of a hub that did not start: pyvo opens it before it writes the lock file, and leaves it open."""
    port = getattr(server, "_server", None)
    if port is not None:
        port.server_close()


@contextmanager
def _hide_hub_setting() -> Iterator[None]:
    """Run the body without ``SAMP_HUB``, which pyvo would prefer to the lock file that it is told, and read badly.

    pyvo takes the escapes of the URL, such as ``%20``, for a part of the path.
    """
    setting = os.environ.pop("SAMP_HUB", None)
    try:
        yield
    finally:
        if setting is not None:
            os.environ["SAMP_HUB"] = setting


def convert_url_to_path(url: str) -> Path:
    """Return the path of a file URL.

    Raises
    ------
    SampError
        If the URL is not a file on this machine.
    """
    parts = urlsplit(url)
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"}:
        raise SampError(f"{url} is not a file on this machine")
    return Path(url2pathname(parts.path))


def _find_lock_file(hub: str | None) -> Path:
    """Return the path of a lock file, by default from ``SAMP_HUB`` or the home folder."""
    if hub is not None:
        return convert_url_to_path(hub) if hub.startswith("file:") else Path(hub)
    setting = os.environ.get("SAMP_HUB")
    if setting is None:
        return Path.home() / ".samp"
    kind, _, url = setting.partition(":")
    if kind != "std-lockurl":
        raise SampError(f"SAMP_HUB is {setting!r}, which is not a lock file", hint="std-lockurl:file:///…")
    return convert_url_to_path(url)


def _read_lock_file(lock: Path) -> dict[str, str]:
    """Return the parameters in the lock file of a running hub."""
    try:
        lines = lock.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise SampError(f"there is no SAMP hub: no lock file {lock}", hint=_HINT) from error
    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
    parameters = {key.strip(): value.strip().replace("\\", "") for key, _, value in pairs}
    try:
        address = urlsplit(parameters["samp.hub.xmlrpc.url"])
        socket.create_connection((address.hostname or "", address.port or 80), timeout=_PATIENCE).close()
        parameters["samp.secret"]
    except (KeyError, ValueError) as error:
        raise SampError(f"{lock} is not the lock file of a hub", hint=_HINT) from error
    except OSError as error:
        raise SampError(f"the hub of {lock} is no longer running: {error}", hint=_HINT) from error
    return parameters


def _is_hub_running(lock: Path) -> bool:
    """Tell whether the hub of a lock file is running."""
    with suppress(SampError):
        return bool(_read_lock_file(lock))
    return False
