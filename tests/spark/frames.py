"""Catalogs as Spark computes them, for tests: many of them in one job."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import reduce

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import StructField, StructType

from provenn.catalogs import Base, Catalog
from provenn.catalogs.schema import Attribute
from tests.spark.plain_plan import ReadLeaf, compile_catalog

__all__ = ["collected", "comparable", "computed", "notes", "parquet_leaf"]


def parquet_leaf(session: SparkSession) -> ReadLeaf:
    """Read base catalogs from their Parquet files, plainly."""
    read: dict[str, DataFrame] = {}

    def leaf(catalog: Catalog) -> DataFrame | None:
        if isinstance(catalog, Base) and catalog.digest not in read:
            kinds = ", ".join(f"c{n} {one.type}" for n, one in enumerate(catalog.schema.attributes))
            fields = zip(StructType.fromDDL(kinds), catalog.schema.attributes, strict=True)
            schema = [StructField(one.name, field.dataType, metadata=notes(one)) for field, one in fields]
            read[catalog.digest] = session.read.schema(StructType(schema)).parquet(catalog.files.location)
        return read.get(catalog.digest)

    return leaf


def notes(attribute: Attribute) -> dict[str, str]:
    """Return what is said of an attribute, as metadata of its column."""
    told = {"unit": attribute.unit, "description": attribute.description, "ucd": attribute.ucd}
    return {name: text for name, text in told.items() if text}


def computed(catalogs: Sequence[Catalog], leaf: ReadLeaf) -> list[list[tuple[object, ...]]]:
    """Return the rows of catalogs, whose columns are what their schemas say; all from one job of Spark.

    A double is given by how it is written, so that NaN is itself and -0.0 is not 0.0.
    """
    frames = [compile_catalog(catalog, leaf) for catalog in catalogs]
    for one, frame in zip(catalogs, frames, strict=True):
        expected = [(attribute.name, str(attribute.type), notes(attribute)) for attribute in one.schema.attributes]
        assert [(each.name, each.dataType.simpleString(), each.metadata) for each in frame.schema] == expected
    return collected(frames, [catalog.schema.attributes for catalog in catalogs])


def collected(frames: Sequence[DataFrame], attributes: Sequence[Sequence[Attribute]]) -> list[list[tuple[object, ...]]]:
    """Return the rows of frames, given the attributes of each; all from one job of Spark."""
    texts = [
        frame.select(sql.lit(n).alias("n"), sql.array(*(_column(name).cast("string") for name in frame.columns)))
        for n, frame in enumerate(frames)
    ]
    found: list[list[tuple[object, ...]]] = [[] for _ in frames]
    for number, values in reduce(DataFrame.union, texts).collect():
        kinds = [str(one.type) for one in attributes[number]]
        found[number].append(tuple(_read(kind, text) for kind, text in zip(kinds, values, strict=True)))
    return [sorted(rows, key=repr) for rows in found]


def comparable(table: pa.Table) -> list[tuple[object, ...]]:
    """Return the rows of a table as `computed` does."""
    columns = [[_exact(value) for value in column.to_pylist()] for column in table.columns]
    return sorted(zip(*columns, strict=True), key=repr)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _column(name: str):
    return sql.col(_quoted(name))


_READERS: dict[str, Callable[[str], object]] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), int),
    "float": lambda text: float(np.float32(text)),
    "double": float,
    "string": str,
    "boolean": {"true": True, "false": False}.__getitem__,
    "date": date.fromisoformat,
    "timestamp": lambda text: datetime.fromisoformat(text).replace(tzinfo=UTC),
}


def _read(kind: str, text: str | None) -> object:
    if text is None:
        return None
    if kind.startswith("array<"):  # of numbers: Spark does not quote texts
        items = text[1:-1].split(", ") if text != "[]" else []
        return tuple(None if item == "null" else _read(kind[6:-1], item) for item in items)
    reader = Decimal if kind.startswith("decimal") else _READERS[kind]
    return _exact(reader(text))


def _exact(value: object) -> object:
    if isinstance(value, list):
        return tuple(map(_exact, value))
    return repr(value) if isinstance(value, float) else value
