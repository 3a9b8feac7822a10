"""Stars and detections with positions, as catalogs and in DuckDB, for tests of ADQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import sqlglot

from provenn.archive.query_answers import sort_positions
from provenn.catalogs import Base, Catalog
from provenn.errors import UnknownCatalogError, did_you_mean
from provenn.queries.query_reading import QueryTable, read_query
from provenn.queries.translation import Translation, translate
from tests.queries.empty_inputs import create_empty_inputs
from tests.queries.shops import prove
from tests.spark.dialect import MACROS
from tests.spark.lineages import write_base
from tests.spark.oracle import Oracle

__all__ = ["KEYS", "REFERENCE", "UNITS", "AdqlWorld", "make_adql_world", "make_sky_tables"]

KEYS = {"stars": "hip", "gaia": "id", "cons": "con"}
UNITS = {"stars": {"ra": "deg", "dec": "deg", "plx": "mas"}, "gaia": {"ra": "deg", "dec": "deg"}}
_POPULATIONS = {"stars": "star", "gaia": "detection", "cons": "constellation"}
_SPARK = {
    "INTEGER": "int",
    "BIGINT": "bigint",
    "HUGEINT": "decimal(38,0)",
    "VARCHAR": "string",
    "BOOLEAN": "boolean",
    "DOUBLE": "double",
    "FLOAT": "float",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
    "TIMESTAMP": "timestamp",
}

REFERENCE = """
CREATE MACRO ux(ra, dec) AS cos(radians(dec)) * cos(radians(ra));
CREATE MACRO uy(ra, dec) AS cos(radians(dec)) * sin(radians(ra));
CREATE MACRO uz(ra, dec) AS sin(radians(dec));
CREATE MACRO cross2(a, b, c, d) AS pow(uy(a, b) * uz(c, d) - uz(a, b) * uy(c, d), 2)
    + pow(uz(a, b) * ux(c, d) - ux(a, b) * uz(c, d), 2) + pow(ux(a, b) * uy(c, d) - uy(a, b) * ux(c, d), 2);
CREATE MACRO dist(a, b, c, d) AS
    degrees(atan2(sqrt(cross2(a, b, c, d)), ux(a, b) * ux(c, d) + uy(a, b) * uy(c, d) + uz(a, b) * uz(c, d)));
CREATE MACRO triple(a, b, c, d, e, f) AS
    ux(a, b) * (uy(c, d) * uz(e, f) - uz(c, d) * uy(e, f)) +
    uy(a, b) * (uz(c, d) * ux(e, f) - ux(c, d) * uz(e, f)) +
    uz(a, b) * (ux(c, d) * uy(e, f) - uy(c, d) * ux(e, f));
