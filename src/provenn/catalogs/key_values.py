"""Keys that do not identify sources: what is told of them, and a first look that finds most of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from provenn.catalogs.base import Base
from provenn.catalogs.file_listing import File, listed
from provenn.catalogs.files import Files
from provenn.errors import KeyValuesError

__all__ = ["KeyCount", "check_first_keys", "key_error"]

_SAMPLE = 1_000_000
_BATCH = 1 << 16
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class KeyCount:
    """What was counted of keys.

    Parameters
    ----------
    rows, nulls
        How many rows there are, and how many of them have no key.
    repeated
        How many keys occur more than once.
    examples
        Some of these, with how often each occurs.
    """

    rows: int
    nulls: int
    repeated: int
    examples: Sequence[tuple[Sequence[object], int]] = ()


def key_error(base: Base, count: KeyCount, among: str = "") -> KeyValuesError:
    """Return the error that says why a key does not identify sources.

    Parameters
    ----------
    base
        The catalog.
    count
        What was counted.
    among
        Which rows were looked at, if not all.
    """
    what = []
    if count.nulls:
        what.append(f"{_number(count.nulls)} of {_number(count.rows)} rows have none: it is NULL")
    if count.repeated:
        shown = ", ".join(f"{_shown(values)} ({_number(times)} times)" for values, times in count.examples)
        more = " …" * (count.repeated > len(count.examples))
        what.append(f"{_number(count.repeated)} occur more than once: {shown}{more}")
    return KeyValuesError(
        f"the key {', '.join(base.key)} of {base.files.location} does not identify sources; {among}{'; '.join(what)}",
        hint="is another column the key, or several together? If none is, ingest the files without a key: key=None "
        "(--no-key). Or take such rows out of the files; then ingest again",
    )


def _number(number: int) -> str:
    return f"{number:_}".replace("_", " ")


def _shown(values: Sequence[object]) -> str:
    return str(values[0]) if len(values) == 1 else f"({', '.join(map(str, values))})"


def check_first_keys(base: Base, files: Files) -> None:
    """Look at the keys of the first rows of Parquet files, so that most bad keys are found before Spark starts.

    What is found is bad for certain: values that Arrow takes for equal, Spark does, too. That nothing is found shows
    nothing; other formats than Parquet are not looked at.

    Parameters
    ----------
    base
        The catalog.
    files
        Its files, where they lie.

    Raises
    ------
    KeyValuesError
        If a key is NULL, or occurs twice.
    """
    if files.format != "parquet" or files.row_key or any("." in name for name in base.key):
        return
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import

    batches, rows = [], 0
    for batch in _key_batches(base, files):
        batches.append(batch)
        rows += len(batch)
        if rows >= _SAMPLE:
            break
    try:
        count = _count(pa.concat_tables(batches)) if batches else None
    except pa.ArrowNotImplementedError:  # a type that Arrow does not compare
        return
    if count is not None and (count.nulls or count.repeated):
        raise key_error(base, count, f"among the first {_number(rows)} rows, " if rows >= _SAMPLE else "")


def _count(keys: Any) -> KeyCount:  # noqa: ANN401 - pyarrow has no types
    import pyarrow.compute as pc  # noqa: PLC0415 - see above

    names = keys.column_names
    grouped = keys.group_by(names).aggregate([([], "count_all")]).select([*names, "count_all"])
    repeated = grouped.filter(pc.greater(grouped["count_all"], 1)).drop_null()
    order = [("count_all", "descending"), *((name, "ascending") for name in names)]
    some = [tuple(row.values()) for row in repeated.sort_by(order).slice(0, _SHOWN).to_pylist()]
    nulls = len(keys) - len(keys.drop_null())
    return KeyCount(len(keys), nulls, len(repeated), [(row[:-1], row[-1]) for row in some])


def _key_batches(base: Base, files: Files) -> Iterator[Any]:
    """Yield the keys of files, some at a time, as tables of Arrow."""
    from pyarrow import Table, parquet  # noqa: PLC0415 - see above

    columns = [name for name in base.key if name not in files.partitions]
    for file in listed(files.location):
        with file.open() as opened:
            for batch in parquet.ParquetFile(opened).iter_batches(_BATCH, columns=columns):
                yield _with_partitions(Table.from_batches([batch]), base, file)


def _with_partitions(table: Any, base: Base, file: File) -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - see above

    values = dict(file.partitions)
    columns = [
        table[name] if name in table.column_names else pa.repeat(pa.scalar(values[name], pa.string()), len(table))
        for name in base.key
    ]
    return pa.table(columns, list(base.key))
