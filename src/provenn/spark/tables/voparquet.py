"""The header of VOParquet: a VOTable without rows in the footer of a Parquet file.

A note of the IVOA, "VOParquet", defines both keys. The fields of the VOTable are the columns of the file, in order, so
that programs of the Virtual Observatory find units, UCDs and descriptions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa

from provenn.catalogs.schema import Attribute
from provenn.files.columns import FileColumn
from provenn.files.export_notes import FileNotes
from provenn.files.parquet_columns import VOTABLE_KEY, VOTABLE_VERSION_KEY
from provenn.spark.tables.cells import name_type
from provenn.spark.tables.votable_elements import build_votable_head, replace_unprintable

__all__ = ["build_voparquet_header"]

_TYPES = {
    "bool": "boolean",
    "int8": "short",
    "int16": "short",
    "int32": "int",
    "int64": "long",
    "float": "float",
    "double": "double",
    "complex float": "floatComplex",
    "complex double": "doubleComplex",
}


def build_voparquet_header(
    schema: Any,  # noqa: ANN401 - pyarrow has no types
    attributes: Sequence[Attribute | FileColumn],
    notes: FileNotes,
) -> dict[str, str]:
    """Return the keys and values of VOParquet for the footer of a Parquet file.

    A column of a type that VOTables lack, such as a struct, is described as text: the types of values are those of
    Parquet.

    Parameters
    ----------
    schema
        The Arrow schema of the file.
    attributes
        The attributes of the columns, in the same order.
    notes
        The metadata of the file. Words and lineage are not repeated here: other keys of the footer hold them.
    """
    metadata = {key: value for key, value in notes.metadata.items() if key == replace_unprintable(key).strip()}
    head = build_votable_head(
        replace(notes, words="", lineage=(), metadata=metadata),
        [attribute for attribute in attributes if isinstance(attribute, Attribute)],
    )
    fields = []
    for field, attribute in zip(schema, attributes, strict=True):
        datatype, size = _choose_type(field.type)
        properties = {"name": attribute.name, "datatype": datatype, "arraysize": size}
        properties |= {"unit": attribute.unit, "ucd": attribute.ucd, "ref": head.references.get(attribute.name, "")}
        properties["xtype"] = "timestamp" if pa.types.is_timestamp(field.type) else ""
        text = " ".join(f"{key}={quoteattr(replace_unprintable(value))}" for key, value in properties.items() if value)
        description = escape(replace_unprintable(attribute.description))
        inside = f"<DESCRIPTION>{description}</DESCRIPTION>" if description else ""
        fields.append(f"<FIELD {text}>{inside}</FIELD>\n")
    content = (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE>\n'
        f"{head.elements}<TABLE>\n{''.join(fields)}</TABLE></RESOURCE></VOTABLE>\n"
    )
    return {VOTABLE_VERSION_KEY: "1.0", VOTABLE_KEY: content}


def _choose_type(kind: Any) -> tuple[str, str]:  # noqa: ANN401 - pyarrow has no types
    """Return the type and the size of arrays of a column in a VOTable."""
    if datatype := _TYPES.get(name_type(kind)):
        return datatype, ""
    if pa.types.is_list(kind) and (datatype := _TYPES.get(name_type(kind.value_type))):
        return datatype, "*"
    return "char", "*"
