"""Parser of the proxy headers ``X-Forwarded-…`` and ``Forwarded`` (RFC 7239) into hops. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Hop", "read_forwarded", "read_hops"]

_HOST: Final = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_PAIR: Final = re.compile(r'\s*([A-Za-z]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))\s*')
_WITH_PORT: Final = re.compile(r"(?:\[([^\]]*)\]|([0-9.]+))(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Hop:
    """The client of a proxy, as the proxy reports it.

    Parameters
    ----------
    address
        The address of the client; a text that is no address if the proxy hides it.
    scheme, host
        The scheme ("http" or "https") and the host of the request; None if the proxy reports none, or an invalid one.
    """

    address: str
    scheme: str | None = None
    host: str | None = None


def read_hops(addresses: Sequence[str], schemes: Sequence[str], hosts: Sequence[str]) -> tuple[Hop, ...]:
    """Return the hops of all values of the headers ``X-Forwarded-For``, ``-Proto`` and ``-Host``.

    Schemes and hosts are paired with the addresses from the right; if they are fewer, the leftmost is repeated.

    >>> read_hops(["192.0.2.1, 192.0.2.2:80", "[2001:db8::1]:443"], ["https"], [])[-1]
    Hop(address='2001:db8::1', scheme='https', host=None)
    """
    chain = [_strip_port(text) for text in _split_values(addresses)]
    kinds, names = _split_values(schemes), _split_values(hosts)
    hops = [
        Hop(address, _check_scheme(_pick_from_right(kinds, back)), _check_host(_pick_from_right(names, back)))
        for back, address in enumerate(chain[::-1])
    ]
    return tuple(hops[::-1])


def read_forwarded(values: Sequence[str]) -> tuple[Hop, ...]:
    """Return the hops of the header ``Forwarded``.

    >>> read_forwarded(['for=192.0.2.60;proto=https, for="[2001:db8::7]:47011"'])[1].address
    '2001:db8::7'
    """
    text = ",".join(values)
    if re.sub(r"\\.", "", text).count('"') % 2:
        return (Hop(""),)  # a client opened a quote to swallow the values that the proxies add
    hops = []
    for element in _split_elements(text):
        pairs = {name.lower(): quoted or plain for name, quoted, plain in _PAIR.findall(element)}
        hops.append(
            Hop(_strip_port(pairs.get("for", "")), _check_scheme(pairs.get("proto")), _check_host(pairs.get("host")))
        )
    return tuple(hops)


def _split_elements(text: str) -> list[str]:
    """Return the parts of a text between commas outside quotes."""
    parts = re.findall(r'(?:"(?:[^"\\]|\\.)*"|[^,"])+', text)
    return [part for part in parts if part.strip()]


def _split_values(values: Sequence[str]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def _pick_from_right(texts: Sequence[str], back: int) -> str | None:
    return texts[max(0, len(texts) - 1 - back)] if texts else None


def _strip_port(text: str) -> str:
    match = _WITH_PORT.fullmatch(text)
    return text if match is None else match[1] or match[2] or ""


def _check_scheme(text: str | None) -> str | None:
    return text.lower() if text is not None and text.lower() in ("http", "https") else None


def _check_host(text: str | None) -> str | None:
    return text if text is not None and _HOST.fullmatch(text) else None
