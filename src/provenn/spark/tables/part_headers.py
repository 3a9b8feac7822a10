"""The header of VOParquet in the part files of a folder that Spark wrote: Spark itself cannot write it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from shutil import copyfileobj
from typing import Any

from pyarrow import parquet

from provenn.catalogs.schema import Attribute
from provenn.files.export_notes import FileNotes
from provenn.files.footer_keys import TAIL, add_footer_keys, read_footer_size
from provenn.spark.tables.voparquet import build_voparquet_header

__all__ = ["add_headers"]

_MOST_THREADS = 8
_BLOCK = 1 << 22


def add_headers(
    filesystem: Any,  # noqa: ANN401 - pyarrow has no types
    folder: str,
    names: Sequence[str],
    attributes: Sequence[Attribute],
    notes: FileNotes,
) -> None:
    """Add the header of VOParquet to the footers of part files, and write ``_common_metadata`` beside them.

    Parameters
    ----------
    filesystem, folder, names
        Where the files are. Nobody reads them yet.
    attributes
        The attributes of the columns, in order.
    notes
        The metadata of the files.
    """
    if not names:
        return
    schema = parquet.read_schema(f"{folder}/{names[0]}", filesystem=filesystem)
    header = build_voparquet_header(schema, attributes, notes)
    with ThreadPoolExecutor(_MOST_THREADS) as pool:
        for _ in pool.map(lambda name: _extend_footer(filesystem, f"{folder}/{name}", header), names):
            pass
    kept = {key: value for key, value in (schema.metadata or {}).items() if not key.startswith(b"ARROW:")}
    common = schema.with_metadata({**kept, **header})
    parquet.write_metadata(common, f"{folder}/_common_metadata", filesystem=filesystem)


def _extend_footer(filesystem: Any, path: str, keys: Mapping[str, str]) -> None:  # noqa: ANN401 - pyarrow has no types
    """Add keys and values to the footer of a Parquet file."""
    with filesystem.open_input_file(path) as file:
        size = file.size()
        length = read_footer_size(file.read_at(TAIL, size - TAIL))
        footer = add_footer_keys(file.read_at(length, size - TAIL - length), keys)
        if filesystem.type_name != "local":  # object stores append nothing
            _copy_with_footer(filesystem, path, file, footer)
            return
    with filesystem.open_append_stream(path) as stream:
        stream.write(footer)


def _copy_with_footer(filesystem: Any, path: str, file: Any, footer: bytes) -> None:  # noqa: ANN401 - pyarrow has no types
    """Replace a file by a copy that ends with another footer."""
    file.seek(0)
    with filesystem.open_output_stream(f"{path}.copy") as stream:
        copyfileobj(file, stream, _BLOCK)
        stream.write(footer)
    filesystem.move(f"{path}.copy", path)
