"""The open connections of a server, limited in total and per client address."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from provenn.web.proxies import Proxies, make_address_key

__all__ = ["Connection", "ConnectionLimits", "Connections"]


class Connection(Protocol):
    """The methods of an open connection used by `Connections`."""

    def is_idle(self) -> bool:
        """Return whether the connection answers no request now."""

    def drop(self) -> None:
        """Close the connection at once."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits on the number of connections, and on the time that a client may leave a connection unused.

    Parameters
    ----------
    most, per_client
        The number of connections in total, and per client address. A named proxy may use all of them.
    seconds
        The time limit in seconds for a handshake, and for the arrival of the head of a request.
    """

    most: int = 1000
    per_client: int = 250
    seconds: float = 20.0


@dataclass(slots=True)
class Connections:
    """The open connections.

    When the limit is reached, the address with the most connections makes room for an address with fewer: its oldest
    idle connection is dropped.

    Parameters
    ----------
    limits
        The limits on connections.
    proxies
        The proxies, whose addresses may have any number of connections.
    """

    limits: ConnectionLimits
    proxies: Proxies = field(default_factory=Proxies)
    _open: dict[Connection, str] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)

    def admit(self, connection: Connection, host: str) -> str | None:
        """Add a connection from an address; return the reason for a refusal, or None if the connection was added."""
        key = make_address_key(host)
        if self._counts[key] >= self.limits.per_client and not self.proxies.trusts(host):
            return f"{self.limits.per_client} connections are open from this address, which is the limit"
        if len(self._open) >= self.limits.most and not self._make_room(key):
            return f"{self.limits.most} connections are open, which is the limit of the server"
        self._open[connection] = key
        self._counts[key] += 1
        return None

    def leave(self, connection: Connection) -> None:
        """Forget a connection."""
        key = self._open.pop(connection, None)
        if key is not None:
            self._counts = self._counts - Counter([key])

    def _make_room(self, newcomer: str) -> bool:
        for key, count in self._counts.most_common():
            if count <= self._counts[newcomer] + 1:
                return False
            for connection, owner in self._open.items():
                if owner == key and connection.is_idle():
                    self.leave(connection)
                    connection.drop()
                    return True
        return False

    def __len__(self) -> int:
        return len(self._open)
