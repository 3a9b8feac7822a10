"""The pull side: other programs ask for attributes of sources, the target runs, the table comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Full, Queue
from typing import Any, Final
from xmlrpc.client import Error as XmlRpcError

from provenn.archive import Archive, Catalog, Target
from provenn.criteria import split_commas
from provenn.errors import ProvennError, SampError, TargetError
from provenn.samp.hubs import connected
from provenn.samp.places import new_file

__all__ = ["PULL", "Pulled", "listen"]

PULL: Final = "catalog.pull"
"""The message that asks for attributes of sources: ``start_catalog``, ``query``, ``attributes``."""

_WAITING: Final = 100
"""How many may wait for their turn."""
_PATIENCE: Final = 3.0
"""Seconds after which it is seen whether the hub is still there."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """A request by another program, and what became of it.

    Parameters
    ----------
    sender
        What the hub calls the other program.
    asked
        What it asked for.
    url, rows
        Where the table is, for a day, and how many sources it has; None if there is none.
    problem
        What is wrong; None if there is a table.
    """

    sender: str
    asked: str
    url: str | None = None
    rows: int | None = None
    problem: ProvennError | None = None


@dataclass(frozen=True, slots=True)
class _Call:
    sender: str
    message: str
    params: Mapping[str, Any]


def listen(
    archive: Archive,
    *,
    hub: str | None = None,
    ready: Callable[[str], None] = lambda _: None,
    told: Callable[[Pulled], None] = lambda _: None,
) -> None:
    """Answer ``catalog.pull`` until the hub ends or this is interrupted; one request at a time.

    Whoever is on the hub can ask for all that the archive holds: on a hub are programs of the user who runs it.

    Parameters
    ----------
    archive
        What may be asked for.
    hub
        The lock file of the hub; by default where ``SAMP_HUB`` says, or ``~/.samp``.
    ready
        Called with what the hub calls provenn, once it can be asked.
    told
        Called with each request that was answered.

    Raises
    ------
    SampError
        If there is no hub, or not any more.
    """
    waiting: Queue[_Call | None] = Queue(_WAITING)
    with connected("provenn", hub, f"Answers {PULL}: attributes of sources, computed with the least work") as client:

        def asked(_key: str, sender: str, message: str, _mtype: str, params: Any, _more: Any) -> None:  # noqa: ANN401
            try:
                waiting.put_nowait(_Call(sender, message, params if isinstance(params, Mapping) else {}))
            except Full:
                _refuse(client, message, SampError("too many wait for provenn", hint="try again later"))

        def ended(_key: str, _sender: str, _mtype: str, _params: Any, _more: Any) -> None:  # noqa: ANN401
            with suppress(Full):
                waiting.put_nowait(None)

        client.bind_receive_call(PULL, asked)
        client.bind_receive_notification("samp.hub.event.shutdown", ended)
        ready(client.get_public_id())
        try:
            while (call := _next(client, waiting)) is not None:
                told(_answered(archive, client, call))
        finally:
            _refuse_all(client, waiting)


def _next(client: Any, waiting: Queue[_Call | None]) -> _Call | None:  # noqa: ANN401 - pyvo has no types
    while True:
        try:
            return waiting.get(timeout=_PATIENCE)
        except Empty:
            try:
                client.ping()
            except (XmlRpcError, OSError) as error:
                raise SampError(f"the hub is gone: {error}", hint="start it again, then provenn samp listen") from error


def _answered(archive: Archive, client: Any, call: _Call) -> Pulled:  # noqa: ANN401 - as above
    words = [f"{key}={call.params[key]}" for key in ("start_catalog", "query", "attributes") if call.params.get(key)]
    asked = ", ".join(words)
    try:
        data = _requested(archive, call.params)
        file = new_file(".vot")
        written = data.write(file, format="votable")
        url = file.absolute().as_uri()
        columns = [one.name for one in data.plan().columns]
        result = {"url": url, "table-id": f"provenn:{file.stem}", "format": "votable"}
        _reply(
            client,
            call.message,
            {"samp.status": "samp.ok", "samp.result": result | {"rows": str(written.rows), "attributes": columns}},
        )
        return Pulled(call.sender, asked, url, written.rows)
    except ProvennError as error:
        _refuse(client, call.message, error)
        return Pulled(call.sender, asked, problem=error)
    except BaseException as error:
        _refuse(client, call.message, SampError(f"provenn could not answer: {error or type(error).__name__}"))
        raise


def _requested(archive: Archive, params: Mapping[str, Any]) -> Catalog | Target:
    """Return the catalog, or the target, that a request is about."""
    start, query, names = (params.get(key) or "" for key in ("start_catalog", "query", "attributes"))
    attributes = split_commas(names) if isinstance(names, str) else list(names)
    attributes = [name for name in attributes if name]
    if not isinstance(start, str) or not isinstance(query, str) or not all(isinstance(one, str) for one in attributes):
        raise TargetError("start_catalog and query are texts, attributes a list of texts")
    if not start:
        raise TargetError(f"{PULL} needs a start_catalog", hint="the catalog whose sources are meant")
    catalog = archive.catalog(start)
    if not attributes and not query.strip():
        return catalog
    return archive.target(start, attributes or catalog.attributes, where=query.strip() or None)


def _refuse(client: Any, message: str, error: ProvennError) -> None:  # noqa: ANN401 - as above
    said = {"samp.errortxt": error.message, "samp.debugtxt": error.hint, "samp.code": type(error).__name__}
    _reply(client, message, {"samp.status": "samp.error", "samp.error": said})


def _refuse_all(client: Any, waiting: Queue[_Call | None]) -> None:  # noqa: ANN401 - as above
    with suppress(Empty):
        while True:
            call = waiting.get_nowait()
            if call is not None:
                _refuse(client, call.message, SampError("provenn has left the hub"))


def _reply(client: Any, message: str, answer: dict[str, Any]) -> None:  # noqa: ANN401 - as above
    with suppress(XmlRpcError, OSError):  # who asked does not wait any more, or the hub is gone
        client.reply(message, answer)
