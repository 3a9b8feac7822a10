"""A few rows of Parquet files, from which the shares of selections are estimated. Estimates alone rest on them.

Rows are taken when files are ingested and when a fragment is written, always the same ones of the same files: from some
row groups, spread evenly over the files, and at random inside a row group. Of a row group too large for that, the first
rows are taken. Samples are in random order, so that the first values are a sample, too.

A sample of a column is a list of keys (see `provenn.criteria.domains`); None stands for NULL. All columns of a sample
have the same rows in the same order, so that conditions on several columns can be evaluated together.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any, Protocol

import numpy as np

from provenn.criteria import Type
from provenn.criteria.domains import INFINITY, Key, get_domain
from provenn.criteria.types import BOOLEAN, DOUBLE, FLOAT, STRING
from provenn.digests import canonical_json
from provenn.errors import ProvennError
from provenn.files.columns import FileContents
from provenn.files.listing import File

__all__ = [
    "LEAST_ROWS",
    "MOST_ROWS",
    "OpenableFile",
    "SampledKeys",
    "decode_sample",
    "encode_sample",
    "sample_files",
    "sample_parquet",
]

SampledKeys = tuple[Key | None, ...]
"""The values of a column in a sample, as keys; None for NULL."""

MOST_ROWS = 2_048
_MOST_VALUES = 1 << 16
"""How many values a sample has at most, of all columns together."""
_MOST_COLUMNS = 256
LEAST_ROWS = _MOST_VALUES // _MOST_COLUMNS
"""How many rows a sample has at least, unless there are fewer."""
_MOST_GROUPS = (64, 8)
"""From how many whole row groups rows are taken, at most; the second, if so many are too large."""
_MOST_BEGINNINGS = 16
"""From how many row groups the first rows are taken, at most, if whole ones are too large."""
_MOST_READ = 1 << 22
"""How many values are read for a sample from whole row groups, at most. Beyond that the first rows are taken."""
_MOST_BYTES = 1 << 25
"""How many bytes these values have, at most, according to the footers."""
_LONGEST_TEXT = 64
_LARGEST_STORED = 1 << 20
_MOST_ALIKE = 0.3
"""Up to which correlation of neighbouring values the first rows of a row group stand for all of its rows."""
_SEED = 1


class OpenableFile(Protocol):
    """A file that can be opened for reading, with seeking."""

    def open(self) -> AbstractContextManager[Any]:
        """Open the file."""


@dataclass(frozen=True, slots=True)
class _Group:
    """A row group of a Parquet file: the place of the file, the number, the rows, and the bytes when unpacked."""

    file: int
    number: int
    rows: int
    size: int


def sample_parquet(files: Sequence[OpenableFile], columns: Mapping[str, Type]) -> dict[str, SampledKeys]:
    """Return the same rows of columns of Parquet files, by name; nothing if the rows cannot be read.

    Parameters
    ----------
    files
        The files, in an order that depends on their content alone.
    columns
        The types of columns that the files hold as they are; types without a known order are left out.
    """
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import, and only new files need it

    wanted = dict([(name, kind) for name, kind in columns.items() if get_domain(kind) is not None][:_MOST_COLUMNS])
    if not wanted:
        return {}
    size = min(MOST_ROWS, _MOST_VALUES // len(wanted))
    try:
        groups, is_whole = _choose_groups(files, len(wanted))
        rows = sum(group.rows for group in groups)
        tables = [
            _read_rows(files[group.file], group, -(-size * group.rows // rows), wanted, is_whole=is_whole)
            for group in groups
        ]
        sampled = {name: [_encode_column(kind, table[name]) for table in tables] for name, kind in wanted.items()}
    except (ProvennError, pa.ArrowException, OSError, ValueError, TypeError, OverflowError, LookupError):
        return {}  # an estimate without a sample is better than no catalog; Spark reports what is wrong with the rows
    places = np.random.default_rng(_SEED).permutation(sum(table.num_rows for table in tables))[:size].tolist()
    return {
        name: tuple(keys[place] for place in places)
        for name, parts in sampled.items()
        if places and (is_whole or not any(map(_is_ordered, parts)))
        for keys in [[key for part in parts for key in part]]
    }


def _spread(count: int, most: int) -> list[int]:
    """Return at most `most` places, spread evenly over `count` places.

    >>> _spread(3, 8), _spread(100, 4)
    ([0, 1, 2], [12, 37, 62, 87])
    """
    return list(range(count)) if count <= most else [(2 * place + 1) * count // (2 * most) for place in range(most)]


def _choose_groups(files: Sequence[OpenableFile], columns: int) -> tuple[list[_Group], bool]:
    """Return some row groups of files, and whether they are small enough to be read whole."""
    for most in _MOST_GROUPS:
        groups = _spread_groups(files, most)
        is_small = sum(group.rows for group in groups) * columns <= _MOST_READ
        if is_small and sum(group.size for group in groups) <= _MOST_BYTES:
            return groups, True
    return _spread_groups(files, _MOST_BEGINNINGS), False


def _spread_groups(files: Sequence[OpenableFile], most: int) -> list[_Group]:
    """Return some row groups, spread evenly over the files and inside each file."""
    from pyarrow import parquet  # noqa: PLC0415 - see above

    groups, places = [], _spread(len(files), most)
    for place in places:
        with files[place].open() as opened:
            metadata = parquet.ParquetFile(opened).metadata
        for number in _spread(metadata.num_row_groups, max(1, most // len(places))):
            group = metadata.row_group(number)
            if group.num_rows:
                groups.append(_Group(place, number, group.num_rows, group.total_byte_size))
    return groups


def _read_rows(file: OpenableFile, group: _Group, count: int, names: Iterable[str], *, is_whole: bool) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return some rows of a row group: at random if the whole group may be read, otherwise the first."""
    import pyarrow as pa  # noqa: PLC0415 - see above
    from pyarrow import parquet  # noqa: PLC0415

    with file.open() as opened:
        if not is_whole:
            reader = parquet.ParquetFile(opened, buffer_size=1 << 16)
            batches = reader.iter_batches(count, row_groups=[group.number], columns=list(names))
            return pa.Table.from_batches([next(iter(batches))])
        table = parquet.ParquetFile(opened).read_row_group(group.number, columns=list(names))
    generator = np.random.default_rng((_SEED, group.file, group.number))
    places = np.sort(generator.choice(table.num_rows, min(count, table.num_rows), replace=False)).astype(np.int64)
    # Not `pa.array`: it imports pandas, which takes longer than all the rest.
    return table.take(pa.Array.from_buffers(pa.int64(), len(places), [None, pa.py_buffer(places.tobytes())]))


