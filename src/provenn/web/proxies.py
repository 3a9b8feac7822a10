"""The origin of a request through proxies: only the headers of named proxies are believed.

A proxy appends the address of its client on the right of ``X-Forwarded-For``. So a named proxy wrote the right end, and
all addresses invented by a client are further left: the client is the rightmost address that is no named proxy. These
headers are removed from the requests of all other peers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from provenn.errors import ServerError
from provenn.web.forwarding import Hop, read_forwarded, read_hops

__all__ = ["Proxies", "ThroughProxies", "find_address", "make_address_key", "read_proxies"]

Network = IPv4Network | IPv6Network
Header = tuple[bytes, bytes]

_TRACES: Final = frozenset(
    {
        b"forwarded",
        b"x-forwarded-for",
        b"x-forwarded-proto",
        b"x-forwarded-host",
        b"x-forwarded-port",
        b"x-forwarded-prefix",
        b"x-forwarded-server",
        b"x-real-ip",
    }
)
"""The headers in which proxies report their clients."""


@dataclass(frozen=True, slots=True)
class Proxies:
    """The trusted proxies.

    Parameters
    ----------
    networks
        The addresses of the proxies.
    user_header
        The header, in lower case, in which the proxies name the authenticated person; None if they name no person.
    """

    networks: tuple[Network, ...] = ()
    user_header: str | None = None

    def trusts(self, host: str) -> bool:
        """Return whether an address belongs to a proxy."""
        address = _parse_address(host)
        return address is not None and any(address in network for network in self.networks)

    def find_client(self, chain: Sequence[Hop], peer: str) -> Hop | None:
        """Return the hop of the client: the rightmost hop that is no proxy; None if no hop has an address.

        Parameters
        ----------
        chain
            The hops that the proxies report, the nearest last.
        peer
            The address of the direct sender of the request.
        """
        if not self.trusts(peer):
            return None
        client = None
        for hop in reversed(chain):
            if _parse_address(hop.address) is None:
                break  # the origin beyond the last known proxy is unknown
            client = hop
            if not self.trusts(hop.address):
                break
        return client


@dataclass(slots=True)
class ThroughProxies:
    """Gives requests the address, scheme and host reported by named proxies, and ignores the reports of other peers.

    Parameters
    ----------
    app
        The application that answers.
    proxies
        The named proxies.
    """

    app: ASGIApp
    proxies: Proxies = field(default_factory=Proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            scope = self._restore_scope(scope)
        await self.app(scope, receive, send)

    def _restore_scope(self, scope: Scope) -> Scope:
        headers: list[Header] = scope["headers"]
        peer = scope["client"][0] if scope.get("client") else ""
        user = None if self.proxies.user_header is None else self.proxies.user_header.encode("latin-1")
        kept = [(name, value) for name, value in headers if name not in _TRACES and name != user]
        if not self.proxies.trusts(peer):
            return {**scope, "headers": kept}
        original = {**scope, "headers": kept}
        if user is not None:
            original["provenn.user"] = [_decode_header(value) for name, value in headers if name == user]
        client = self._read_client(headers, peer)
        if client is None:
            return original
        original["client"] = (client.address, 0)
        if client.scheme is not None:
            original["scheme"] = client.scheme
        if client.host is not None:
            host = client.host.encode("latin-1")
            original["headers"] = [(b"host", host), *((name, value) for name, value in kept if name != b"host")]
        return original

    def _read_client(self, headers: Iterable[Header], peer: str) -> Hop | None:
        """Return the client that the headers report; None if the two kinds of headers contradict each other.

        A proxy writes one kind, and passes on the other kind as a client may have invented it.
        """
        texts: dict[bytes, list[str]] = {}
        for name, value in headers:
            texts.setdefault(name, []).append(value.decode("latin-1"))
        chains = [
            read_hops(*(texts.get(f"x-forwarded-{part}".encode(), []) for part in ("for", "proto", "host"))),
            read_forwarded(texts.get(b"forwarded", [])),
        ]
        if not any(chains):
            chains = [read_hops([peer], texts.get(b"x-forwarded-proto", []), texts.get(b"x-forwarded-host", []))]
        clients = [self.proxies.find_client(chain, peer) for chain in chains if chain]
        is_unanimous = len({None if client is None else make_address_key(client.address) for client in clients}) == 1
        return clients[0] if is_unanimous else None


def read_proxies(addresses: Sequence[str], user_header: str | None = None) -> Proxies:
    """Return the proxies at the given addresses or networks.

    >>> read_proxies(["127.0.0.1", "10.0.0.0/8", "[::1]"]).trusts("::ffff:10.1.2.3")
    True

    Raises
    ------
    ServerError
        If a text is neither an address nor a network; or `user_header` is invalid, or given without proxies.
    """
    networks: list[Network] = []
    for text in addresses:
        try:
            networks.append(ip_network(text.strip().removeprefix("[").removesuffix("]"), strict=False))
        except ValueError as error:
            raise ServerError(
                f"the proxy {text!r} is neither an address nor a network",
                hint="for example --proxy 192.0.2.7, --proxy 10.0.0.0/24 or --proxy ::1",
            ) from error
        if not networks[-1].prefixlen:
            raise ServerError(f"the proxy {text!r} would trust everyone", hint="name the addresses of your proxies")
    if user_header is None:
        return Proxies(tuple(networks))
    name = user_header.strip().lower()
    if not name or not name.isascii() or not name.replace("-", "").isalnum() or name.encode() in _TRACES | _OURS:
        raise ServerError(f"{user_header!r} cannot be the name of a header", hint="for example X-Remote-User")
    if not networks:
        raise ServerError(
            "only a trusted proxy may name the person",
            hint="name its address: --proxy 127.0.0.1 --user-header X-Remote-User",
        )
    return Proxies(tuple(networks), name)


_OURS: Final = frozenset(
    {b"authorization", b"cookie", b"host", b"origin", b"content-type", b"content-length", b"x-provenn-form"}
)


def find_address(request: HTTPConnection) -> str:
    """Return the address of the client of a request."""
    return request.client.host if request.client else "nowhere"


def make_address_key(host: str) -> str:
    """Return the key for all clients at an address: for IPv6 the network of 64 bits, which one machine may own.

    >>> make_address_key("::ffff:192.0.2.7"), make_address_key("2001:db8::1"), make_address_key("nowhere")
    ('192.0.2.7', '2001:db8::/64', 'nowhere')
    """
    address = _parse_address(host)
    if address is None:
        return host
    return str(address) if address.version == 4 else str(ip_network((address, 64), strict=False))


def _decode_header(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _parse_address(host: str) -> IPv4Address | IPv6Address | None:
    """Parse an address; an IPv4 address mapped into IPv6 becomes IPv4, and an invalid text None."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
