"""The small text files of a folder in HATS: properties in the format of Java, the list of parts, checksums.

The names of files and keywords are those of the IVOA note "HATS" and of its library.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from provenn.files.export_notes import FileNotes

__all__ = [
    "CHECKSUMS",
    "COLLECTION",
    "EXTENSION",
    "HEALPIX_COLUMN",
    "HEALPIX_ORDER",
    "PARTITIONS",
    "PROPERTIES",
    "HatsPart",
    "describe_origin",
    "format_checksums",
    "format_partitions",
    "format_properties",
    "make_folder_name",
    "parse_properties",
]

PROPERTIES = ("hats.properties", "properties")
"""The files of properties; older readers know the second name only."""

COLLECTION, PARTITIONS, CHECKSUMS = "collection.properties", "partition_info.csv", "SHA256SUMS"

EXTENSION = "extension.properties"
"""The file by which LSDB loads a layer as an extension of its core."""

HEALPIX_COLUMN, HEALPIX_ORDER = "_healpix_29", 29
"""The column with the cell of the last order that contains the position, and this order."""

_FOLDERS = 10_000
"""How many pixels share a folder ``Dir=``."""


@dataclass(frozen=True, slots=True)
class HatsPart:
    """A part of a folder in HATS.

    Parameters
    ----------
    order, number
        The pixel, in the nested scheme.
    rows
        The number of rows.
    """

    order: int
    number: int
    rows: int

    @property
    def path(self) -> str:
        """The path of the file below ``dataset``.

        >>> HatsPart(6, 23456, 1).path
        'Norder=6/Dir=20000/Npix=23456.parquet'
        """
        return f"Norder={self.order}/Dir={self.number // _FOLDERS * _FOLDERS}/Npix={self.number}.parquet"


def format_properties(properties: Mapping[str, object]) -> str:
    r"""Return properties in the format of Java; values have no line breaks.

    >>> format_properties({"obs_collection": "a\\b", "hats_nrows": 5})
    'obs_collection=a\\\\b\nhats_nrows=5\n'
    """
    return "".join(f"{key}={_escape_value(str(value))}\n" for key, value in properties.items())


def _escape_value(value: str) -> str:
    """Return a value with backslashes doubled and unprintable characters as blanks; a blank at the start is escaped."""
    plain = "".join(letter if letter.isprintable() else " " for letter in value).replace("\\", "\\\\")
    return f"\\{plain}" if plain.startswith(" ") else plain


def parse_properties(text: str) -> dict[str, str]:
    r"""Parse properties in the format of Java, of a property a line.

    >>> parse_properties("#HATS\nhats_col_ra = ra\nhats_creation_date=2026-11-16T07\\:00UTC\ntitle: a\\u00e9")
    {'hats_col_ra': 'ra', 'hats_creation_date': '2026-11-16T07:00UTC', 'title': 'aé'}
    """
    pairs = (_PROPERTY.fullmatch(line) for line in text.splitlines())
    return {_unescape(pair[1]): _unescape(pair[2]) for pair in pairs if pair}


_PROPERTY = re.compile(r"\s*(?![#!])((?:\\.|[^\\=:\s])+)\s*[=:\s]\s*(.*?)\s*")
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def _unescape(text: str) -> str:
    """Return a key or a value without the backslashes before characters with a meaning."""
    return re.sub(r"\\(?:u([0-9A-Fa-f]{4})|(.))", lambda escape: _read_escape(escape[1], escape[2]), text)


def _read_escape(code: str | None, letter: str) -> str:
    return chr(int(code, 16)) if code else _ESCAPES.get(letter, letter)


def format_partitions(parts: Iterable[HatsPart]) -> str:
    r"""Return the list of parts, in CSV.

    >>> format_partitions([HatsPart(1, 17, 5)])
    'Norder,Npix\n1,17\n'
    """
    return "Norder,Npix\n" + "".join(f"{part.order},{part.number}\n" for part in parts)


def format_checksums(digests: Mapping[str, str]) -> str:
    """Return digests by path, as ``sha256sum --check`` reads them."""
    return "".join(f"{digests[path]}  {path}\n" for path in sorted(digests))


def describe_origin(notes: FileNotes) -> dict[str, str]:
    """Return the properties about the origin of the data: builder, catalog, and the catalogs behind it."""
    if not notes.version:
        return {"hats_builder": "provenn"}
    origin = {"hats_builder": f"provenn {notes.version}", "provenn_digest": notes.digest, "provenn_name": notes.name}
    origin |= {
        "obs_description": notes.words,
        "provenn_lineage": " ".join(note.digest for note in notes.lineage[:1000]),
    }
    return {key: text for key, text in origin.items() if text}


def make_folder_name(name: str) -> str:
    """Return a name for a folder of a collection, which other programs list with blanks between names.

    >>> make_folder_name("my stars"), make_folder_name("gaia.dr3"), make_folder_name("…")
    ('my_stars', 'gaia.dr3', 'catalog')
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "catalog"
