"""The hub: found by its lock file, as the standard says; and the clients that are on it. All of it on this machine."""

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

__all__ = ["Client", "answered", "asked", "chosen", "clients", "connected", "path_of", "registered", "run_hub"]

_LOOPBACK = "127.0.0.1"
_PATIENCE = 5.0
"""Seconds in which a hub must answer that it is there."""
_HINT = "start TOPCAT or Aladin, or run: provenn samp hub"


@dataclass(frozen=True, slots=True)
class Client:
    """A program on the hub.

    Parameters
    ----------
    id
        What the hub calls it.
    name
        What it calls itself; its identifier, if it says nothing.
    mtypes
        The messages it takes, sorted; ``*`` stands for the rest of a name.
    """

    id: str
    name: str
    mtypes: tuple[str, ...]


def clients(hub: str | None = None) -> list[Client]:
    """Return who is on the hub, by name; the hub itself is one of them.

    Parameters
    ----------
    hub
        The lock file of the hub; by default where ``SAMP_HUB`` says, or ``~/.samp``.

    Raises
    ------
    SampError
        If there is no hub.
    """
    with connected("provenn", hub) as client:
        return registered(client)


def registered(client: Any, mtype: str | None = None) -> list[Client]:  # noqa: ANN401 - pyvo has no types
    """Return who else is on the hub, or who there takes a message, by name."""
    found = client.get_registered_clients() if mtype is None else client.get_subscribed_clients(mtype)
    others = []
    for one in found:
        with suppress(XmlRpcError):  # it has just left
            name = client.get_metadata(one).get("samp.name") or one
            others.append(Client(one, name, tuple(sorted(client.get_subscriptions(one)))))
    return sorted(others, key=lambda one: (one.name.lower(), one.id))


def chosen(client: Any, mtype: str, to: str | None) -> list[Client]:  # noqa: ANN401 - as above
    """Return who takes a message: all of them, or the one that is named or identified.

    Raises
    ------
    SampError
        If there is none, or not this one, or several of this name.
    """
    able = registered(client, mtype)
    if not able:
        raise SampError(f"nobody on the hub takes {mtype}", hint="start a program that does; provenn samp clients")
    if to is None:
        return able
    found = [one for one in able if one.id == to] or [one for one in able if one.name.lower() == to.lower()]
    if len(found) > 1:
        raise SampError(f"{len(found)} are called {to}: {', '.join(one.id for one in found)}", hint="name one of these")
    if not found:
        names = [one.name for one in able]
        hint = did_you_mean(to, names) or f"there are {', '.join(names)}"
        raise SampError(f"nobody called {to!r} takes {mtype}", hint=hint)
    return found


