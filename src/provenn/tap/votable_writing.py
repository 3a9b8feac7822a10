"""Answers as VOTables, as DALI demands: the status of the query, the table, and a mark where rows were left out."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from math import isinf, isnan
from typing import IO, Any, Final
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from provenn.spark.tables.parts import WrittenStatistics, measure_list_depth
from provenn.spark.tables.votable_elements import replace_unprintable
from provenn.spark.tables.votable_file import VOTableForm, choose_form, encode_rows
from provenn.tap.plain_tables import read_note
from provenn.tap.xml_text import clean_text

__all__ = ["VOTableNotes", "format_votable", "write_votable_answer"]

_ROWS: Final = 1 << 14
_LINE: Final = 3 << 14
_HEAD: Final = (
    '<?xml version="1.0" encoding="utf-8"?>\n'
    '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">\n<RESOURCE type="results">\n'
)
_TAIL: Final = "</VOTABLE>\n"


@dataclass(frozen=True, slots=True)
class VOTableNotes:
    """What a VOTable says beside its table.

    Parameters
    ----------
    infos
        Names and values of INFO elements before the table.
    overflow
        Whether rows were left out.
    services
        Elements after the results that describe services, as XML.
    ucds
        The UCD of a field, by the name of the column, in place of its own.
    """

    infos: Sequence[tuple[str, str]] = ()
    overflow: bool = False
    services: str = ""
    ucds: Mapping[str, str] = field(default_factory=dict)


def write_votable_answer(
    table: Any,  # noqa: ANN401 - pyarrow has no types
    stream: IO[bytes],
    notes: VOTableNotes,
    *,
    binary: bool,
) -> None:
    """Write a plain table into a stream as a VOTable.

    Parameters
    ----------
    table
        The table, as `provenn.tap.plain_tables` makes it.
    stream
        The stream.
    notes
        What the VOTable says beside the table.
    binary
        Whether rows are written as BINARY2; otherwise as TABLEDATA.
    """
    forms = _choose_forms(table)
    infos = [("QUERY_STATUS", "OK"), *notes.infos]
    fields = (_format_field(form, column, notes) for form, column in zip(forms, table.schema, strict=True))
    head = "".join(f"<INFO name={quoteattr(name)} value={quoteattr(clean_text(value))}/>\n" for name, value in infos)
    stream.write(f"{_HEAD}{head}<TABLE>\n{''.join(fields)}<DATA>".encode())
    for piece in _encode_binary(forms, table) if binary else _encode_text(forms, table):
        stream.write(piece)
    mark = '<INFO name="QUERY_STATUS" value="OVERFLOW">more rows match than were asked for</INFO>\n'
    end = f"</DATA></TABLE>\n{mark if notes.overflow else ''}</RESOURCE>\n{notes.services}{_TAIL}"
    stream.write(end.encode())


def format_votable(table: Any, notes: VOTableNotes) -> bytes:  # noqa: ANN401 - pyarrow has no types
    """Return a small plain table as a VOTable with TABLEDATA."""
    stream = BytesIO()
    write_votable_answer(table, stream, notes, binary=False)
    return stream.getvalue()


def _choose_forms(table: Any) -> list[VOTableForm]:  # noqa: ANN401 - pyarrow has no types
    """Return the form of each column; all arrays may have any length."""
    forms = []
    for column, values in zip(table.schema, table.columns, strict=True):
        statistics = WrittenStatistics()
        for chunk in values.chunks:
            statistics.update(chunk)
        form = choose_form(column, statistics)
        forms.append(replace(form, size="*") if measure_list_depth(column.type) == 1 else form)
    return forms


def _format_field(form: VOTableForm, column: Any, notes: VOTableNotes) -> str:  # noqa: ANN401 - pyarrow has no types
    properties = {
        "name": column.name,
        "datatype": form.datatype,
        "arraysize": form.size,
        "unit": read_note(column, "unit"),
        "ucd": notes.ucds.get(column.name) or read_note(column, "ucd"),
        "xtype": read_note(column, "xtype"),
    }
    texts = [f"{key}={quoteattr(replace_unprintable(value))}" for key, value in properties.items() if value]
    description = read_note(column, "description")
    inside = f"<DESCRIPTION>{escape(replace_unprintable(description))}</DESCRIPTION>" if description else ""
    inside += f'<VALUES null="{form.null}"/>' if form.null is not None else ""
    return f"<FIELD {' '.join(texts)}>{inside}</FIELD>\n"


def _encode_binary(forms: Sequence[VOTableForm], table: Any) -> Iterator[bytes]:  # noqa: ANN401 - pyarrow has no types
    """Yield the rows as BINARY2."""
    yield b'<BINARY2><STREAM encoding="base64">\n'
    rest = b""
    for batch in table.to_batches(max_chunksize=_ROWS):
        encoded = rest + encode_rows(forms, batch)
        whole = len(encoded) // _LINE * _LINE
        for place in range(0, whole, _LINE):
            yield b64encode(encoded[place : place + _LINE]) + b"\n"
        rest = encoded[whole:]
    yield b64encode(rest) + b"\n</STREAM></BINARY2>"


def _encode_text(forms: Sequence[VOTableForm], table: Any) -> Iterator[bytes]:  # noqa: ANN401 - pyarrow has no types
    """Yield the rows as TABLEDATA."""
    yield b"<TABLEDATA>\n"
    for batch in table.to_batches(max_chunksize=_ROWS):
        columns = [_write_cells(form, values) for form, values in zip(forms, batch.columns, strict=True)]
        rows = ("".join(f"<TD>{cell}</TD>" for cell in row) for row in zip(*columns, strict=True))
        yield "".join(f"<TR>{row}</TR>\n" for row in rows).encode()
    yield b"</TABLEDATA>"


def _write_cells(form: VOTableForm, values: Any) -> list[str]:  # noqa: ANN401 - pyarrow has no types
    """Return the texts of the cells of a column; NULL is empty."""
    cells = values.to_pylist()
    if form.datatype in ("char", "unicodeChar"):
        return ["" if cell is None else escape(clean_text(cell)) for cell in cells]
    if form.size:
        null = "NaN" if form.null is None else str(form.null)
        return [
            "" if cell is None else " ".join(null if item is None else _write_number(item, form) for item in cell)
            for cell in cells
        ]
    return ["" if cell is None else _write_number(cell, form) for cell in cells]


def _write_number(value: Any, form: VOTableForm) -> str:  # noqa: ANN401 - a number or a logical
    if isinstance(value, bool):
        return "T" if value else "F"
    if not isinstance(value, float):
        return str(value)
    if isnan(value):
        return "NaN"
    if isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(np.float32(value)) if form.datatype == "float" else repr(value)
