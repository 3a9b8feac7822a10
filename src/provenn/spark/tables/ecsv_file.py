"""An ECSV file (APE 6), written as its rows come: CSV below a header of YAML, which says types, units and the origin.

NULL is an empty cell, and so is the empty text: ECSV cannot tell them apart.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from provenn.catalogs.file_notes import NO_NOTES, FileNotes
from provenn.catalogs.schema import Attribute
from provenn.errors import FormatError
from provenn.spark.tables.parts import Parts, Seen, list_depth

__all__ = ["write_ecsv"]

_TYPES = {
    "bool": "bool",
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "float": "float32",
    "double": "float64",
    "string": "string",
}
_LONGEST = 1 << 20


def write_ecsv(parts: Parts, attributes: Sequence[Attribute], stream: Any, notes: FileNotes = NO_NOTES) -> int:  # noqa: ANN401 - pyarrow has no types
    """Write the rows of parts into a stream, as ECSV. Return how many.

    Raises
    ------
    FormatError
        If ECSV cannot hold them.
    """
    seen = parts.seen()
    columns = [_described(field, one, seen[field.name]) for field, one in zip(parts.schema, attributes, strict=True)]
    stream.write(_header(columns, notes).encode())
    rows = 0
    for batch in parts.batches():
        stream.write(_lines(list(zip(*map(_texts, batch.columns), strict=True))).encode())
        rows += len(batch)
    return rows


def _described(field: Any, attribute: Attribute, seen: Seen) -> dict[str, Any]:  # noqa: ANN401 - pyarrow has no types
    """Return what the header says of a column."""
    kind, depth = field.type, list_depth(field.type)
    for _ in range(depth):
        kind = kind.value_type
    datatype = _TYPES.get(str(kind)) or _whole(kind, seen)
    if datatype is None:
        raise FormatError(
            f"ECSV cannot hold the column {field.name}, of the type {field.type}",
            hint=f"write Parquet; or derive it in another type, such as CAST({field.name} AS string)",
        )
    said: dict[str, Any] = {"name": attribute.name}
    said |= {"unit": attribute.unit} if attribute.unit else {}
    said["datatype"] = "string" if depth else datatype
    said |= {"subtype": f"{datatype}[{_shape(field.name, seen, depth)}]"} if depth else {}
    said |= {"description": attribute.description} if attribute.description else {}
    return said | ({"meta": {"ucd": attribute.ucd}} if attribute.ucd else {})


def _whole(kind: Any, seen: Seen) -> str | None:  # noqa: ANN401 - pyarrow has no types
    """Return the type of whole numbers that are decimals in Spark, as those of 64 bits without a sign."""
    least, most = seen.extremes or (0, 0)
    if not pa.types.is_decimal(kind) or kind.scale != 0:
        return None
    if least >= -(2**63) and most < 2**63:
        return "int64"
    return "uint64" if least >= 0 and most < 2**64 else None


def _shape(name: str, seen: Seen, depth: int) -> str:
    """Return how long arrays are; of arrays in arrays, all that lie side by side have one length."""
    varies = any(shortest != longest for shortest, longest in seen.lengths)
    if depth == 1:
        return "null"
    if seen.gaps or varies or len(seen.lengths) < depth:
        raise FormatError(
            f"in ECSV arrays of arrays have one length; those of {name} have not, or one is NULL", hint="write Parquet"
        )
    return ",".join(str(longest) for _, longest in seen.lengths)


def _header(columns: Sequence[dict[str, Any]], notes: FileNotes) -> str:
    import yaml  # noqa: PLC0415 - few files are written so

    meta = dict(notes.metadata) | ({"provenn": json.loads(notes.text(_LONGEST))} if notes.version else {})
    said = {"delimiter": ",", "datatype": columns, **({"meta": meta} if meta else {}), "schema": "astropy-2.0"}
    text = yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=1000)
    lines = ["%ECSV 1.0", "---", *text.splitlines()]
    return "".join(f"# {line}\n" for line in lines) + _lines([[one["name"] for one in columns]])


def _lines(rows: Sequence[Sequence[str]]) -> str:
    """Return lines of CSV. A line that would begin with #, which is a comment for readers, is quoted throughout."""
    comments = any(row[0].lstrip().startswith("#") or row[0] != row[0].strip() for row in rows)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if comments else csv.QUOTE_MINIMAL).writerows(rows)
    return text.getvalue()


def _texts(values: Any) -> list[str]:  # noqa: ANN401 - pyarrow has no types
    """Return the texts of values; an empty one for NULL."""
    kind = values.type
    if list_depth(kind):
        cells = values.to_pylist()
        return ["" if cell is None else json.dumps(cell, separators=(",", ":"), default=int) for cell in cells]
    if pa.types.is_boolean(kind):
        values = pc.if_else(values, "True", "False")
    found: list[str] = values.cast(pa.string()).fill_null("").to_pylist()
    return found
