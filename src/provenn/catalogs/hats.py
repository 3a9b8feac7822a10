"""Folders in HATS, in which LSDB and others keep large catalogs: Parquet in parts of the sky.

::

    hats.properties                                     what it is (once called properties, or catalog_info.json)
    partition_info.csv                                  which parts there are
    dataset/Norder=1/Dir=0/Npix=17.parquet              a part; or Npix=17/… with several files

What is said in names of folders is where on the sky a part lies. It is no attribute of sources.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any

from provenn.catalogs.file_columns import Column
from provenn.errors import BaseFilesError

__all__ = ["Hats", "hats_at"]

_PROPERTIES = ("hats.properties", "properties", "catalog_info.json")
_COLLECTION = "collection.properties"
_PARTITIONS = "partition_info.csv"
_NO_SOURCES = ("margin", "association", "index", "map")
_PART = re.compile(r"(?:.*/)?Norder=(\d+)/Dir=\d+/Npix=(\d+)(\.parquet|/.*)")


@dataclass(frozen=True, slots=True)
class Hats:
    """A folder in HATS.

    Parameters
    ----------
    folder
        Where it is.
    files
        The glob of its parts.
    rows
        How many rows it has, if it says so.
    parts
        The order and pixel of each part, if it says so.
    position
        The columns that hold right ascension and declination, if it says so.
    """

    folder: str
    files: str
    rows: int | None
    parts: frozenset[tuple[int, int]] | None
    position: tuple[str, str]

    def check(self, names: Iterable[str], rows: int | None) -> None:
        """Make sure that all parts and all rows are there.

        Parameters
        ----------
        names
            The paths of the files, below the folder of the data.
        rows
            How many rows they have together.

        Raises
        ------
        BaseFilesError
            If something is missing.
        """
        found = {(int(match[1]), int(match[2])) for name in names if (match := _PART.fullmatch(name))}
        missing = sorted((self.parts or frozenset()) - found)
        more = sorted(found - (found if self.parts is None else self.parts))
        if missing or more:
            order, pixel = (missing or more)[0]
            what = f"{len(missing):,} of {len(self.parts or ()):,} parts are missing" if missing else "there are others"
            raise BaseFilesError(
                f"{self.folder} is not complete: {what}, such as Norder={order}, Npix={pixel}", hint=_INCOMPLETE
            )
        if self.rows is not None and rows != self.rows:
            raise BaseFilesError(
                f"{self.folder} is not complete: it says that it has {self.rows:,} rows, and its parts have {rows:,}",
                hint=_INCOMPLETE,
            )

    def described(self, columns: Sequence[Column]) -> tuple[Column, ...]:
        """Return columns of which those that hold the position say so."""
        ucds = dict(zip(self.position, ("pos.eq.ra;meta.main", "pos.eq.dec;meta.main"), strict=True))
        return tuple(one if one.ucd else replace(one, ucd=ucds.get(one.name, "")) for one in columns)


_INCOMPLETE = "was it copied completely?"


def hats_at(location: str) -> Hats | None:
    """Look whether a path or URI is a folder in HATS, or a collection of such; None if it is not.

    Raises
    ------
    BaseFilesError
        If it is one whose rows are no sources: a margin, an index.
    """
    folder = location.rstrip("/")
    said = _read(folder, (_COLLECTION,))
    if said is not None:
        primary = _properties(said[1]).get("hats_primary_table_url", "")
        if not re.fullmatch(r"[^/:]+", primary) or primary in (".", ".."):
            raise BaseFilesError(
                f"{location} does not say which of its tables it is about", hint="name the table's folder"
            )
        folder = f"{folder}/{primary}"
    said = _read(folder, _PROPERTIES)
    if said is None:
        return None
    name, text = said
    given = _from_json(text, folder) if name.endswith(".json") else _properties(text)
    kind = given.get("dataproduct_type") or given.get("catalog_type") or ""
    if not kind:
        return None
    if kind in _NO_SOURCES:
        raise BaseFilesError(
            f"{location} is a HATS {kind}, whose rows are no sources of a catalog of its own",
            hint="ingest the catalog to which it belongs",
        )
    rows = given.get("hats_nrows") or given.get("total_rows")
    inside = _existing(folder, "dataset")
    return Hats(
        folder,
        f"{_literal(inside)}/Norder=*/Dir=*/Npix=*",
        int(rows) if rows and rows.isdigit() else None,
        _parts(folder),
        (
            given.get("hats_col_ra") or given.get("ra_column") or "",
            given.get("hats_col_dec") or given.get("dec_column") or "",
        ),
    )


def _parts(folder: str) -> frozenset[tuple[int, int]] | None:
    said = _read(folder, (_PARTITIONS,))
    if said is None:
        return None
    try:
        rows = list(csv.DictReader(StringIO(said[1])))
        return frozenset((int(row["Norder"]), int(row["Npix"])) for row in rows)
    except (KeyError, TypeError, ValueError) as error:
        raise BaseFilesError(f"{folder}/{_PARTITIONS} does not tell which parts there are") from error


def _properties(text: str) -> dict[str, str]:
    """Read properties as Java writes them, of which HATS needs no more than this."""
    pairs = (line.partition("=") for line in text.splitlines() if not line.lstrip().startswith(("#", "!")))
    return {key.strip(): value.strip() for key, equals, value in pairs if equals}


def _from_json(text: str, folder: str) -> dict[str, str]:
    try:
        return {str(key): str(value) for key, value in dict(json.loads(text)).items() if value is not None}
    except (TypeError, ValueError) as error:
        raise BaseFilesError(f"{folder}/catalog_info.json cannot be read: {error}") from error


def _literal(folder: str) -> str:
    """Return a path as part of a glob that means this folder alone."""
    return re.sub(r"([*?\[])", r"[\1]", folder)


def _existing(folder: str, inside: str) -> str:
    """Return where the data lie; in older versions, not in a folder of their own."""
    filesystem, path = _reached(folder)
    there = filesystem.get_file_info(f"{path}/{inside}").type.name == "Directory"
    return f"{folder}/{inside}" if there else folder


def _read(folder: str, names: Collection[str]) -> tuple[str, str] | None:
    """Return the first of some files that is there, and its text."""
    try:
        filesystem, path = _reached(folder)
        for name in names:
            if filesystem.get_file_info(f"{path}/{name}").is_file:
                with filesystem.open_input_stream(f"{path}/{name}", compression=None) as opened:
                    return name, opened.read().decode("utf-8", "replace")
    except (OSError, ValueError):  # whoever lists the files says what is wrong
        return None
    return None


def _reached(folder: str) -> tuple[Any, str]:
    from pyarrow import fs  # noqa: PLC0415 - it takes a while to import, and only files need it

    filesystem, path = fs.FileSystem.from_uri(folder)
    return filesystem, path.rstrip("/")
