"""The columns of the files that the demo ingests, with their descriptions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["BIGSKY", "HIPPARCOS", "NAMES", "StarColumn", "build_schema", "write_star_table"]


@dataclass(frozen=True, slots=True)
class StarColumn:
    """A column of a file of stars.

    Parameters
    ----------
    name
        The name of the column.
    type
        ``"int64"``, ``"double"`` or ``"string"``.
    description, unit, ucd
        Metadata for people and tools; the file contains them.
    key
        Whether the column identifies a star; a key is never missing.
    """

    name: str
    type: str
    description: str
    unit: str = ""
    ucd: str = ""
    key: bool = False


_PHOTOMETRY = (
    StarColumn("vmag", "double", "Johnson V magnitude", "mag", "phot.mag;em.opt.V"),
    StarColumn("bv", "double", "Johnson B-V colour", "mag", "phot.color;em.opt.B;em.opt.V"),
)


def _build_astrometry(epoch: str) -> tuple[StarColumn, ...]:
    return (
        StarColumn("ra", "double", f"Right ascension, ICRS, epoch {epoch}", "deg", "pos.eq.ra;meta.main"),
        StarColumn("dec", "double", f"Declination, ICRS, epoch {epoch}", "deg", "pos.eq.dec;meta.main"),
        StarColumn("plx", "double", "Parallax", "mas", "pos.parallax"),
        StarColumn("pmra", "double", "Proper motion in right ascension, times cos(dec)", "mas/yr", "pos.pm;pos.eq.ra"),
        StarColumn("pmdec", "double", "Proper motion in declination", "mas/yr", "pos.pm;pos.eq.dec"),
    )


HIPPARCOS = (
    StarColumn("hip", "int64", "Hipparcos number", "", "meta.id;meta.main", key=True),
    *_build_astrometry("J1991.25"),
    *_PHOTOMETRY,
)
BIGSKY = (
    StarColumn("star", "int64", "Running number: the place in the file it comes from", "", "meta.record", key=True),
    StarColumn("tyc", "string", "Tycho designation; several entries may have the same", "", "meta.id"),
    StarColumn("hip", "int64", "Hipparcos number; components of a double star share it", "", "meta.id.cross"),
    *_build_astrometry("J2000"),
    *_PHOTOMETRY,
    StarColumn("constellation", "string", "Constellation, abbreviated, lower case", "", "pos;meta.id.parent"),
)
NAMES = (
    StarColumn("hip", "int64", "Hipparcos number", "", "meta.id;meta.main", key=True),
    StarColumn("name", "string", "Proper name", "", "meta.id"),
    StarColumn("bayer", "string", "Bayer's Greek letter", "", "meta.id"),
    StarColumn("flamsteed", "string", "Flamsteed's number", "", "meta.id"),
    StarColumn("constellation", "string", "Constellation, abbreviated", "", "pos;meta.id.parent"),
    StarColumn("hd", "int64", "Henry Draper number", "", "meta.id.cross"),
)


def build_schema(columns: tuple[StarColumn, ...]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the Arrow schema, with unit, description and UCD in the metadata of each field."""
    import pyarrow as pa  # noqa: PLC0415 - only where files are written

    return pa.schema(
        [
            pa.field(
                column.name,
                pa.type_for_alias(column.type),
                nullable=not column.key,
                metadata={
                    key: value
                    for key, value in (("unit", column.unit), ("description", column.description), ("ucd", column.ucd))
                    if value
                },
            )
            for column in columns
        ]
    )


def write_star_table(file: Path, columns: tuple[StarColumn, ...], data: dict[str, Any]) -> None:
    """Write a Parquet file with the given columns; data that Arrow cannot cast to a column's type are an error."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    table = pa.table({column.name: data[column.name] for column in columns}).cast(build_schema(columns))
    # Row groups are small, so that Spark reads a large file in several tasks.
    parquet.write_table(table, file, row_group_size=1 << 17, write_page_checksum=True)
