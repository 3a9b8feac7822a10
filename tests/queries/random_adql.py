"""Random queries in ADQL, each beside the same query for DuckDB, written word by word by this module alone."""

# ruff: noqa: S608 - the queries are made here
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

__all__ = ["RandomAdql", "RandomPair"]

Words = tuple[str, str]
"""A part of a query in ADQL, and in DuckDB's dialect."""

_COLUMNS = {
    "stars": {"number": ("ra", "dec", "vmag", "plx"), "whole": ("hip", "nobs"), "text": ("Name", "con")},
    "gaia": {"number": ("ra", "dec", "gmag"), "whole": ("hip",), "text": ()},
}
_NAMES = ("alpha", "Beta", "beta_2", "GAMMA", "it's", "50%", "", "x")
_CONS = ("Cyg", "Lyr", "Ori", "Peg", "Xyz")


@dataclass(frozen=True, slots=True)
class RandomPair:
    """A query in ADQL, and in DuckDB's dialect; `is_ordered` tells whether the order of the rows counts."""

    adql: str
    reference: str
    is_ordered: bool = False


class RandomAdql:
    """Makes random queries over the tables of `tests.queries.adql_world`."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._has_polygons = True

    def make_pair(self) -> RandomPair:
        """Return a random query."""
        makers: Sequence[Callable[[], RandomPair]] = (
            self.make_plain,
            self.make_plain,
            self.make_distinct,
            self.make_top,
            self.make_groups,
            self.make_totals,
            self.make_join,
            self.make_outer_join,
            self.make_match,
            self.make_sets,
            self.make_nested,
            self.make_common,
        )
        make = self.random.choice(makers)
        # An opaque part has the SQL of Spark for polygons, which DuckDB does not read.
        self._has_polygons = make not in (self.make_outer_join, self.make_nested)
        return make()

    # --- values ---

    def make_number(self, table: str, alias: str, depth: int = 2) -> Words:
        """Return an expression with a double, or an integer."""
        random = self.random
        if depth == 0 or random.random() < 0.3:
            if random.random() < 0.3:
                constant = random.choice(("2", "0.5", "1.25", "3e0", "10"))
                return constant, constant
            kind = random.choice(("number", "number", "whole"))
            name = f"{alias}.{random.choice(_COLUMNS[table][kind])}"
            return name, name
        first = self.make_number(table, alias, depth - 1)
        second = self.make_number(table, alias, depth - 1)
        a, b = first
        x, y = second
        form = random.randrange(11)
        if form < 3:
            sign = "+-*"[form]
            return f"({a} {sign} {x})", f"(CAST({b} AS DOUBLE) {sign} {y})"
        if form == 3:
            return f"({a} / {x})", f"quotient({b}, {y})"
        if form == 4:
            return f"ABS({a})", f"abs({b})"
        if form == 5:
            return f"FLOOR({a})", f"floor(CAST({b} AS DOUBLE))"
        if form == 6:
            return f"CEILING({a})", f"ceil(CAST({b} AS DOUBLE))"
        if form == 7:
            return f"COALESCE({a}, {x})", f"coalesce(CAST({b} AS DOUBLE), {y})"
        if form == 8:
            return f"SQRT(ABS({a}))", f"sqrt(abs({b}))"
        if form == 9:
            test = self.make_condition(table, alias, 0)
            return f"CASE WHEN {test[0]} THEN {a} ELSE {x} END", f"CASE WHEN {test[1]} THEN {b} ELSE {y} END"
        return f"LOG(1 + ABS({a}))", f"ln(1 + abs({b}))"

    def make_condition(self, table: str, alias: str, depth: int = 2) -> Words:
        """Return a condition on a table."""
        random = self.random
        if depth > 0 and random.random() < 0.5:
            a, b = self.make_condition(table, alias, depth - 1)
            if random.random() < 0.25:
                return f"NOT ({a})", f"NOT ({b})"
            x, y = self.make_condition(table, alias, depth - 1)
            word = random.choice(("AND", "OR"))
            return f"({a} {word} {x})", f"({b} {word} {y})"
        form = random.randrange(8)
        if form < 2:
            a, b = self.make_number(table, alias, depth)
            operator = random.choice(("<", "<=", ">", ">=", "=", "<>"))
            limit = f"{random.randrange(-8, 48) / 4}"
            return f"{a} {operator} {limit}", f"{b} {operator} {limit}"
        if form == 2:
            name = f"{alias}.{random.choice(_COLUMNS[table]['number'])}"
            word = random.choice(("IS NULL", "IS NOT NULL"))
            return f"{name} {word}", f"{name} {word}"
        if form == 3:
            name = f"{alias}.{random.choice(_COLUMNS[table]['number'])}"
            low = random.randrange(-4, 20) / 4
            text = f"{name} BETWEEN {low} AND {low + random.randrange(12) / 4}"
            return text, text
        if form < 6 or not _COLUMNS[table]["text"]:
            return self.make_region(alias)
        return self.make_text_condition(alias)

    def make_text_condition(self, alias: str) -> Words:
        """Return a condition on a text of stars."""
        random = self.random
        form = random.randrange(4)
        if form == 0:
            values = ", ".join(f"'{name}'" for name in random.sample(_CONS, 2))
            text = f"{alias}.con IN ({values})"
            return text, text
        value = random.choice(_NAMES).replace("'", "''")
        if form == 1:
            operator = random.choice(("=", "<>", "<", ">="))
            return f"{alias}.\"Name\" {operator} '{value}'", f"{alias}.\"Name\" {operator} '{value}'"
        word = "LIKE" if form == 2 else "ILIKE"
        pattern = random.choice(("b%", "%a%", "_e%", "%", "GAMMA", "b"))
        return f"{alias}.Name {word} '{pattern}'", f"{alias}.\"Name\" {word} '{pattern}'"

    # --- geometry ---

    def make_region(self, alias: str) -> Words:
        """Return a condition on the position of a table, TRUE, FALSE or NULL as the reference."""
        random = self.random
        ra, dec = round(random.uniform(-4, 4), 3), round(random.uniform(-3, 3), 3)
        radius = round(random.uniform(0.2, 4), 4)
        place = f"{alias}.ra, {alias}.dec"
        point = random.choice((f"POINT({place})", f"POINT('ICRS', {place})"))
        distance = f"dist({place}, {ra}, {dec})"
        form = random.randrange(7 if self._has_polygons else 4)
        if form < 2:
            circle = random.choice((f"CIRCLE({ra}, {dec}, {radius})", f"CIRCLE('ICRS', POINT({ra}, {dec}), {radius})"))
            name = random.choice(("CONTAINS", "INTERSECTS"))
            value = random.choice((0, 1))
            call = f"{name}({point}, {circle})"
            text = random.choice((f"{call} = {value}", f"{value} = {call}"))
            return text, f"{distance} {'<=' if value else '>'} {radius}"
        if form == 2:
            operator = random.choice(("<", "<=", ">", ">="))
            call = random.choice((f"DISTANCE({point}, POINT({ra}, {dec}))", f"DISTANCE({place}, {ra}, {dec})"))
            return f"{call} {operator} {radius}", f"{distance} {operator} {radius}"
        if form == 3:
            other = round(random.uniform(0.1, 1), 3)
            text = f"INTERSECTS(CIRCLE({place}, {other}), CIRCLE({ra}, {dec}, {radius})) = 1"
            return text, f"{distance} <= {radius} + {other}"
        if form == 4:
            width, height = round(random.uniform(0.5, 6), 3), round(random.uniform(0.5, 4), 3)
            text = f"1 = CONTAINS({point}, BOX({ra}, 0, {width}, {height}))"
            across = f"abs(uy({alias}.ra - {ra}, {alias}.dec) / ux({alias}.ra - {ra}, {alias}.dec))"
            up = f"abs(uz({alias}.ra - {ra}, {alias}.dec) / ux({alias}.ra - {ra}, {alias}.dec))"
            return text, f"({across} <= tan(radians({width / 2})) AND {up} <= tan(radians({height / 2})))"
        corners = [(ra, dec), (round(ra + radius, 3), round(dec - 0.5, 3)), (round(ra + radius / 2, 3), dec + 1)]
        vertices = ", ".join(f"{x}, {y}" for x, y in corners)
        if random.random() < 0.5:
            vertices = ", ".join(f"POINT({x}, {y})" for x, y in corners)
        sides = zip(corners, corners[1:] + corners[:1], strict=True)
        inside = " AND ".join(f"triple({a}, {b}, {c}, {d}, {place}) >= 0" for (a, b), (c, d) in sides)
        return f"1 = CONTAINS({point}, POLYGON({vertices}))", f"({inside})"

    # --- queries ---

    def make_plain(self) -> RandomPair:
        """Return a selection with expressions."""
        table = self.random.choice(("stars", "gaia"))
        values = [self.make_number(table, "t") for _ in range(self.random.choice((1, 2)))]
        a, b = self.make_condition(table, "t")
        shown = [", ".join(f"{value[side]} AS v{n}" for n, value in enumerate(values)) for side in (0, 1)]
        return RandomPair(
            f"SELECT {shown[0]} FROM {table} AS t WHERE {a}", f"SELECT {shown[1]} FROM {table} t WHERE {b}"
        )

    def make_distinct(self) -> RandomPair:
        """Return DISTINCT of one or two columns."""
        names = ", ".join(self.random.choice((("con",), ("con", "nobs"), ("vmag",), ("nobs",))))
        a, b = self.make_condition("stars", "t")
        return RandomPair(
            f"SELECT DISTINCT {names} FROM stars AS t WHERE {a}", f"SELECT DISTINCT {names} FROM stars t WHERE {b}"
        )

    def make_top(self) -> RandomPair:
        """Return the first rows in a total order."""
        random = self.random
        x, y = self.make_number("stars", "t", 1)
        a, b = self.make_condition("stars", "t")
        number, offset = random.randrange(1, 9), random.choice((0, 0, 2))
        down = random.random() < 0.5
        adql = f"SELECT TOP {number} hip, {x} AS v FROM stars AS t WHERE {a} ORDER BY v {'DESC' if down else ''}, hip"
        order = f"v {'DESC NULLS LAST' if down else 'ASC NULLS FIRST'}, hip"
        reference = f"SELECT hip, {y} AS v FROM stars t WHERE {b} ORDER BY {order} LIMIT {number}"
        if offset:
            adql, reference = f"{adql} OFFSET {offset}", f"{reference} OFFSET {offset}"
        return RandomPair(adql, reference, is_ordered=True)

    def make_groups(self) -> RandomPair:
        """Return groups of stars."""
        random = self.random
        key = random.choice(("con", "nobs", "vmag", "MOD(hip, 3)"))
        own = key.replace("MOD(hip, 3)", "hip % 3")
        a, b = self.make_condition("stars", "t")
        values = random.sample(
            ("COUNT(*)", "MAX(vmag)", "MIN(plx)", "AVG(vmag)", "SUM(nobs)", "COUNT(DISTINCT con)"), 2
        )
        shown = ", ".join(f"{value} AS v{n}" for n, value in enumerate(values))
        having = random.choice(("", "", " HAVING COUNT(*) > 1", " HAVING MAX(vmag) < 9"))
        return RandomPair(
            f"SELECT {key} AS k, {shown} FROM stars AS t WHERE {a} GROUP BY {key}{having}",
            f"SELECT {own} AS k, {shown} FROM stars t WHERE {b} GROUP BY {own}{having}",
        )

    def make_totals(self) -> RandomPair:
        """Return aggregates of all rows."""
        a, b = self.make_condition("stars", "t")
        shown = "COUNT(*) AS n, COUNT(vmag) AS m, SUM(nobs) AS s, MIN(con) AS c, AVG(plx) AS p"
        return RandomPair(f"SELECT {shown} FROM stars AS t WHERE {a}", f"SELECT {shown} FROM stars t WHERE {b}")

    def make_join(self) -> RandomPair:
        """Return a join by key with conditions on both sides."""
        (a, b), (x, y) = self.make_condition("stars", "s", 1), self.make_condition("gaia", "g", 1)
        v, w = self.make_number("stars", "s", 1)
        return RandomPair(
            f"SELECT g.id, s.con, {v} AS v FROM gaia AS g JOIN stars AS s ON g.hip = s.hip WHERE {a} AND {x}",
            f"SELECT g.id, s.con, {w} AS v FROM gaia g JOIN stars s ON g.hip = s.hip WHERE {b} AND {y}",
        )

    def make_outer_join(self) -> RandomPair:
        """Return an outer join by key, with a condition on the partners."""
        word = self.random.choice(("LEFT", "RIGHT", "FULL"))
        a, b = self.make_condition("gaia", "g", 0)
        return RandomPair(
            f"SELECT g.id, s.hip, s.vmag FROM gaia AS g {word} OUTER JOIN stars AS s ON g.hip = s.hip AND {a}",
            f"SELECT g.id, s.hip, s.vmag FROM gaia g {word} JOIN stars s ON g.hip = s.hip AND {b}",
        )

    def make_match(self) -> RandomPair:
        """Return a join by distance with conditions on both sides."""
        random = self.random
        radius = round(random.uniform(0.02, 1), 4)
        (a, b), (x, y) = self.make_condition("stars", "s", 1), self.make_condition("gaia", "g", 1)
        near, distance = random.choice(
            (
                (f"DISTANCE(s.ra, s.dec, g.ra, g.dec) < {radius}", f"dist(s.ra, s.dec, g.ra, g.dec) < {radius}"),
                (
                    f"1 = CONTAINS(POINT(s.ra, s.dec), CIRCLE(g.ra, g.dec, {radius}))",
                    f"dist(s.ra, s.dec, g.ra, g.dec) <= {radius}",
                ),
                (
                    f"DISTANCE(POINT(g.ra, g.dec), POINT(s.ra, s.dec)) <= {radius}",
                    f"dist(s.ra, s.dec, g.ra, g.dec) <= {radius}",
                ),
            )
        )
        shown = "s.hip, g.id, DISTANCE(s.ra, s.dec, g.ra, g.dec) AS d"
        own = "s.hip, g.id, dist(s.ra, s.dec, g.ra, g.dec) AS d"
        if random.random() < 0.5:
            return RandomPair(
                f"SELECT {shown} FROM stars AS s JOIN gaia AS g ON {near} WHERE {a} AND {x}",
                f"SELECT {own} FROM stars s JOIN gaia g ON {distance} WHERE {b} AND {y}",
            )
        return RandomPair(
            f"SELECT s.con, COUNT(*) AS n FROM stars AS s, gaia AS g WHERE {near} AND {a} GROUP BY s.con",
            f"SELECT s.con, count(*) AS n FROM stars s, gaia g WHERE {distance} AND {b} GROUP BY s.con",
        )

    def make_sets(self) -> RandomPair:
        """Return a set operation of two selections."""
        random = self.random
        (a, b), (x, y) = (self.make_condition("stars", "t") for _ in range(2))
        word = random.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT"))
        names = random.choice(("hip", "hip, vmag", "con", "con, nobs"))
        return RandomPair(
            f"SELECT {names} FROM stars AS t WHERE {a} {word} SELECT {names} FROM stars AS t WHERE {x}",
            f"SELECT {names} FROM stars t WHERE {b} {word} SELECT {names} FROM stars t WHERE {y}",
        )

    def make_nested(self) -> RandomPair:
        """Return a selection by a subquery."""
        (a, b), (x, y) = self.make_condition("stars", "s", 1), self.make_condition("gaia", "g", 1)
        form = self.random.randrange(3)
        if form == 0:
            inner = "s.hip IN (SELECT g.hip FROM gaia AS g WHERE {})"
        elif form == 1:
            inner = "EXISTS (SELECT 1 FROM gaia AS g WHERE g.hip = s.hip AND {})"
        else:
            inner = "NOT EXISTS (SELECT 1 FROM gaia AS g WHERE g.hip = s.hip AND {})"
        return RandomPair(
            f"SELECT s.hip, s.con FROM stars AS s WHERE {a} AND {inner.format(x)}",
            f"SELECT s.hip, s.con FROM stars s WHERE {b} AND {inner.format(y)}",
        )

    def make_common(self) -> RandomPair:
        """Return a query over a query of WITH."""
        (a, b), (x, y) = (self.make_condition("stars", "t", 1) for _ in range(2))
        body = "SELECT con, COUNT(*) AS n FROM stars AS t WHERE {} GROUP BY con"
        if self.random.random() < 0.5:
            body = "SELECT con, hip AS n FROM stars AS t WHERE {}"
        last = "SELECT q.con, SUM(q.n) AS s FROM q GROUP BY q.con"
        if self.random.random() < 0.5:
            last = "SELECT t.hip, q.n FROM stars AS t JOIN q ON t.hip = q.n WHERE {}"
        return RandomPair(
            f"WITH q AS ({body.format(a)}) {last.format(x)}", f"WITH q AS ({body.format(b)}) {last.format(y)}"
        )
