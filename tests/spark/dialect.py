"""Spark's SQL in DuckDB's dialect: read by sqlglot, with what fails on a value made NULL."""

from collections.abc import Mapping

import sqlglot
from sqlglot import exp

__all__ = ["MACROS", "TYPES", "in_duckdb", "type_in_duckdb"]

TYPES = {
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "REAL",
    "double": "DOUBLE",
    "decimal(5,2)": "DECIMAL(5, 2)",
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMPTZ",
}

MACROS = """
CREATE MACRO quotient(a, b) AS CASE WHEN b = 0 THEN NULL ELSE CAST(a AS DOUBLE) / CAST(b AS DOUBLE) END;
CREATE MACRO pmod(a, b) AS CASE WHEN b = 0 THEN NULL ELSE ((a % b) + b) % b END;
CREATE MACRO remainder(a, b) AS CASE WHEN b = 0 THEN NULL ELSE a % b END;
CREATE MACRO nowhere(ra, dec) AS NOT (isfinite(ra) AND isfinite(dec) AND abs(dec) <= 90);
CREATE MACRO in_cone(ra, dec, ra0, dec0, radius) AS CASE
    WHEN ra IS NULL OR dec IS NULL THEN NULL WHEN nowhere(ra, dec) THEN FALSE
    ELSE degrees(2 * asin(sqrt(least(1, pow(sin(radians(dec - dec0) / 2), 2)
        + cos(radians(dec)) * cos(radians(dec0)) * pow(sin(radians(ra - ra0) / 2), 2))))) <= radius END;
CREATE MACRO in_box(ra, dec, west, east, south, north) AS CASE
    WHEN ra IS NULL OR dec IS NULL THEN NULL WHEN nowhere(ra, dec) OR dec NOT BETWEEN south AND north THEN FALSE
    WHEN west <= east THEN ra BETWEEN west AND east ELSE ra >= west OR ra <= east END;
"""
_NAMED = {exp.Div: "quotient", exp.Mod: "remainder"}
_OVERFLOWING = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Abs)


def type_in_duckdb(kind: str) -> str:
    """Return a type of Spark in DuckDB's dialect."""
    if kind in TYPES:
        return TYPES[kind]
    tree = exp.DataType.build(kind, dialect="spark")
    return tree.sql(dialect="duckdb")


def in_duckdb(text: str, columns: Mapping[str, str]) -> str:
    """Return an expression in DuckDB's dialect, given DuckDB's column for each name."""
    tree = sqlglot.parse_one(text, read="spark")
    root = exp.Paren(this=tree)
    for node in reversed(list(tree.walk())):  # what is inside comes first
        node.replace(_translated(node, columns))
    return root.sql(dialect="duckdb")


def _translated(node: exp.Expr, columns: Mapping[str, str]) -> exp.Expr:
    if isinstance(node, exp.Column):
        return exp.column(columns[_meant(node.name, columns)], quoted=True)
    if isinstance(node, exp.Anonymous) and str(node.this).lower() == "in_polygon":
        return _write_convex_polygon(node)
    if type(node) in _NAMED:
        return exp.Anonymous(this=_NAMED[type(node)], expressions=[node.left.copy(), node.right.copy()])
    if isinstance(node, _OVERFLOWING):
        return exp.Anonymous(this="TRY", expressions=[exp.Paren(this=node.copy())])
    whole = isinstance(node, exp.Literal) and node.is_int
    if whole and isinstance(node.parent, (exp.Add, exp.Sub, exp.Mul, exp.Mod)):
        return exp.cast(node.copy(), "INT" if int(node.this) < 2**31 else "BIGINT")  # DuckDB takes the narrowest type
    return node


def _write_convex_polygon(call: exp.Anonymous) -> exp.Expr:
    """Return the condition that a position is on the inner side of all great circles through two vertices."""
    ra, dec, *numbers = (argument.sql(dialect="duckdb") for argument in call.expressions)
    vertices = list(zip(numbers[::2], numbers[1::2], strict=True))

    def write_vector(place: tuple[str, str]) -> list[str]:
        lon, lat = (f"radians({value})" for value in place)
        return [f"cos({lat}) * cos({lon})", f"cos({lat}) * sin({lon})", f"sin({lat})"]

    def write_side(start: tuple[str, str], end: tuple[str, str], place: tuple[str, str]) -> str:
        (a, b, c), (d, e, f), (x, y, z) = map(write_vector, (start, end, place))
        return (
            f"(({b}) * {f} - ({c}) * {e}) * {x} + (({c}) * {d} - ({a}) * {f}) * {y} + (({a}) * {e} - ({b}) * {d}) * {z}"
        )

    sides = list(zip(vertices, [*vertices[1:], vertices[0]], strict=True))
    turn = f"sign({write_side(*sides[0], vertices[2])})"
    inside = " AND ".join(f"({write_side(start, end, (ra, dec))}) * {turn} >= -1e-15" for start, end in sides)
    null = f"{ra} IS NULL OR {dec} IS NULL"
    text = f"CASE WHEN {null} THEN NULL WHEN nowhere({ra}, {dec}) THEN FALSE ELSE {inside} END"
    return exp.paren(sqlglot.parse_one(text, read="duckdb"))


def _meant(name: str, columns: Mapping[str, str]) -> str:
    """Return the name that a name means: itself, or the only one that differs in case alone."""
    if name in columns:
        return name
    (found,) = (column for column in columns if column.lower() == name.lower())
    return found