CREATE MACRO quotient(a, b) AS CASE WHEN b = 0 THEN NULL ELSE CAST(a AS DOUBLE) / b END;
"""
"""The geometry of references: cross and triple products of unit vectors, unlike the code."""


def _find_cell(ra: float, dec: float, order: int) -> int:
    """Return the number of a HEALPix cell, as cdshealpix finds it."""
    import astropy.units as u  # noqa: PLC0415 - slow to import
    from astropy.coordinates import Latitude, Longitude  # noqa: PLC0415
    from cdshealpix import nested  # noqa: PLC0415

    return int(nested.lonlat_to_healpix(Longitude(ra * u.deg), Latitude(dec * u.deg), order)[0])


def make_sky_tables(
    seed: int = 0, stars: int = 60, detections: int = 60, *, has_units: bool = True
) -> dict[str, pa.Table]:
    """Return tables with positions in a few square degrees around right ascension 0, with NULLs and equal values."""
    random = Random(seed)

    def maybe(value: object, chance: float = 0.12) -> object:
        return None if random.random() < chance else value

    def place() -> tuple[object, object]:
        return maybe(round(random.uniform(-4, 4) % 360, 6), 0.05), maybe(round(random.uniform(-3, 3), 6), 0.05)

    places = [place() for _ in range(stars)]
    near = [
        (ra, None if dec is None else round(dec + random.uniform(-0.05, 0.05), 6))
        for ra, dec in random.choices(places, k=detections // 2)
    ]
    near += [place() for _ in range(detections - len(near))]
    begin = datetime(2020, 1, 1, tzinfo=UTC)
    names = ("alpha", "Beta", "beta_2", "GAMMA", "it's", "50%", "")
    cons = ("Cyg", "Lyr", "Ori", "Peg")
    tables = {
        "stars": pa.table(
            {
                "hip": pa.array(range(1, stars + 1), pa.int32()),
                "ra": pa.array([ra for ra, _ in places], pa.float64()),
                "dec": pa.array([dec for _, dec in places], pa.float64()),
                "vmag": pa.array([maybe(random.randrange(0, 48) / 4) for _ in places], pa.float64()),
                "plx": pa.array([maybe(random.randrange(-4, 40) / 2) for _ in places], pa.float64()),
                "nobs": pa.array([maybe(random.randrange(-2, 9)) for _ in places], pa.int32()),
                "Name": pa.array([maybe(random.choice(names)) for _ in places], pa.string()),
                "con": pa.array([maybe(random.choice((*cons, "Xyz"))) for _ in places], pa.string()),
                "seen": pa.array(
                    [maybe(begin + timedelta(hours=random.randrange(5000))) for _ in places], pa.timestamp("us", "UTC")
                ),
            }
        ),
        "gaia": pa.table(
            {
                "id": pa.array([10**12 + 7 * number for number in range(detections)], pa.int64()),
                "ra": pa.array([ra for ra, _ in near], pa.float64()),
                "dec": pa.array([dec for _, dec in near], pa.float64()),
                "gmag": pa.array([maybe(random.randrange(0, 48) / 4) for _ in near], pa.float64()),
                "hip": pa.array([maybe(random.randrange(1, stars + 10)) for _ in near], pa.int32()),
            }
        ),
        "cons": pa.table(
            {"con": list(cons), "area": pa.array([804.0, 286.5, 594.1, None], pa.float64()), "rank": [16, 52, 26, 7]}
        ),
    }
    units = UNITS if has_units else {}
    return {name: table.cast(_note_units(table.schema, units.get(name, {}))) for name, table in tables.items()}


def _note_units(schema: pa.Schema, units: Mapping[str, str]) -> pa.Schema:
    """Return a schema with units in the metadata of its fields."""
    fields = [field.with_metadata({"unit": units[field.name]}) if field.name in units else field for field in schema]
    return pa.schema(fields)


@dataclass(frozen=True)
class AdqlWorld:
    """The tables, as catalogs and in DuckDB."""

    tables: Mapping[str, pa.Table]
    catalogs: Mapping[str, Base]

    def find_table(self, parts: tuple[str, ...]) -> QueryTable:
        """Return a table by name."""
        name = parts[-1].lower()
        if name not in self.catalogs:
            raise UnknownCatalogError(f"there is no table {parts[-1]}", hint=did_you_mean(name, self.catalogs))
        schema = self.catalogs[name].schema
        units = {one.name: one.unit for one in schema.attributes if one.unit}
        return QueryTable(name, schema.names, units, {one.name: one.type for one in schema.attributes})

    def translate(self, text: str, *, keeps_order: bool = False, dialect: str = "adql") -> Translation:
        """Return the catalog that a query means."""
        node = read_query(text, self, dialect)
        return translate(
            node, self.catalogs, prove=prove, find_types=self.find_types, is_request=True, keeps_order=keeps_order
        )

    def find_types(self, text: str, inputs: Sequence[Catalog]) -> list[tuple[str, str, bool]]:
        """Return the columns of a query, with the types that DuckDB finds."""
        with duckdb.connect() as database:
            database.execute(MACROS)
            create_empty_inputs(database, inputs)
            written = sqlglot.transpile(text, read="spark", write="duckdb")[0]
            rows = database.sql(f"DESCRIBE {written}").fetchall()
        return [(name, _SPARK[kind], True) for name, kind, *_ in rows]

    @cached_property
    def oracle(self) -> Oracle:
        """The meaning of catalogs in DuckDB."""
        return Oracle({self.catalogs[name].digest: table for name, table in self.tables.items()})

    @cached_property
    def database(self) -> duckdb.DuckDBPyConnection:
        """The tables in DuckDB, with the geometry of references."""
        database = duckdb.connect()
        database.execute("SET TimeZone = 'UTC'")
        database.execute(REFERENCE)
        database.create_function("cell", _find_cell, [float, float, int], int, null_handling="default")
        for name, table in self.tables.items():
            database.register(name, table)
        return database

    def answer(self, text: str, dialect: str = "adql") -> list[tuple[object, ...]]:
        """Return the rows of a query, in its order."""
        translation = self.translate(text, keeps_order=True, dialect=dialect)
        rows = self.oracle.table(translation.catalog).to_pylist()
        for name, is_descending, nulls_first in reversed(translation.order):
            rows = [rows[place] for place in sort_positions([row[name] for row in rows], is_descending, nulls_first)]
        return [tuple(read_value(row[name]) for name in translation.columns) for row in rows]

    def refer(self, text: str) -> list[tuple[object, ...]]:
        """Return the rows that DuckDB finds for a query of its own dialect."""
        return [tuple(map(read_value, row)) for row in self.database.sql(text).fetchall()]

    def check(self, adql: str, reference: str, *, is_ordered: bool = False) -> int:
        """Compare the answer of a query with a reference, and return the number of rows."""
        rows, expected = self.answer(adql), self.refer(reference)
        if is_ordered:
            assert rows == expected, (adql, reference)
        assert Counter(rows) == Counter(expected), (adql, reference)
        return len(rows)


def read_value(value: object) -> object:
    """Return a value that compares with those of other types, and with values rounded otherwise."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | Decimal | float):
        return "nan" if value != value else round(float(value), 8) + 0.0  # noqa: PLR0124 - NaN alone
    return value.astimezone(UTC) if isinstance(value, datetime) else value


def make_adql_world(folder: Path, seed: int = 0, *, has_units: bool = True) -> AdqlWorld:
    """Write the tables below a folder, and take them for catalogs."""
    tables = make_sky_tables(seed, has_units=has_units)
    catalogs = {
        name: write_base(folder, table, key=KEYS[name], population=_POPULATIONS[name]) for name, table in tables.items()
    }
    return AdqlWorld(tables, catalogs)
