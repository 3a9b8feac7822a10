"""Keys that do not identify sources: the error message, and a quick check of the first rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from provenn.catalogs.base import Base
from provenn.criteria.types import INTEGRAL, Type
from provenn.errors import BaseFilesError, KeyValuesError, ProvennError
from provenn.files.file_set import Files
from provenn.files.listing import File
from provenn.hints import Hint

__all__ = ["KeyCount", "check_first_keys", "format_key", "make_key_error"]

_SAMPLE = 1_000_000
_BATCH = 1 << 16
_SHOWN = 5
_EXACT = ("date", "string")
"""Types whose values are equal in Spark only if they are equal in Arrow, besides whole numbers."""


@dataclass(frozen=True, slots=True)
class KeyCount:
    """Counts of keys.

    Parameters
    ----------
    rows, nulls
        The number of rows, and of rows without a key.
    repeated
        The number of keys that occur more than once.
    examples
        Some repeated keys, with their number of occurrences.
    """

    rows: int
    nulls: int
    repeated: int
    examples: Sequence[tuple[Sequence[object], int]] = ()


def make_key_error(base: Base, count: KeyCount, among: str = "") -> KeyValuesError:
    """Return the error with the reasons why a key does not identify sources.

    Parameters
    ----------
    base
        The catalog.
    count
        The counts of keys.
    among
        The rows checked, in words; empty for all.
    """
    faults = []
    if count.nulls:
        faults.append(f"{_format_number(count.nulls)} of {_format_number(count.rows)} rows have a NULL key")
    if count.repeated:
        shown = ", ".join(f"{format_key(values)} ({_format_number(times)} times)" for values, times in count.examples)
        more = " …" * (count.repeated > len(count.examples))
        noun = "key occurs" if count.repeated == 1 else "keys occur"
        faults.append(f"{_format_number(count.repeated)} {noun} more than once: {shown}{more}")
    return KeyValuesError(
        f"the key {', '.join(base.key)} of {base.files.location} does not identify sources; {among}{'; '.join(faults)}",
        hint=Hint(_KEY_HINT.format("key=None"), command=_KEY_HINT.format("--no-key")),
    )


_KEY_HINT = (
    "choose another key column, or several; if no columns identify a source, ingest without a key: {}; "
    "or remove such rows from the files and ingest them again"
)


def _format_number(number: int) -> str:
    return f"{number:,}"


def format_key(values: Sequence[object]) -> str:
    """Return a key for messages."""
    return str(values[0]) if len(values) == 1 else f"({', '.join(map(str, values))})"


def check_first_keys(base: Base, files: Files) -> int | None:
    """Check the keys of the first rows of Parquet files, to find most bad keys before Spark starts.

    Every error is certain: values equal in Arrow are equal in Spark. Formats other than Parquet are not checked.

    Returns
    -------
    int or None
        The number of rows, if all keys were read and are whole numbers, dates or texts, which are equal in Spark only
        if they are equal in Arrow. None if the absence of an error proves nothing.

    Parameters
    ----------
    base
        The catalog.
    files
        Its files, at their current location.

    Raises
    ------
    KeyValuesError
        If a key is NULL, or occurs twice.
    """
    if files.format != "parquet" or files.row_key or any("." in name for name in base.key):
        return None
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import

    batches, rows = [], 0
    for batch in _read_key_batches(base, files):
        batches.append(batch)
        rows += len(batch)
        if rows >= _SAMPLE:
            break
    try:
        count = _count_keys(pa.concat_tables(batches)) if batches else None
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # no comparison in Arrow, or files with different types
        return None
    if count is not None and (count.nulls or count.repeated):
        raise make_key_error(base, count, f"among the first {_format_number(rows)} rows, " if rows >= _SAMPLE else "")
    is_exact = (
        rows < _SAMPLE
        and not files.options  # options may give values another meaning
        and not set(base.key) & set(files.partitions)
        and all(map(_is_exact, base.population.key))
    )
    return rows if is_exact else None


def _is_exact(kind: Type) -> bool:
    """Return whether values of a type are equal in Spark only if they are equal in Arrow."""
    return kind in INTEGRAL or kind.name in _EXACT


def _count_keys(keys: Any) -> KeyCount:  # noqa: ANN401 - pyarrow has no types
    """Count the rows, NULL keys and repeated keys of a table of keys."""
    import pyarrow.compute as pc  # noqa: PLC0415 - see above

    names = keys.column_names
    grouped = keys.group_by(names).aggregate([([], "count_all")]).select([*names, "count_all"])
    repeated = grouped.filter(pc.greater(grouped["count_all"], 1)).drop_null()
    order = [("count_all", "descending"), *((name, "ascending") for name in names)]
    examples = [tuple(row.values()) for row in repeated.sort_by(order).slice(0, _SHOWN).to_pylist()]
    nulls = len(keys) - len(keys.drop_null())
    return KeyCount(len(keys), nulls, len(repeated), [(row[:-1], row[-1]) for row in examples])


def _read_key_batches(base: Base, files: Files) -> Iterator[Any]:
    """Yield the keys of files in batches, as tables of Arrow."""
    from pyarrow import Table, parquet  # noqa: PLC0415 - see above

    from provenn.files.arrow_types import find_arrow_type  # noqa: PLC0415 - see above

    columns = [name for name in base.key if name not in files.partitions]
    types = zip(base.key, base.population.key, strict=True)
    exact = {name: find_arrow_type(kind) for name, kind in types if name in columns and _is_exact(kind)}
    for file in files.list_own_files():
        with file.open() as opened, _name_file_in_errors(file):
            keys = parquet.ParquetFile(opened, page_checksum_verification=True)
            for batch in keys.iter_batches(_BATCH, columns=columns):
                table = Table.from_batches([batch])
                # Files may store the same values in different types, such as texts in dictionaries.
                for place, name in enumerate(table.column_names):
                    if name in exact and table.schema.field(place).type != exact[name]:
                        table = table.set_column(place, name, table.column(place).cast(exact[name]))
                yield _add_partition_columns(table, base, file)


@contextmanager
def _name_file_in_errors(file: File) -> Iterator[None]:
    """Raise read failures as errors with the name of the file."""
    try:
        yield
    except ProvennError:
        raise
    except OSError as error:  # pyarrow's, for checksums that do not agree
        raise BaseFilesError(
            f"{file.name} cannot be read: {error}", hint="the file is damaged: restore it from a backup"
        ) from error


def _add_partition_columns(table: Any, base: Base, file: File) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return a table of all key columns, with columns from folder names added."""
    import pyarrow as pa  # noqa: PLC0415 - see above

    values = dict(file.partitions)
    columns = [
        table[name] if name in table.column_names else pa.repeat(pa.scalar(values[name], pa.string()), len(table))
        for name in base.key
    ]
    return pa.table(columns, list(base.key))
