"""The other end of the pull side, for notebooks: ask a provenn that listens, and have the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from provenn.errors import SampError
from provenn.samp.hubs import asked, chosen, connected, path_of
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
    """Ask for attributes of sources, and return them as a table of astropy.

    Parameters
    ----------
    start_catalog
        The catalog whose sources are meant.
    query
        A criterion on them, on any attributes; by default all of them.
    attributes
        The attributes; by default all that the catalog has. The key comes with them.
    to
        Who is asked, if several listen.
    hub
        The lock file of the hub; by default where ``SAMP_HUB`` says, or ``~/.samp``.
    timeout
        Seconds to wait.

    Raises
    ------
    SampError
        If there is no hub, nobody listens, or the request cannot be answered: it says why.
    """
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    with connected("provenn pull", hub) as client:
        able = chosen(client, PULL, to)
        if len(able) > 1:
            raise SampError(f"{len(able)} answer {PULL}", hint=f"name one: {', '.join(one.id for one in able)}")
        request = {"start_catalog": start_catalog, "query": query, "attributes": names}
        result = asked(client, able[0], PULL, timeout, request)
    from astropy.table import Table  # noqa: PLC0415 - slow to import

    return Table.read(path_of(str(result.get("url"))), format="votable")
