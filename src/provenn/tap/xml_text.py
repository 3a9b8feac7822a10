"""XML of the Virtual Observatory: elements from plain values, and texts that XML allows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape, quoteattr

__all__ = ["NAMESPACES", "add_element", "clean_text", "format_error", "serialise"]

NAMESPACES: Final[Mapping[str, str]] = {
    "uws": "http://www.ivoa.net/xml/UWS/v1.0",
    "xlink": "http://www.w3.org/1999/xlink",
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "vosi": "http://www.ivoa.net/xml/VOSICapabilities/v1.0",
    "vr": "http://www.ivoa.net/xml/VOResource/v1.0",
    "vs": "http://www.ivoa.net/xml/VODataService/v1.1",
    "tr": "http://www.ivoa.net/xml/TAPRegExt/v1.0",
    "vosit": "http://www.ivoa.net/xml/VOSITables/v1.0",
    "avail": "http://www.ivoa.net/xml/VOSIAvailability/v1.0",
}
"""The namespaces of the documents, by their prefixes."""

_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean_text(text: str) -> str:
    r"""Return a text with a question mark for each character that XML does not allow.

    >>> clean_text("a\x00b")
    'a?b'
    """
    return _FORBIDDEN.sub("?", text)


def add_element(
    parent: ET.Element, tag: str, text: str | None = None, attributes: Mapping[str, str] | None = None
) -> ET.Element:
    """Add an element to another, and return it; tags and attributes are written with prefixes of `NAMESPACES`."""
    names = {name: clean_text(value) for name, value in (attributes or {}).items()}
    element = ET.SubElement(parent, tag, names)
    if text is not None:
        element.text = clean_text(text)
    return element


def serialise(root: ET.Element, *prefixes: str) -> bytes:
    """Return a document; the root declares the namespaces of some prefixes."""
    for prefix in prefixes:
        root.set(f"xmlns:{prefix}", NAMESPACES[prefix])
    text: str = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode()


def format_error(message: str) -> bytes:
    """Return the VOTable that reports an error, as DALI and the cone search demand.

    >>> b'value="ERROR"' in format_error("no table <x>")
    True
    """
    text = escape(clean_text(message))
    line = quoteattr(clean_text(" ".join(message.split())))
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">\n<RESOURCE type="results">\n'
        f"<INFO name={quoteattr('QUERY_STATUS')} value={quoteattr('ERROR')}>{text}</INFO>\n"
        f'<INFO ID="Error" name="Error" value={line}/>\n'
        "</RESOURCE>\n</VOTABLE>\n"
    ).encode()
