"""The tables of the service: the catalogs with a name that the viewer sees, and TAP_SCHEMA itself."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from provenn.archive import Archive
from provenn.catalogs import Catalog, LookupAttributes
from provenn.data.planning_state import read_planning_state
from provenn.database.transactions import Reading
from provenn.definitions import catalog_names, catalog_store
from provenn.digests import CatalogDigest
from provenn.errors import DefinitionError
from provenn.sky.positions import find_position_attributes, read_angle_unit
from provenn.tap.column_types import ColumnType, find_column_type
from provenn.words.definition_words import describe_publicly
from provenn.words.vocabulary import Vocabulary

__all__ = ["SCHEMA", "ForeignKey", "ServedColumn", "ServedTable", "TableCache", "find_table", "quote_name"]

SCHEMA: Final = "catalogs"
"""The name of the schema that holds all catalogs."""

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_LONGEST: Final = 500


@dataclass(frozen=True, slots=True)
class ServedColumn:
    """A column of a table.

    Parameters
    ----------
    name
        Its name, quoted where ADQL demands it.
    type
        Its type in a VOTable.
    unit, ucd, description
        Its metadata; empty if unknown.
    key
        Whether it belongs to the key.
    standard
        Whether a standard defines it.
    label
        Its name without quotes; empty for a column of TAP_SCHEMA.
    """

    name: str
    type: ColumnType
    unit: str = ""
    ucd: str = ""
    description: str = ""
    key: bool = False
    standard: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A reference of a table to another: pairs of a referring column and a column of the key."""

    target: str
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ServedTable:
    """A table of the service.

    Parameters
    ----------
    schema, name
        The schema, and the name in queries, quoted where ADQL demands it.
    description
        The definition in words.
    columns, keys
        The columns, and the references to other tables.
    catalog
        The name of the catalog; empty for tables of TAP_SCHEMA.
    digest
        The digest of the catalog.
    position
        The names of the attributes of right ascension and declination, if it has a position in degrees.
    """

    schema: str
    name: str
    description: str
    columns: tuple[ServedColumn, ...]
    keys: tuple[ForeignKey, ...] = ()
    catalog: str = ""
    digest: str = ""
    position: tuple[str, str] | None = None


def quote_name(name: str) -> str:
    """Return a name as a query writes it: in quotes unless it is a plain identifier and no reserved word.

    >>> quote_name("vmag"), quote_name("bright stars"), quote_name("order"), quote_name('a"b')
    ('vmag', '"bright stars"', '"order"', '"a""b"')
    """
    if _PLAIN.fullmatch(name) and name.upper() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


@dataclass(slots=True)
class TableCache:
    """The tables as a person sees them, read anew when the archive has changed."""

    _latest: tuple[Hashable, tuple[ServedTable, ...]] | None = field(default=None)

    def list_tables(self, archive: Archive) -> tuple[ServedTable, ...]:
        """Return a table for each name that the viewer sees, sorted by name."""
        with archive.context.database.reading() as reading:
            state = read_planning_state(reading)
            if self._latest is None or self._latest[0] != state:
                self._latest = state, tuple(_read_tables(reading))
            return self._latest[1]


def _read_tables(reading: Reading) -> Iterable[ServedTable]:
    records = catalog_names.list_names(reading)
    definitions = catalog_store.get_catalogs(reading, [record.catalog for record in records]) if records else {}
    names: dict[CatalogDigest, str] = {}
    for record in records:
        names.setdefault(record.catalog, record.name)
    words = Vocabulary.of(reading, [], {}, (), list(names))
    for record in records:
        definition = definitions[record.catalog]
        text = describe_publicly(definition, words.word)  # registries copy it
        yield ServedTable(
            SCHEMA,
            quote_name(record.name),
            text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…",
            _list_columns(definition),
            tuple(_list_keys(definition, names, definitions)),
            record.name,
            record.catalog,
            _find_position(definition),
        )


def _list_columns(definition: Catalog) -> tuple[ServedColumn, ...]:
    key = {attribute.name for attribute in definition.schema.key}
    return tuple(
        ServedColumn(
            quote_name(attribute.name),
            find_column_type(str(attribute.type)),
            attribute.unit,
            attribute.ucd,
            attribute.description,
            attribute.name in key,
            label=attribute.name,
        )
        for attribute in definition.schema.attributes
    )


