"""The files that the demo ingests: their columns, and what is said of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["BIGSKY", "HIPPARCOS", "NAMES", "Column", "schema", "write"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a file.

    Parameters
    ----------
    name
        Its name.
    type
        ``"int64"``, ``"double"`` or ``"string"``.
    description, unit, ucd
        For people and tools; they are kept in the file.
    key
        Whether it identifies a star: then it is never missing.
    """

    name: str
    type: str
    description: str
    unit: str = ""
    ucd: str = ""
    key: bool = False


_PHOTOMETRY = (
    Column("vmag", "double", "Johnson V magnitude", "mag", "phot.mag;em.opt.V"),
    Column("bv", "double", "Johnson B-V colour", "mag", "phot.color;em.opt.B;em.opt.V"),
)


def _astrometry(epoch: str) -> tuple[Column, ...]:
    return (
        Column("ra", "double", f"Right ascension, ICRS, epoch {epoch}", "deg", "pos.eq.ra;meta.main"),
        Column("dec", "double", f"Declination, ICRS, epoch {epoch}", "deg", "pos.eq.dec;meta.main"),
        Column("plx", "double", "Parallax", "mas", "pos.parallax"),
        Column("pmra", "double", "Proper motion in right ascension, times cos(dec)", "mas/yr", "pos.pm;pos.eq.ra"),
        Column("pmdec", "double", "Proper motion in declination", "mas/yr", "pos.pm;pos.eq.dec"),
    )


HIPPARCOS = (
    Column("hip", "int64", "Hipparcos number", "", "meta.id;meta.main", key=True),
    *_astrometry("J1991.25"),
    *_PHOTOMETRY,
)
BIGSKY = (
    Column("star", "int64", "Running number: the place in the file it comes from", "", "meta.record", key=True),
    Column("tyc", "string", "Tycho designation; several entries may have the same", "", "meta.id"),
    Column("hip", "int64", "Hipparcos number; components of a double star share it", "", "meta.id.cross"),
    *_astrometry("J2000"),
    *_PHOTOMETRY,
    Column("constellation", "string", "Constellation, abbreviated, lower case", "", "pos;meta.id.parent"),
)
NAMES = (
    Column("hip", "int64", "Hipparcos number", "", "meta.id;meta.main", key=True),
    Column("name", "string", "Proper name", "", "meta.id"),
    Column("bayer", "string", "Bayer's Greek letter", "", "meta.id"),
    Column("flamsteed", "string", "Flamsteed's number", "", "meta.id"),
    Column("constellation", "string", "Constellation, abbreviated", "", "pos;meta.id.parent"),
    Column("hd", "int64", "Henry Draper number", "", "meta.id.cross"),
)


def schema(columns: tuple[Column, ...]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the Arrow schema, with unit, description and UCD in the metadata of each field."""
    import pyarrow as pa  # noqa: PLC0415 - only where files are written

    return pa.schema(
        [
            pa.field(
                one.name,
                pa.type_for_alias(one.type),
                nullable=not one.key,
                metadata={
                    word: said
                    for word, said in (("unit", one.unit), ("description", one.description), ("ucd", one.ucd))
                    if said
                },
            )
            for one in columns
        ]
    )


def write(file: Path, columns: tuple[Column, ...], data: dict[str, Any]) -> None:
    """Write a Parquet file with these columns; what Arrow cannot have as their type is an error."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    table = pa.table({one.name: data[one.name] for one in columns}).cast(schema(columns))
    parquet.write_table(table, file, row_group_size=1 << 17)  # so that Spark reads a large one in several tasks
