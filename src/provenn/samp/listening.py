"""Answer pull requests: programs request attributes of sources, and receive the computed table."""

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
from provenn.files.suffixes import choose_suffix
from provenn.gate.entrances import entrance
from provenn.samp.hubs import connect_to_hub
from provenn.samp.places import make_file_path

__all__ = ["PULL", "Pulled", "listen"]

PULL: Final = "catalog.pull"
"""The message that requests attributes of sources: ``start_catalog``, ``query``, ``attributes``."""

_WAITING: Final = 100
"""The maximum number of waiting requests."""
_PATIENCE: Final = 3.0
"""Seconds after which provenn checks whether the hub is still running."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """A request of another program, with the outcome.

    Parameters
    ----------
    sender
        The identifier of the other program on the hub.
    asked
        The request in words.
    url, rows
        The location of the table, which is kept for a day, and the number of sources; None without a table.
    problem
        The reason for a refusal; None for an answered request.
    """

    sender: str
    asked: str
    url: str | None = None
    rows: int | None = None
    problem: ProvennError | None = None


@dataclass(frozen=True, slots=True)
class _Call:
    """A received request."""

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
    """Answer ``catalog.pull`` requests, one at a time, until the hub ends or the process is interrupted.

    Every program on the hub can request all data of the archive: a hub serves the programs of its own user.

    Parameters
    ----------
    archive
        The archive that answers the requests.
    hub
        The lock file of the hub; by default, the file in ``SAMP_HUB``, or ``~/.samp``.
    ready
        A function that is called with provenn's identifier on the hub once provenn accepts requests.
    told
        A function that is called with every request after its answer.

    Raises
    ------
    SampError
        If no hub is running, or the hub ends unexpectedly.
    """
    waiting: Queue[_Call | None] = Queue(_WAITING)
    with connect_to_hub(
        "provenn", hub, f"Answers {PULL}: attributes of sources, computed with the least work"
    ) as client:

        def receive_call(_key: str, sender: str, message: str, _mtype: str, params: Any, _more: Any) -> None:  # noqa: ANN401
            try:
                waiting.put_nowait(_Call(sender, message, params if isinstance(params, Mapping) else {}))
            except Full:
                _refuse(client, message, SampError("too many requests are waiting for provenn", hint="try again later"))

        def receive_shutdown(_key: str, _sender: str, _mtype: str, _params: Any, _more: Any) -> None:  # noqa: ANN401
            with suppress(Full):
                waiting.put_nowait(None)

        client.bind_receive_call(PULL, receive_call)
        client.bind_receive_notification("samp.hub.event.shutdown", receive_shutdown)
        ready(client.get_public_id())
        try:
            while (call := _wait_for_call(client, waiting)) is not None:
                told(_answer_call(archive, client, call))
        finally:
            _refuse_all(client, waiting)


def _wait_for_call(client: Any, waiting: Queue[_Call | None]) -> _Call | None:  # noqa: ANN401 - pyvo has no types
    """Return the next request; None when the hub shuts down."""
    while True:
        try:
            return waiting.get(timeout=_PATIENCE)
        except Empty:
            try:
                client.ping()
            except (XmlRpcError, OSError) as error:
                raise SampError(
                    f"the hub is gone: {error}", hint="start it again, then run: provenn samp listen"
                ) from error


def _answer_call(archive: Archive, client: Any, call: _Call) -> Pulled:  # noqa: ANN401 - as above
    """Compute the requested table, reply to the sender, and return the outcome."""
    words = [f"{key}={call.params[key]}" for key in ("start_catalog", "query", "attributes") if call.params.get(key)]
    request = ", ".join(words)
    try:
        data = _read_request(archive, call.params)
        file = make_file_path(choose_suffix("votable"))
        written = data.write(file, format="votable")
        url = file.absolute().as_uri()
        columns = [column.name for column in data.plan().columns]
        result = {"url": url, "table-id": f"provenn:{file.stem}", "format": "votable"}
        _reply(
            client,
            call.message,
            {"samp.status": "samp.ok", "samp.result": result | {"rows": str(written.rows), "attributes": columns}},
        )
        return Pulled(call.sender, request, url, written.rows)
    except ProvennError as error:
        _refuse(client, call.message, error)
        return Pulled(call.sender, request, problem=error)
    except BaseException as error:
        _refuse(client, call.message, SampError(f"provenn could not answer: {error or type(error).__name__}"))
        raise


@entrance("request of another program", "types", "criteria")
def _read_request(archive: Archive, params: Mapping[str, Any]) -> Catalog | Target:
    """Return the catalog or target that a request describes."""
    start, query, names = (params.get(key) or "" for key in ("start_catalog", "query", "attributes"))
    attributes = split_commas(names) if isinstance(names, str) else list(names)
    attributes = [name for name in attributes if name]
    if (
        not isinstance(start, str)
        or not isinstance(query, str)
        or not all(isinstance(name, str) for name in attributes)
    ):
        raise TargetError("start_catalog and query are texts, attributes a list of texts")
    if not start:
        raise TargetError(f"{PULL} needs a start_catalog", hint="the catalog whose sources are requested")
    catalog = archive.catalog(start)
    if not attributes and not query.strip():
        return catalog
    return archive.target(start, attributes or catalog.attributes, where=query.strip() or None)


def _refuse(client: Any, message: str, error: ProvennError) -> None:  # noqa: ANN401 - as above
    """Reply with an error."""
    hint = str(error.hint)  # XML-RPC writes plain text, and no kind of text
    details = {"samp.errortxt": error.message, "samp.debugtxt": hint, "samp.code": type(error).__name__}
    _reply(client, message, {"samp.status": "samp.error", "samp.error": details})


def _refuse_all(client: Any, waiting: Queue[_Call | None]) -> None:  # noqa: ANN401 - as above
    """Reply with an error to all waiting requests."""
    with suppress(Empty):
        while True:
            call = waiting.get_nowait()
            if call is not None:
                _refuse(client, call.message, SampError("provenn has left the hub"))


def _reply(client: Any, message: str, answer: dict[str, Any]) -> None:  # noqa: ANN401 - as above
    """Send a reply; ignore a sender or hub that has left."""
    with suppress(XmlRpcError, OSError):  # the sender no longer waits, or the hub has ended
        client.reply(message, answer)