def _list_keys(
    definition: Catalog, names: Mapping[CatalogDigest, str], definitions: Mapping[CatalogDigest, Catalog]
) -> Iterable[ForeignKey]:
    """Yield the references that the definition of a catalog follows, to catalogs with a name."""
    if not isinstance(definition, LookupAttributes) or definition.other.digest not in names:
        return
    target = definitions[definition.other.digest]
    key = [attribute.name for attribute in target.schema.key]
    referring = [_find_referring(definition, name) for name in definition.on_names]
    if None not in referring and len(referring) == len(key):
        pairs = tuple((quote_name(name or ""), quote_name(column)) for name, column in zip(referring, key, strict=True))
        yield ForeignKey(quote_name(names[definition.other.digest]), pairs)


def _find_referring(definition: LookupAttributes, name: str) -> str | None:
    matches = definition.parent.schema.matching(name)
    return matches[0].name if len(matches) == 1 and matches[0].name in definition.schema.names else None


def _find_position(definition: Catalog) -> tuple[str, str] | None:
    try:
        longitude, latitude = find_position_attributes(definition.schema)
        units = {read_angle_unit(longitude), read_angle_unit(latitude)}
    except DefinitionError:
        return None
    if not (longitude.type.numeric and latitude.type.numeric):
        return None
    if units != {"deg"}:
        return None  # a query compares the values themselves with degrees
    return longitude.name, latitude.name


def find_table(tables: Sequence[ServedTable], name: str) -> ServedTable | None:
    """Return the table of a catalog with a name, or None."""
    return next((table for table in tables if table.catalog == name), None)


_RESERVED: Final = frozenset(
    """
    ABS ABSOLUTE ACOS ACTION ADD ALL ALLOCATE ALTER AND ANY ARE AREA AS ASC ASIN ASSERTION AT ATAN ATAN2 AUTHORIZATION
    AVG BEGIN BETWEEN BIGINT BIT BIT_LENGTH BOTH BOX BY CASCADE CASCADED CASE CAST CATALOG CEILING CENTROID CHAR
    CHARACTER CHARACTER_LENGTH CHAR_LENGTH CHECK CIRCLE CLOSE COALESCE COLLATE COLLATION COLUMN COMMIT CONNECT
    CONNECTION CONSTRAINT CONSTRAINTS CONTAINS CONTINUE CONVERT COORD1 COORD2 COORDSYS CORRESPONDING COS COT COUNT
    CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURSOR DATE DAY DEALLOCATE DEC
    DECIMAL DECLARE DEFAULT DEFERRABLE DEFERRED DEGREES DELETE DESC DESCRIBE DESCRIPTOR DIAGNOSTICS DISCONNECT DISTANCE
    DISTINCT DOMAIN DOUBLE DROP ELSE END END-EXEC ESCAPE EXCEPT EXCEPTION EXEC EXECUTE EXISTS EXP EXTERNAL EXTRACT
    FALSE FETCH FIRST FLOAT FLOOR FOR FOREIGN FOUND FROM FULL GET GLOBAL GO GOTO GRANT GROUP HAVING HOUR IDENTITY
    ILIKE IMMEDIATE IN INDICATOR INITIALLY INNER INPUT INSENSITIVE INSERT INT INTEGER INTERSECT INTERSECTS INTERVAL
    INTO IN_UNIT IS ISOLATION JOIN KEY LANGUAGE LAST LEADING LEFT LEVEL LIKE LOCAL LOG LOG10 LOWER MATCH MAX MIN MINUTE
    MOD MODULE MONTH NAMES NATIONAL NATURAL NCHAR NEXT NO NOT NULL NULLIF NUMERIC OCTET_LENGTH OF OFFSET ON ONLY OPEN
    OPTION OR ORDER OUTER OUTPUT OVERLAPS PAD PARTIAL PI POINT POLYGON POSITION POWER PRECISION PREPARE PRESERVE
    PRIMARY PRIOR PRIVILEGES PROCEDURE PUBLIC RADIANS RAND READ REAL REFERENCES REGION RELATIVE RESTRICT REVOKE RIGHT
    ROLLBACK ROUND ROWS SCHEMA SCROLL SECOND SECTION SELECT SESSION SESSION_USER SET SIGN SIN SIZE SMALLINT SOME SPACE
    SQL SQLCODE SQLERROR SQLSTATE SQRT SUBSTRING SUM SYSTEM_USER TABLE TAN TEMPORARY THEN TIME TIMESTAMP TIMEZONE_HOUR
    TIMEZONE_MINUTE TO TOP TRAILING TRANSACTION TRANSLATE TRANSLATION TRIM TRUE TRUNCATE UNION UNIQUE UNKNOWN UPDATE
    UPPER USAGE USER USING VALUE VALUES VARCHAR VARYING VIEW WHEN WHENEVER WHERE WITH WORK WRITE YEAR ZONE
    """.split()  # noqa: SIM905 - a list of three hundred texts is no easier to read
)
"""The words that ADQL 2.1 and SQL-92 reserve."""
