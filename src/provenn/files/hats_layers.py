"""Cores and layers in HATS: attributes of the same sources in several folders, divided into the same parts of the sky.

A layer holds the key, the position and further attributes of the sources of a core. LSDB calls a layer an extension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from provenn.errors import BaseFilesError, FormatError, KeyValuesError
from provenn.files.hashing import ReadingProgress
from provenn.files.hats import find_pixel, read_hats
from provenn.files.listing import File, list_files, make_absolute

__all__ = ["HatsParts", "compare_keys", "read_parts"]

_MOST_SHOWN = 3

Pixel = tuple[int, int]
"""The order and the number of a part."""


@dataclass(frozen=True, slots=True)
class HatsParts:
    """The files of a folder in HATS, by part.

    Parameters
    ----------
    folder
        The path or URI of the folder.
    position
        The columns of right ascension and declination; empty texts if they are not stated.
    files
        The files of each part.
    schema
        The Arrow types of the columns.
    """

    folder: str
    position: tuple[str, str]
    files: dict[Pixel, list[File]]
    schema: Any

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.schema.names)

    def list_files(self) -> list[File]:
        """Return the files of all parts."""
        return [file for files in self.files.values() for file in files]


def read_parts(location: str | PathLike[str]) -> HatsParts:
    """Return the parts of a folder in HATS; only the footer of a file is read.

    Raises
    ------
    FormatError
        If the location is no folder in HATS.
    BaseFilesError
        If the files cannot be read.
    """
    from pyarrow import parquet  # noqa: PLC0415 - it takes a while to import

    place = make_absolute(location)
    hats = read_hats(place)
    if hats is None:
        raise FormatError(
            f"{place} is not a folder in HATS", hint="name a folder with hats.properties or collection.properties"
        )
    files: dict[Pixel, list[File]] = {}
    for file in list_files(hats.files):
        pixel = find_pixel(file.name)
        if pixel is not None:
            files.setdefault(pixel, []).append(file)
    first = next(iter(files.values()))[0]
    with first.open() as opened:
        schema = parquet.read_schema(opened)
    return HatsParts(hats.folder, hats.position, files, schema)


def compare_keys(core: HatsParts, layer: HatsParts, key: Sequence[str], progress: ReadingProgress | None = None) -> int:
    """Make sure that a layer has the sources of a core in each part, and return their number.

    The keys of one part at a time are in memory. A key that occurs twice must occur twice in both.

    Parameters
    ----------
    core, layer
        The folders.
    key
        The columns of the key, which both have.
    progress
        Called with the sizes of the files passed so far, and of all files.

    Raises
    ------
    KeyValuesError
        If a key of a part is missing from the core or the layer, or is NULL.
    BaseFilesError
        If a folder has no such column, or another type of key.
    """
    for folder in (core, layer):
        missing = [name for name in key if name not in folder.columns]
        if missing:
            raise BaseFilesError(
                f"{folder.folder} has no column {missing[0]}, the key of the core", hint="core and layers share a key"
            )
    rows, done = 0, 0
    total = sum(file.size for folder in (core, layer) for file in folder.list_files())
    for pixel in sorted(core.files.keys() | layer.files.keys()):
        if progress is not None:
            progress(done, total)
        expected, keys = (_read_keys(folder, pixel, key) for folder in (core, layer))
        for folder, table in ((core, expected), (layer, keys)):
            _require_keys(folder, pixel, table)
        try:
            same = expected.equals(keys := keys.cast(expected.schema)) or _sort_keys(expected).equals(_sort_keys(keys))
        except (ValueError, TypeError) as error:  # pyarrow's errors are ValueErrors
            raise BaseFilesError(
                f"the key {', '.join(key)} of {layer.folder} has another type than in {core.folder}"
            ) from error
        if not same:
            raise _make_key_error(core, layer, pixel, expected.to_pylist(), keys.to_pylist())
        rows += len(expected)
        done += sum(file.size for folder in (core, layer) for file in folder.files.get(pixel, []))
    return rows


def _read_keys(folder: HatsParts, pixel: Pixel, key: Sequence[str]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the keys of a part, in the order of its rows; without rows if the folder lacks the part."""
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import
    from pyarrow import parquet  # noqa: PLC0415

    fields = [folder.schema.field(name).remove_metadata().with_nullable(True) for name in key]
    tables = [pa.schema(fields).empty_table()]
    for file in sorted(folder.files.get(pixel, []), key=lambda file: file.name):
        with file.open() as opened:
            tables.append(parquet.ParquetFile(opened).read(columns=list(key)).select(list(key)).cast(tables[0].schema))
    return pa.concat_tables(tables)


def _require_keys(folder: HatsParts, pixel: Pixel, table: Any) -> None:  # noqa: ANN401 - pyarrow has no types
    """Make sure that all rows of a part have a key."""
    for name in table.column_names:
        lacking = table.column(name).null_count
        if lacking:
            raise KeyValuesError(
                f"{lacking:,} of {len(table):,} rows of {folder.folder} have no {name}, "
                f"in the part Norder={pixel[0]}, Npix={pixel[1]}",
                hint="a row without a key is no source: write the folder without such rows",
            )


def _sort_keys(table: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    return table.sort_by([(name, "ascending") for name in table.column_names])


def _make_key_error(
    core: HatsParts, layer: HatsParts, pixel: Pixel, expected: Sequence[object], keys: Sequence[object]
) -> KeyValuesError:
    """Return the error for a part whose keys differ."""
    only_core, only_layer = _subtract(expected, keys), _subtract(keys, expected)
    texts = [
        f"{len(lost):,} of {len(all_keys):,} keys of {own.folder} are not in {other.folder}, such as "
        + "; ".join(lost[:_MOST_SHOWN])
        for own, other, lost, all_keys in ((core, layer, only_core, expected), (layer, core, only_layer, keys))
        if lost
    ]
    where = f"in the part Norder={pixel[0]}, Npix={pixel[1]}"
    lacking = next((name for name, own in (("core", core), ("layer", layer)) if pixel not in own.files), None)
    if lacking is not None:
        return KeyValuesError(
            f"the layer is not divided as the core is: the {lacking} has no part Norder={pixel[0]}, Npix={pixel[1]}, "
            f"with {len(expected) + len(keys):,} keys",
            hint="a layer must be written for this core: it has the same parts",
        )
    return KeyValuesError(
        f"the layer does not have the sources of the core: {where}, {'; and '.join(texts) or 'keys occur twice'}",
        hint="a layer must be written for this core, and for all of its sources",
    )


def _subtract(keys: Sequence[object], others: Sequence[object]) -> list[str]:
    """Return the texts of the keys that are not among others."""
    gone = set(map(repr, others))
    texts = [", ".join(f"{name} {value}" for name, value in dict(key).items()) for key in keys if repr(key) not in gone]  # type: ignore[call-overload]
    return sorted(texts)