def asked(client: Any, one: Client, mtype: str, seconds: float, params: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    """Send a message and wait for the answer; return its result.

    Raises
    ------
    SampError
        If the other side refuses, or does not answer in time.
    """
    answer = answered(client, one, mtype, seconds, params)
    if answer.get("samp.status") != "samp.ok":
        said = answer.get("samp.error") or {}
        raise SampError(
            f"{one.name}: {said.get('samp.errortxt') or 'it gave no reason'}", hint=str(said.get("samp.debugtxt") or "")
        )
    return dict(answer.get("samp.result") or {})


def answered(client: Any, one: Client, mtype: str, seconds: float, params: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    """Send a message, wait for the answer, and return it as it is.

    The wait is ours and not the hub's: that of pyvo's hub loses answers that come at once.

    Raises
    ------
    SampError
        If there is no answer in time, or no hub any more.
    """
    tag, answers = uuid4().hex, Queue[dict[str, Any]]()
    client.bind_receive_response(tag, lambda _key, _sender, _tag, answer: answers.put(answer))
    deadline = monotonic() + seconds
    try:
        client.call(one.id, tag, {"samp.mtype": mtype, "samp.params": dict(params)})
        while (left := deadline - monotonic()) > 0:
            with suppress(Empty):
                return answers.get(timeout=min(left, _PATIENCE))
            client.ping()
    except (XmlRpcError, OSError) as error:
        said = getattr(error, "faultString", error)
        raise SampError(f"{one.name} cannot be asked: {said}", hint="is it still there, and the hub?") from error
    finally:
        client.unbind_receive_response(tag)
    raise SampError(f"{one.name} did not answer {mtype} within {seconds:g} seconds", hint="is it busy?")


@contextmanager
def connected(name: str, hub: str | None = None, description: str = "") -> Iterator[Any]:
    """Register with the hub; leave it when the body is done.

    Only this machine can reach what is registered, and it does not tell the variables of its environment, which pyvo
    would.

    Raises
    ------
    SampError
        If there is no hub.
    """
    known = _parameters(_lock_file(hub))
    from pyvo import samp  # noqa: PLC0415 - slow to import, and only needed where there is a hub

    with samp.conf.set_temp("use_internet", False):
        client = samp.SAMPIntegratedClient(name=name, description=description or None, addr=_LOOPBACK)
        try:
            client.connect(hub_params=known)
        except (samp.SAMPHubError, XmlRpcError, OSError) as error:
            raise SampError(f"the hub does not let provenn in: {error}", hint=_HINT) from error
    try:
        client.unbind_receive_call("client.env.get")
        yield client
    finally:
        with suppress(samp.SAMPClientError, samp.SAMPHubError, XmlRpcError, OSError):  # the hub may be gone
            client.disconnect()


def run_hub(hub: str | None, *, ready: Callable[[str], None], wait: Callable[[], None]) -> None:
    """Run a hub for programs of this user on this machine; not for web pages.

    Parameters
    ----------
    hub
        Its lock file; by default where ``SAMP_HUB`` says, or ``~/.samp``.
    ready
        Called with the lock file, once programs can register.
    wait
        Returns when the hub is to end.

    Raises
    ------
    SampError
        If there is a hub already, or the lock file cannot be written.
    """
    lock = _lock_file(hub)
    if _is_there(lock):
        raise SampError(f"there is a hub already: {lock}", hint="use that one")
    from astropy import log  # noqa: PLC0415 - see above
    from pyvo import samp  # noqa: PLC0415

    log.setLevel("WARNING")
    os.environ["SAMP_HUB"] = f"std-lockurl:{lock.absolute().as_uri()}"  # where pyvo puts it
    with samp.conf.set_temp("use_internet", False):
        server = samp.SAMPHubServer(addr=_LOOPBACK, web_profile=False, label="provenn")
        try:
            server.start()
        except OSError as error:
            raise SampError(f"the hub cannot write {lock}: {error.strerror}") from error
    try:
        ready(str(lock))
        wait()
    finally:
        server.stop()


def path_of(url: str) -> Path:
    """Return the file that a URL means.

    Raises
    ------
    SampError
        If it is no file of this machine.
    """
    parts = urlsplit(url)
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"}:
        raise SampError(f"{url} is no file of this machine")
    return Path(url2pathname(parts.path))


def _lock_file(hub: str | None) -> Path:
    if hub is not None:
        return path_of(hub) if hub.startswith("file:") else Path(hub)
    said = os.environ.get("SAMP_HUB")
    if said is None:
        return Path.home() / ".samp"
    kind, _, url = said.partition(":")
    if kind != "std-lockurl":
        raise SampError(f"SAMP_HUB is {said!r}, which is no lock file", hint="std-lockurl:file:///…")
    return path_of(url)


def _parameters(lock: Path) -> dict[str, str]:
    """Return what a lock file says of a hub that is there."""
    try:
        lines = lock.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise SampError(f"there is no SAMP hub: no lock file {lock}", hint=_HINT) from error
    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
    known = {key.strip(): value.strip().replace("\\", "") for key, _, value in pairs}
    try:
        place = urlsplit(known["samp.hub.xmlrpc.url"])
        socket.create_connection((place.hostname or "", place.port or 80), timeout=_PATIENCE).close()
        known["samp.secret"]
    except (KeyError, ValueError) as error:
        raise SampError(f"{lock} is no lock file of a hub", hint=_HINT) from error
    except OSError as error:
        raise SampError(f"the hub of {lock} is not there any more: {error}", hint=_HINT) from error
    return known


def _is_there(lock: Path) -> bool:
    with suppress(SampError):
        return bool(_parameters(lock))
    return False
