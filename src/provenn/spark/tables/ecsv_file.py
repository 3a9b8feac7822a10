"""Writing an ECSV file (APE 6) batch by batch: CSV below a YAML header with types, units and the origin.

NULL is an empty cell, and so is the empty text: ECSV cannot distinguish them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from provenn.catalogs.schema import Attribute
from provenn.errors import FormatError
from provenn.files.export_notes import NO_NOTES, FileNotes
from provenn.spark.tables.parts import PartFiles, WrittenStatistics, measure_list_depth

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
_OTHER_BREAKS = frozenset("\r\x85\u2028\u2029")


def write_ecsv(parts: PartFiles, attributes: Sequence[Attribute], stream: Any, notes: FileNotes = NO_NOTES) -> int:  # noqa: ANN401 - pyarrow has no types
    """Write the rows of part files into a stream as ECSV, and return the number of rows.

    Raises
    ------
    FormatError
        If ECSV cannot hold the rows.
    """
    statistics = parts.collect_statistics()
    columns = [
        _describe_column(field, attribute, statistics[field.name])
        for field, attribute in zip(parts.schema, attributes, strict=True)
    ]
    stream.write(_format_header(columns, notes).encode())
    rows = 0
    for batch in parts.read_batches():
        stream.write(_format_lines(list(zip(*map(_format_values, batch.columns), strict=True))).encode())
        rows += len(batch)
    return rows


def _describe_column(field: Any, attribute: Attribute, statistics: WrittenStatistics) -> dict[str, Any]:  # noqa: ANN401 - pyarrow has no types
    """Return the entry of the header for a column."""
    kind, depth = field.type, measure_list_depth(field.type)
    for _ in range(depth):
        kind = kind.value_type
    datatype = _TYPES.get(str(kind)) or _find_integer_type(kind, statistics)
    if datatype is None:
        raise FormatError(
            f"ECSV cannot hold the column {field.name}, of the type {field.type}",
            hint=f"write Parquet; or derive it in another type, such as CAST({field.name} AS string)",
        )
    entry: dict[str, Any] = {"name": attribute.name}
    entry |= {"unit": attribute.unit} if attribute.unit else {}
    entry["datatype"] = "string" if depth else datatype
    entry |= {"subtype": f"{datatype}[{_format_shape(field.name, statistics, depth)}]"} if depth else {}
    entry |= {"description": attribute.description} if attribute.description else {}
    return entry | ({"meta": {"ucd": attribute.ucd}} if attribute.ucd else {})


def _find_integer_type(kind: Any, statistics: WrittenStatistics) -> str | None:  # noqa: ANN401 - pyarrow has no types
    """Return the type of whole numbers that are decimals in Spark, such as unsigned 64-bit numbers, or None."""
    least, most = statistics.extremes or (0, 0)
    if not pa.types.is_decimal(kind) or kind.scale != 0:
        return None
    if least >= -(2**63) and most < 2**63:
        return "int64"
    return "uint64" if least >= 0 and most < 2**64 else None


def _format_shape(name: str, statistics: WrittenStatistics, depth: int) -> str:
    """Return the lengths of arrays; arrays in arrays must all have one length at each depth."""
    varies = any(shortest != longest for shortest, longest in statistics.lengths)
    if depth == 1:
        return "null"
    if statistics.gaps or varies or len(statistics.lengths) < depth:
        raise FormatError(
            f"in ECSV arrays of arrays must have one length; those of {name} differ, or one is NULL",
            hint="write Parquet",
        )
    return ",".join(str(longest) for _, longest in statistics.lengths)


def _format_header(columns: Sequence[dict[str, Any]], notes: FileNotes) -> str:
    import yaml  # noqa: PLC0415 - only ECSV needs it

    meta = dict(notes.metadata) | ({"provenn": json.loads(notes.text(_LONGEST))} if notes.version else {})
    header = {"delimiter": ",", "datatype": columns, **({"meta": meta} if meta else {}), "schema": "astropy-2.0"}

    class Dumper(yaml.SafeDumper):  # type: ignore[misc] # yaml has no types
        """Writes texts with line breaks except LF in double quotes, with the line breaks escaped.

        YAML would write these line breaks unescaped, and read a blank or LF instead.
        """

    def represent_text(dumper: Any, text: str) -> Any:  # noqa: ANN401 - yaml has no types
        style = '"' if _OTHER_BREAKS.intersection(text) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)

    Dumper.add_representer(str, represent_text)
    text = yaml.dump(header, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=1000)
    lines = ["%ECSV 1.0", "---", *text.removesuffix("\n").split("\n")]
    return "".join(f"# {line}\n" for line in lines) + _format_lines([[column["name"] for column in columns]])


def _format_lines(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines of CSV, all in quotes if a line could begin with #, which readers take for a comment."""
    needs_quotes = any(row[0].lstrip().startswith("#") or row[0] != row[0].strip() for row in rows)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if needs_quotes else csv.QUOTE_MINIMAL).writerows(rows)
    return text.getvalue()


def _format_values(values: Any) -> list[str]:  # noqa: ANN401 - pyarrow has no types
    """Return values as texts, with an empty text for NULL."""
    kind = values.type
    if measure_list_depth(kind):
        cells = values.to_pylist()
        return ["" if cell is None else json.dumps(cell, separators=(",", ":"), default=int) for cell in cells]
    if pa.types.is_boolean(kind):
        values = pc.if_else(values, "True", "False")
    texts: list[str] = values.cast(pa.string()).fill_null("").to_pylist()
    return texts
