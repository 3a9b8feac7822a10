"""DataLink: from the rows of an answer to the lineage and the provenance of their catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import quoteattr

import pyarrow as pa

from provenn.tap.votable_writing import VOTableNotes, format_votable

__all__ = ["Link", "format_links", "format_service"]

_COLUMNS: Final = (
    ("ID", "meta.id;meta.main"),
    ("access_url", "meta.ref.url"),
    ("service_def", "meta.ref"),
    ("error_message", "meta.code.error"),
    ("description", "meta.note"),
    ("semantics", "meta.code"),
    ("content_type", "meta.code.mime"),
    ("content_length", "phys.size;meta.file"),
)


@dataclass(frozen=True, slots=True)
class Link:
    """A link from a catalog.

    Parameters
    ----------
    identifier
        The digest of the catalog.
    address
        Where the link leads; empty if there is an error.
    description, semantics, content_type
        What lies there, in words; its relation to the catalog; its media type.
    error
        Why there is no link.
    """

    identifier: str
    address: str = ""
    description: str = ""
    semantics: str = "#this"
    content_type: str = ""
    error: str = ""


def format_links(links: Sequence[Link]) -> bytes:
    """Return links as a VOTable."""
    rows = [
        {
            "ID": link.identifier,
            "access_url": link.address or None,
            "service_def": None,
            "error_message": link.error or None,
            "description": link.description or None,
            "semantics": link.semantics,
            "content_type": link.content_type or None,
            "content_length": None,
        }
        for link in links
    ]
    fields = [
        pa.field(name, pa.int64() if name == "content_length" else pa.string(), metadata=_note(name, ucd))
        for name, ucd in _COLUMNS
    ]
    infos = [("standardID", "ivo://ivoa.net/std/DataLink#links-1.1")]
    return format_votable(pa.Table.from_pylist(rows, pa.schema(fields)), VOTableNotes(infos))


def format_service(address: str, digest: str) -> str:
    """Return the description of the link service for a catalog, as XML to be put into a VOTable."""
    return (
        '<RESOURCE type="meta" utype="adhoc:service" name="lineage">\n'
        "<DESCRIPTION>Lineage and provenance of the catalog of these rows</DESCRIPTION>\n"
        '<PARAM name="standardID" datatype="char" arraysize="*" value="ivo://ivoa.net/std/DataLink#links-1.1"/>\n'
        f'<PARAM name="accessURL" datatype="char" arraysize="*" value={quoteattr(address)}/>\n'
        '<GROUP name="inputParams">\n'
        f'<PARAM name="ID" datatype="char" arraysize="*" value={quoteattr(digest)}/>\n'
        "</GROUP>\n</RESOURCE>\n"
    )


def _note(name: str, ucd: str) -> dict[str, str]:
    return {"ucd": ucd, **({"unit": "byte"} if name == "content_length" else {})}
