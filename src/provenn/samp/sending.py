"""Sending tables to other programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from provenn.archive import Catalog, Target
from provenn.errors import FormatError, SampError, did_you_mean
from provenn.samp.hubs import asked, chosen, connected
from provenn.samp.places import new_file

__all__ = ["Delivery", "Format", "send"]

Format = Literal["votable", "fits"]
_SUFFIXES = {"votable": ".vot", "fits": ".fits"}
_PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of a table that was sent.

    Parameters
    ----------
    client, name
        Whom it was sent to: what the hub calls it, and what it calls itself.
    url
        Where the table is, for a day.
    rows
        How many sources it has.
    problem
        What the other side says is wrong; None if it has the table.
    """

    client: str
    name: str
    url: str
    rows: int
    problem: str | None = None


def send(
    data: Catalog | Target,
    to: str | None = None,
    *,
    format: Format = "votable",  # noqa: A002 - as for write
    hub: str | None = None,
    timeout: float = _PATIENCE,
) -> list[Delivery]:
    """Compute a catalog or a target, and have it loaded by another program, or by all on the hub that load tables.

    Nothing is computed unless somebody takes it.

    Parameters
    ----------
    data
        What to send.
    to
        Who gets it: a name such as ``"topcat"``, or what the hub calls it; by default all.
    format
        ``"votable"`` or ``"fits"``.
    hub
        The lock file of the hub; by default where ``SAMP_HUB`` says, or ``~/.samp``.
    timeout
        Seconds to wait for each of them to have loaded it.

    Raises
    ------
    SampError
        If there is no hub, nobody takes it, or nobody could load it.
    """
    if format not in get_args(Format):
        known = get_args(Format)
        raise FormatError(f"{format!r} cannot be sent", hint=did_you_mean(format, known) or f"{' or '.join(known)} can")
    mtype = f"table.load.{format}"
    called = data.name if isinstance(data, Catalog) else data.request.called
    with connected("provenn", hub, "Catalogs that know what they hold") as client:
        receivers = chosen(client, mtype, to)
        file = new_file(_SUFFIXES[format])
        written = data.write(file, format=format)
        url = file.absolute().as_uri()
        message = {"url": url, "name": called, "table-id": f"provenn:{file.stem}"}
        deliveries = []
        for one in receivers:
            problem = None
            try:
                asked(client, one, mtype, timeout, message)
            except SampError as error:
                problem = error.message
            deliveries.append(Delivery(one.id, one.name, url, written.rows, problem))
    problems = [one.problem for one in deliveries if one.problem is not None]
    if len(problems) == len(deliveries):
        raise SampError("; ".join(problems), hint="try --format fits or votable, whichever it was not")
    return deliveries