def _is_ordered(keys: Sequence[Key | None]) -> bool:
    """Return whether neighbouring values of a column are alike, so that the first values are not like the others.

    >>> _is_ordered(range(9)), _is_ordered([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]), _is_ordered([7, None, 7, 7])
    (True, False, False)
    """
    present = [key for key in keys if key is not None]
    if len(present) < 3:
        return False
    ranks = np.unique(np.array(present), return_inverse=True)[1].astype(float)
    ranks -= ranks.mean()
    spread = float(ranks @ ranks)
    return spread > 0 and abs(float(ranks[1:] @ ranks[:-1])) > _MOST_ALIKE * spread


def _encode_column(kind: Type, values: Any) -> list[Key | None]:  # noqa: ANN401 - pyarrow has no types
    """Return the keys of the values of a column."""
    import pyarrow as pa  # noqa: PLC0415 - see above

    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if kind in (DOUBLE, FLOAT):
        return _encode_floats(kind, values)
    if kind == BOOLEAN:
        return [None if value is None else int(not value) for value in values.to_pylist()]
    if kind == STRING:
        return [None if value is None else value[:_LONGEST_TEXT] for value in values.cast(pa.string()).to_pylist()]
    if kind.name == "decimal":
        with localcontext(prec=kind.precision + 2):
            return [None if value is None else int(Decimal(value).scaleb(kind.scale)) for value in values.to_pylist()]
    if pa.types.is_date(values.type):
        values = values.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us", values.type.tz), safe=False).cast(pa.int64())
    keys: list[Key | None] = values.cast(pa.int64()).to_pylist()
    return keys


def _encode_floats(kind: Type, values: Any) -> list[Key | None]:  # noqa: ANN401 - pyarrow has no types
    """Return the keys of floating-point numbers, as `encode_double` and `encode_float` make them."""
    real, whole, most = ("f8", "i8", 2**63 - 1) if kind == DOUBLE else ("f4", "i4", 2**31 - 1)
    numbers = values.to_pylist()
    bits: np.ndarray[Any, np.dtype[np.int64]] = np.array([number or 0.0 for number in numbers], real).view(whole)
    magnitudes = bits & most
    keys = np.where(bits < 0, -magnitudes, magnitudes)
    keys = np.where(magnitudes > INFINITY[kind], INFINITY[kind] + 1, keys)
    return [None if number is None else key for key, number in zip(keys.tolist(), numbers, strict=True)]


def sample_files(files: Sequence[File], format: str, contents: FileContents) -> tuple[tuple[str, str], ...]:  # noqa: A002 - Spark's word
    """Return the values of columns in a few rows of base files, in stored form; nothing for files that are far away.

    Only columns with statistics are sampled: the values of others do not depend on the stored column alone.
    """
    if format != "parquet" or any(file.local_path is None for file in files):
        return ()
    kinds = {column.name: column.type for column in contents.columns if column.name in contents.statistics}
    return tuple((name, encode_sample(keys)) for name, keys in sample_parquet(files, kinds).items())


def encode_sample(keys: SampledKeys) -> str:
    """Return the sample of a column in stored form.

    >>> decode_sample(encode_sample((3, None, -(2**63)))), decode_sample("?"), decode_sample(encode_sample(("a", 1)))
    ((3, None, -9223372036854775808), None, None)
    """
    return b64encode(zlib.compress(canonical_json(list(keys)).encode(), 1)).decode()


def decode_sample(text: str) -> SampledKeys | None:
    """Return the sample of a column from the stored form; None if the text is no such form."""
    try:
        unpacked = zlib.decompressobj().decompress(b64decode(text), _LARGEST_STORED)
        keys = json.loads(unpacked)
    except (ValueError, TypeError, RecursionError, zlib.error):
        return None
    kinds = {type(key) for key in keys} - {type(None)} if isinstance(keys, list) else {list}
    return tuple(keys) if kinds <= {int} or kinds <= {str} else None
