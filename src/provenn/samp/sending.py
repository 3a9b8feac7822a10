"""Send tables to programs on the hub."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from provenn.archive import Catalog, Target
from provenn.errors import FormatError, SampError, did_you_mean
from provenn.files.suffixes import choose_suffix
from provenn.hints import Hint
from provenn.samp.hubs import choose_clients, connect_to_hub, request_result
from provenn.samp.places import make_file_path

__all__ = ["Delivery", "Format", "send"]

Format = Literal["votable", "fits"]
_PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """The outcome of sending a table.

    Parameters
    ----------
    client, name
        The receiver: its identifier on the hub, and its own name.
    url
        The location of the table, which is kept for a day.
    rows
        The number of sources in the table.
    problem
        The receiver's reason for a refusal; None if the receiver loaded the table.
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
    """Compute a catalog or a target, and send it to a program on the hub, or to all programs that load tables.

    Nothing is computed unless a program accepts the table.

    Parameters
    ----------
    data
        The catalog or target.
    to
        The receiver: a name such as ``"topcat"``, or an identifier on the hub; by default, all programs.
    format
        ``"votable"`` or ``"fits"``.
    hub
        The lock file of the hub; by default, the file in ``SAMP_HUB``, or ``~/.samp``.
    timeout
        Seconds to wait for each receiver to load the table.

    Raises
    ------
    SampError
        If no hub is running, or no program accepts or loads the table.
    """
    if format not in get_args(Format):
        known = get_args(Format)
        raise FormatError(f"{format!r} cannot be sent", hint=did_you_mean(format, known) or f"{' or '.join(known)} can")
    mtype = f"table.load.{format}"
    table_name = data.name if isinstance(data, Catalog) else data.request.sources_name
    with connect_to_hub("provenn", hub, "Catalogs that know what they hold") as client:
        receivers = choose_clients(client, mtype, to)
        file = make_file_path(choose_suffix(format))
        written = data.write(file, format=format)
        url = file.absolute().as_uri()
        message = {"url": url, "name": table_name, "table-id": f"provenn:{file.stem}"}
        deliveries = []
        for receiver in receivers:
            problem = None
            try:
                request_result(client, receiver, mtype, timeout, message)
            except SampError as error:
                problem = error.message
            deliveries.append(Delivery(receiver.id, receiver.name, url, written.rows, problem))
    problems = [delivery.problem for delivery in deliveries if delivery.problem is not None]
    if len(problems) == len(deliveries):
        raise SampError(
            "; ".join(problems),
            hint=Hint(
                'try the other format, "fits" or "votable"', command="try the other format: --format fits or votable"
            ),
        )
    return deliveries
