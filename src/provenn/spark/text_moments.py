"""Timestamps in text files: a text becomes a value only if the text alone determines the moment.

If no timestamp format is set, Spark completes ``12:30`` with the current date, and looks up the name of a time zone
among the time zones of the machine's Java. So timestamp columns are read as text, and converted in the way criteria
convert texts. A text without a definite moment is an error, or NULL in the mode PERMISSIVE, as any other value that
does not fit. Spark reads DATE and TIMESTAMP_NTZ without the clock, and texts in a given format as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
    VariantType,
)

from provenn.criteria.moments import DAY_AND_TIME
from provenn.spark.columns import column
from provenn.spark.spark_errors import NO_MOMENT

__all__ = ["TextMoments", "holds_timestamp"]

_TEXTS: Final[Mapping[str, DataType]] = {"csv": StringType(), "json": VariantType(), "xml": StringType()}
"""The type in which a timestamp is read, by format. A variant distinguishes numbers, which count seconds, from text."""
_LONGEST = 60
_HAS_ZONE = r"-[0-9]+[ T][0-9:.]+ *[A-Z+-]"
_CONTROL = r"[\x00-\x1f\x7f]"


@dataclass(frozen=True, slots=True)
class TextMoments:
    """Reads the timestamps of text files.

    Parameters
    ----------
    format
        The format of the files.
    options
        Spark's options to read the files, by lower-case name.
    partitions
        The columns whose values are names of folders, which are text in every format.
    """

    format: str
    options: Mapping[str, str]
    partitions: tuple[str, ...] = ()

    def build_stored_struct(self, struct: StructType) -> StructType:
        """Return Spark's schema for reading the files, with text types instead of timestamps."""
        return StructType(
            [
                StructField(field.name, self._find_stored_type(field), field.nullable, field.metadata)
                for field in struct.fields
            ]
        )

    def convert_columns(self, frame: DataFrame, struct: StructType) -> dict[str, Column]:
        """Return the converted columns, by name, of all columns that need conversion.

        Parameters
        ----------
        frame
            The rows, read with `build_stored_struct`.
        struct
            The schema that the rows must have.
        """
        return {
            field.name: self._convert_value(
                column(field.name), field.dataType, stored, self._begin_message(frame, field)
            ).alias(field.name, metadata=field.metadata)
            for field in struct.fields
            if (stored := self._find_text_type(field)) is not None
        }

    def _find_text_type(self, field: StructField) -> DataType | None:
        """Return the type in which timestamps in a column are read; None if the column needs no conversion."""
        if not holds_timestamp(field.dataType):
            return None
        if field.name in self.partitions:
            return StringType()
        return None if "timestampformat" in self.options else _TEXTS.get(self.format)

    def _find_stored_type(self, field: StructField) -> DataType:
        text = self._find_text_type(field)
        return field.dataType if text is None else _replace_timestamps(field.dataType, text)

    def _begin_message(self, frame: DataFrame, field: StructField) -> Column | None:
        """Return the beginning of the error message for a column; None if texts without a moment become NULL."""
        if self.options.get("mode", "").lower() == "permissive":
            return None
        file = frame.metadataColumn("_metadata")["file_name"]
        return sql.concat(sql.lit(f"{NO_MOMENT}the column {field.name!r} of "), file, sql.lit(" holds "))

    def _convert_value(self, value: Column, kind: DataType, stored: DataType, complaint: Column | None) -> Column:
        """Return a value with timestamps instead of texts or variants."""
        match kind:
            case TimestampType() if stored == VariantType():
                return self._convert_variant(value, complaint)
            case TimestampType():
                return self._convert_text(sql.nullif(value, sql.lit("")) if self.format == "xml" else value, complaint)
            case ArrayType(elementType=element) if holds_timestamp(kind):
                return sql.transform(value, lambda inner: self._convert_value(inner, element, stored, complaint))
            case MapType(valueType=element) if holds_timestamp(kind):
                return sql.transform_values(
                    value, lambda _key, inner: self._convert_value(inner, element, stored, complaint)
                )
            case StructType(fields=fields) if holds_timestamp(kind):
                parts = (
                    self._convert_value(value.getField(field.name), field.dataType, stored, complaint).alias(field.name)
                    for field in fields
                )
                return sql.when(value.isNotNull(), sql.struct(*parts))
        return value

    def _convert_variant(self, value: Column, complaint: Column | None) -> Column:
        kind = sql.schema_of_variant(value)
        text = sql.try_variant_get(value, "$", "string")
        seconds = sql.try_variant_get(value, "$", "bigint")
        return (
            sql.when(value.isNull() | (kind == "VOID"), sql.lit(None).cast("timestamp"))
            .when(kind == "STRING", self._convert_text(text, complaint))
            .when(kind == "BIGINT", sql.timestamp_micros(seconds * sql.lit(1_000_000).cast("bigint")))
            .otherwise(_make_failure(text, complaint))
        )

    def _convert_text(self, text: Column, complaint: Column | None) -> Column:
        moment = sql.regexp_extract(text, DAY_AND_TIME, 0).try_cast("timestamp")
        zone = self.options.get("timezone")
        if zone is not None:
            moment = sql.when(text.rlike(_HAS_ZONE), moment).otherwise(sql.to_utc_timestamp(moment, zone))
        return sql.when(text.isNull() | moment.isNotNull(), moment).otherwise(_make_failure(text, complaint))


def holds_timestamp(kind: DataType) -> bool:
    """Return whether a type is TIMESTAMP, or contains one."""
    return _replace_timestamps(kind, StringType()) != kind


def _replace_timestamps(kind: DataType, text: DataType) -> DataType:
    match kind:
        case TimestampType():
            return text
        case ArrayType(elementType=element, containsNull=nullable):
            return ArrayType(_replace_timestamps(element, text), nullable)
        case MapType(keyType=key, valueType=element, valueContainsNull=nullable):
            return MapType(key, _replace_timestamps(element, text), nullable)
        case StructType(fields=fields):
            return StructType(
                [
                    StructField(field.name, _replace_timestamps(field.dataType, text), field.nullable, field.metadata)
                    for field in fields
                ]
            )
    return kind


def _make_failure(text: Column, complaint: Column | None) -> Column:
    """Return a column that fails with a message about a text; NULL if there is no message."""
    if complaint is None:
        return sql.lit(None).cast("timestamp")
    shown = sql.regexp_replace(sql.left(text, sql.lit(_LONGEST)), _CONTROL, " ")
    return sql.raise_error(sql.concat(complaint, sql.lit("'"), shown, sql.lit("'"))).cast("timestamp")
