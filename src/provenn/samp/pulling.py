"""Request tables from a listening provenn, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from provenn.errors import SampError
from provenn.files.votable_scan import check_votable
from provenn.gate.entrances import entrance
from provenn.samp.hubs import choose_clients, connect_to_hub, convert_url_to_path, request_result
from provenn.samp.listening import PULL

__all__ = ["pull"]

_PATIENCE = 600.0


def pull(
    start_catalog: str,
    query: str = "",
    attributes: Sequence[str] = (),
    *,
    to: str | None = None,
    hub: str | None = None,
    timeout: float = _PATIENCE,
) -> Any:  # noqa: ANN401 - an astropy Table; astropy has no types
    """Request attributes of sources, and return them as an astropy table.

    Parameters
    ----------
    start_catalog
        The catalog whose sources are requested.
    query
        A criterion that selects sources, on any attributes; by default, all sources are returned.
    attributes
        The attributes; by default, all attributes of the catalog. The key is always included.
    to
        The program that should answer, if several listen.
    hub
        The lock file of the hub; by default, the file in ``SAMP_HUB``, or ``~/.samp``.
    timeout
        Seconds to wait.

    Raises
    ------
    SampError
        If no hub is running, no program listens, or the request is refused; the message contains the reason.
    """
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    with connect_to_hub("provenn pull", hub) as client:
        listeners = choose_clients(client, PULL, to)
        if len(listeners) > 1:
            raise SampError(
                f"{len(listeners)} clients answer {PULL}",
                hint=f"name one: {', '.join(listener.id for listener in listeners)}",
            )
        request = {"start_catalog": start_catalog, "query": query, "attributes": names}
        result = request_result(client, listeners[0], PULL, timeout, request)
    return _read_table(convert_url_to_path(str(result.get("url"))))


@entrance("table of another program", "expansion", "types")
def _read_table(path: Path) -> Any:  # noqa: ANN401 - as above
    """Return the table in a VOTable file, after a check of the file."""
    from astropy.table import Table  # noqa: PLC0415 - slow to import

    try:
        with path.open("rb") as file:
            check_votable(
                file, str(path), packed=path.stat().st_size
            )  # before astropy reads the file, because astropy would follow links
    except OSError as error:
        raise SampError(f"{path} cannot be read: {error.strerror or error}") from error
    return Table.read(path, format="votable")
