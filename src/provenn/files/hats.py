"""Folders in HATS, the format of LSDB and other programs for large catalogs: Parquet in parts of the sky.

::

    hats.properties                                     kind and columns (older: properties, or catalog_info.json)
    partition_info.csv                                  the list of parts
    dataset/Norder=1/Dir=0/Npix=17.parquet              a part; or Npix=17/… with several files

The names of folders give the place of a part on the sky. This is no attribute of sources.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any

from provenn.digests import canonical_json
from provenn.errors import BaseFilesError
from provenn.files.column_bounds import ColumnBounds
from provenn.files.columns import FileColumn
from provenn.files.hats_properties import HEALPIX_COLUMN, HEALPIX_ORDER, parse_properties
from provenn.gate.entrances import entrance
from provenn.gate.expansion import read_header_bytes

__all__ = ["Hats", "find_pixel", "read_hats", "read_hats_of_parts"]

_PROPERTIES = ("hats.properties", "properties", "catalog_info.json")
_COLLECTION = "collection.properties"
_PARTITIONS = "partition_info.csv"
_PARTS = "/Norder=*/Dir=*/Npix=*"
_NO_SOURCES = ("margin", "association", "index", "map")
_PART = re.compile(r"(?:.*/)?Norder=(\d+)/Dir=\d+/Npix=(\d+)((?:\.\w+)*\.(?:parquet|parq|pq)|/.*)")


@dataclass(frozen=True, slots=True)
class Hats:
    """A folder in HATS.

    Parameters
    ----------
    folder
        The path or URI of the folder.
    files
        The glob of its parts.
    rows
        The number of rows, if stated.
    parts
        The order and pixel of each part, if stated.
    position
        The columns of right ascension and declination, if stated.
    index
        The column with the cell of each position, and the order of the cells.
    """

    folder: str
    files: str
    rows: int | None
    parts: frozenset[tuple[int, int]] | None
    position: tuple[str, str]
    index: tuple[str, int] = (HEALPIX_COLUMN, HEALPIX_ORDER)

    def check(self, names: Iterable[str], rows: int | None) -> None:
        """Make sure that all parts and all rows exist.

        Parameters
        ----------
        names
            The paths of the files, below the folder of the data.
        rows
            The total number of rows of the files.

        Raises
        ------
        BaseFilesError
            If parts or rows are missing, or there are additional parts, or parts of which the sky has none.
        """
        parts = {part for name in names if (part := find_pixel(name))}
        for order, pixel in sorted(parts):
            if order > HEALPIX_ORDER or pixel >= 12 << (2 * order):
                raise BaseFilesError(
                    f"{self.folder} has the part Norder={order}, Npix={pixel}, and the sky has no such pixel",
                    hint="write the folder again",
                )
        missing = sorted((self.parts or frozenset()) - parts)
        extra = sorted(parts - (parts if self.parts is None else self.parts))
        if missing or extra:
            order, pixel = (missing or extra)[0]
            problem = (
                f"is not complete: {len(missing):,} of {len(self.parts or ()):,} parts are missing"
                if missing
                else f"has parts that {_PARTITIONS} does not list"
            )
            raise BaseFilesError(f"{self.folder} {problem}, such as Norder={order}, Npix={pixel}", hint=_INCOMPLETE)
        if self.rows is not None and rows != self.rows:
            raise BaseFilesError(
                f"{self.folder} is not complete: it should have {self.rows:,} rows, and its parts have {rows:,}",
                hint=_INCOMPLETE,
            )

    def check_places(self, names: Sequence[str], bounds: Sequence[Mapping[str, ColumnBounds]]) -> None:
        """Make sure that the sources of each part lie in its pixel, as far as the footers of the files say.

        Regions are proved and read by pixels, here as in other programs. So no source of a part in the wrong place
        would be found there.

        Parameters
        ----------
        names
            The paths of the files, below the folder of the data.
        bounds
            The bounds of the columns of each file.

        Raises
        ------
        BaseFilesError
            If a part has sources of other pixels.
        """
        column, order_of_cells = self.index
        for name, file_bounds in zip(names, bounds, strict=True):
            cells, part = file_bounds.get(column), find_pixel(name)
            if part is None or cells is None or not isinstance(cells.low, int) or not isinstance(cells.end, int):
                continue
            order, pixel = part
            shift = 2 * (order_of_cells - order)
            if shift >= 0 and not pixel << shift <= cells.low < cells.end <= (pixel + 1) << shift:
                raise BaseFilesError(
                    f"the part Norder={order}, Npix={pixel} of {self.folder} has sources of other pixels, by {column}",
                    hint="files were renamed or mixed up: copy the folder again, or write it again",
                )

    def describe_columns(self, columns: Sequence[FileColumn]) -> tuple[FileColumn, ...]:
        """Return the columns, with UCDs added to the columns of the position.

        Raises
        ------
        BaseFilesError
            If the parts lack a column of the position, or a column is named twice.
        """
        for name in self.position:
            if name and name not in {column.name for column in columns}:
                raise BaseFilesError(
                    f"the properties of {self.folder} name {name} as a column of the position, which the parts lack",
                    hint=_CORRECT_POSITION,
                )
        if self.position[0] and self.position[0] == self.position[1]:
            raise BaseFilesError(
                f"the properties of {self.folder} name {self.position[0]} as both columns of the position",
                hint=_CORRECT_POSITION,
            )
        ucds = dict(zip(self.position, ("pos.eq.ra;meta.main", "pos.eq.dec;meta.main"), strict=True))
        return tuple(column if column.ucd else replace(column, ucd=ucds.get(column.name, "")) for column in columns)

    def encode_pixels(self, names: Sequence[str], columns: Collection[str]) -> str:
        """Return the columns of the position and the pixels of all files, in JSON; empty if they are not all known.

        Parameters
        ----------
        names
            The paths of the files, below the folder of the data.
        columns
            The columns whose values are read as they are stored.
        """
        parts = [find_pixel(name) for name in names]
        if not all(parts) or not set(self.position) <= set(columns) or len(set(self.position)) < 2:
            return ""
        pixels = sorted({part for part in parts if part})
        return canonical_json([*self.position, " ".join(f"{order}/{pixel}" for order, pixel in pixels)])


_INCOMPLETE = "check that it was copied completely"
_CORRECT_POSITION = "correct hats_col_ra and hats_col_dec in hats.properties"


def find_pixel(name: str) -> tuple[int, int] | None:
    """Return the order and pixel of a part, by the name of its file; None for any other file.

    >>> find_pixel("Norder=1/Dir=0/Npix=17.parquet")
    (1, 17)
    """
    match = _PART.fullmatch(name)
    return None if match is None else (int(match[1]), int(match[2]))


@entrance("folder in HATS", "length", "types")
def read_hats(location: str) -> Hats | None:
    """Read the properties of a folder in HATS, or of a collection of these; None for any other location.

    Raises
    ------
    BaseFilesError
        If the rows of the folder are no sources: a margin, an index; or if the properties are missing or wrong.
    """
    folder = location.rstrip("/")
    collection = _read_first(folder, (_COLLECTION,))
    if collection is not None:
        primary = parse_properties(collection[1]).get("hats_primary_table_url", "")
        if not re.fullmatch(r"[^/:]+", primary) or primary in (".", ".."):
            raise BaseFilesError(f"{location} does not name its main table", hint="name the table's folder")
        folder = f"{folder}/{primary}"
    properties = _read_properties(folder)
    if collection is not None and not properties:
        raise BaseFilesError(
            f"{location} names {primary} as its main table, which is no folder in HATS", hint=_INCOMPLETE
        )
    if not properties and folder.endswith("/dataset"):
        return read_hats(folder.removesuffix("/dataset"))
    kind = properties.get("dataproduct_type") or properties.get("catalog_type") or ""
    if not kind:
        if _read_first(folder, (_PARTITIONS,)) is not None:
            raise BaseFilesError(
                f"{folder} has {_PARTITIONS} of HATS, but no hats.properties that state dataproduct_type",
                hint=_INCOMPLETE,
            )
        return None
    if kind in _NO_SOURCES:
        raise BaseFilesError(
            f"{location} is a HATS {kind}, which is not a catalog",
            hint="ingest the catalog that it belongs to",
        )
    rows = properties.get("hats_nrows") or properties.get("total_rows")
    if rows and not rows.isdigit():
        raise BaseFilesError(
            f"the properties of {folder} state {rows!r} as the number of rows",
            hint="correct hats_nrows in hats.properties",
        )
    inside, parts = _find_data_folder(folder, "dataset"), _read_parts(folder)
    if parts is not None and not parts:
        raise BaseFilesError(
            f"{location} is a HATS catalog without sources: it has no parts, and so no columns",
            hint="export an empty catalog as Parquet, which keeps its columns",
        )
    return Hats(
        folder,
        f"{_escape_glob(inside)}{_PARTS}",
        int(rows) if rows else None,
        parts,
        (
            properties.get("hats_col_ra") or properties.get("ra_column") or "",
            properties.get("hats_col_dec") or properties.get("dec_column") or "",
        ),
        _read_index(properties),
    )


def _read_index(properties: Mapping[str, str]) -> tuple[str, int]:
    """Return the column with the cell of each position, and the order of the cells."""
    order = properties.get("hats_col_healpix_order", "")
    return properties.get("hats_col_healpix") or HEALPIX_COLUMN, int(order) if order.isdecimal() else HEALPIX_ORDER


def read_hats_of_parts(pattern: str) -> Hats | None:
    """Read the properties of the folder in HATS with the parts of a glob; None for any other glob.

    Raises
    ------
    BaseFilesError
        As for `read_hats`.
    """
    if not pattern.endswith(_PARTS):
        return None
    folder = re.sub(r"\[([*?\[])\]", r"\1", pattern.removesuffix(_PARTS))
    return read_hats(folder.removesuffix("/dataset"))


def _read_parts(folder: str) -> frozenset[tuple[int, int]] | None:
    partitions_file = _read_first(folder, (_PARTITIONS,))
    if partitions_file is None:
        return None
    reader = csv.DictReader(StringIO(partitions_file[1]))
    try:
        parts = frozenset((int(row["Norder"]), int(row["Npix"])) for row in reader)
        is_list = {"Norder", "Npix"} <= {*(reader.fieldnames or ())}
    except (KeyError, TypeError, ValueError, csv.Error):
        is_list = False
    if not is_list:
        raise BaseFilesError(
            f"{folder}/{_PARTITIONS} does not list the parts in the columns Norder and Npix", hint=_INCOMPLETE
        )
    return parts


def _read_properties(folder: str) -> dict[str, str]:
    """Return the properties of a folder; empty without a file of properties."""
    properties_file = _read_first(folder, _PROPERTIES)
    if properties_file is None:
        return {}
    name, text = properties_file
    return _parse_json_properties(text, folder) if name.endswith(".json") else parse_properties(text)


def _parse_json_properties(text: str, folder: str) -> dict[str, str]:
    try:
        return {str(key): str(value) for key, value in dict(json.loads(text)).items() if value is not None}
    except (TypeError, ValueError) as error:
        raise BaseFilesError(f"{folder}/catalog_info.json cannot be read: {error}") from error


def _escape_glob(folder: str) -> str:
    """Return a path with glob characters escaped."""
    return re.sub(r"([*?\[])", r"[\1]", folder)


def _find_data_folder(folder: str, inside: str) -> str:
    """Return the folder of the data; older versions have no separate data folder."""
    filesystem, path = _open_filesystem(folder)
    is_folder = filesystem.get_file_info(f"{path}/{inside}").type.name == "Directory"
    return f"{folder}/{inside}" if is_folder else folder


def _read_first(folder: str, names: Collection[str]) -> tuple[str, str] | None:
    """Return the name and text of the first existing file among some names."""
    try:
        filesystem, path = _open_filesystem(folder)
        for name in names:
            if filesystem.get_file_info(f"{path}/{name}").is_file:
                with filesystem.open_input_stream(f"{path}/{name}", compression=None) as opened:
                    return name, read_header_bytes(opened, f"{folder}/{name}").decode("utf-8-sig", "replace")
    except (OSError, ValueError):  # the later listing of the files reports the error
        return None
    return None


def _open_filesystem(folder: str) -> tuple[Any, str]:
    from pyarrow import fs  # noqa: PLC0415 - it takes a while to import, and only files need it

    filesystem, path = fs.FileSystem.from_uri(folder)
    return filesystem, path.rstrip("/")
