"""Random queries in ADQL about corners of the language, each beside the same query for DuckDB.

Unlike `tests.queries.random_adql`, the tables have NaN, infinities, poles and equal rows, and the queries have lists with
NULL, nested subqueries, texts, set operations in set operations, and orders with NULL.
"""

# ruff: noqa: E501, S608 - each query is a line, and all are made here
from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pyarrow as pa

from tests.queries.random_adql import RandomPair

SIGNED = "CREATE MACRO signed(a) AS CASE WHEN isnan(a) THEN a ELSE CAST(sign(a) AS DOUBLE) END;"
"""The sign of a number for DuckDB, which has another one for NaN."""

__all__ = ["CORNER_KEYS", "SIGNED", "RandomCorners", "make_corner_tables"]

Words = tuple[str, str]
"""A part of a query in ADQL, and in DuckDB's dialect."""

CORNER_KEYS = {"objs": "id", "seen": "n"}
_TEXTS = ("a", "A", "ab", "a%", "a_b", "", " ", "it's", "b\\c", "Ä", "ä", "10", "1.5", "x1")
_LIMITS = ("-1", "0", "0.5", "1", "2", "3", "2.5", "100")


def make_corner_tables(seed: int, rows: int = 50) -> dict[str, pa.Table]:
    """Return two tables whose columns hold NULL, NaN, infinities, equal values, poles and borders of the sky."""
    random = Random(seed)
    nan, inf = float("nan"), float("inf")

    def pick(values: Sequence[object], chance: float = 0.15) -> object:
        return None if random.random() < chance else random.choice(values)

    def place() -> tuple[object, object]:
        ra = pick((0.0, 360.0, 359.9, 0.1, 180.0, -10.0, 90.0, round(random.uniform(0, 360), 3)), 0.06)
        return ra, pick((90.0, -90.0, 89.5, -89.9, 0.0, 60.0, 61.0, round(random.uniform(-90, 90), 3)), 0.06)

    floats = (0.0, -0.0, 1.0, 2.0, 2.5, -1.0, 0.5, nan, inf, -inf, 1e300, 3.0)
    wholes = (0, 1, 2, 3, -1, 5, 2**31 - 1, -(2**31))
    bigs = (0, 1, 2, -3, 2**63 - 1, -(2**63), 2**53 + 1)
    places = [place() for _ in range(rows)]
    others = [random.choice(places) if random.random() < 0.5 else place() for _ in range(rows)]
    return {
        "objs": pa.table(
            {
                "id": pa.array(range(rows), pa.int32()),
                "ra": pa.array([ra for ra, _ in places], pa.float64()),
                "dec": pa.array([dec for _, dec in places], pa.float64()),
                "f": pa.array([pick(floats) for _ in places], pa.float64()),
                "g": pa.array([pick((0.25, 0.5, 1.5, 2.0, 3.75)) for _ in places], pa.float32()),
                "i": pa.array([pick(wholes) for _ in places], pa.int32()),
                "b": pa.array([pick(bigs) for _ in places], pa.int64()),
                "t": pa.array([pick(_TEXTS) for _ in places], pa.string()),
                "k": pa.array([pick((1, 2, 3)) for _ in places], pa.int16()),
            }
        ),
        "seen": pa.table(
            {
                "n": pa.array(range(100, 100 + rows), pa.int64()),
                "id": pa.array([pick(range(rows + 5)) for _ in places], pa.int32()),
                "ra": pa.array([ra for ra, _ in others], pa.float64()),
                "dec": pa.array([dec for _, dec in others], pa.float64()),
                "f": pa.array([pick(floats) for _ in places], pa.float64()),
                "i": pa.array([pick(wholes) for _ in places], pa.int32()),
                "t": pa.array([pick(_TEXTS) for _ in places], pa.string()),
                "k": pa.array([pick((1, 2, 3)) for _ in places], pa.int16()),
            }
        ),
    }


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


class RandomCorners:
    """Makes random queries over the tables of `make_corner_tables`."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def make_pair(self) -> RandomPair:
        """Return a random query."""
        makers: Sequence[Callable[[], RandomPair]] = (
            self.make_rows,
            self.make_rows,
            self.make_sorted,
            self.make_groups,
            self.make_totals,
            self.make_joined,
            self.make_sets,
            self.make_nested,
            self.make_chain,
            self.make_matched,
        )
        return self.random.choice(makers)()

    # --- values ---

    def make_number(self, alias: str, depth: int = 2) -> Words:
        """Return a number: a column, a constant, or a call that never fails."""
        random = self.random
        if depth == 0 or random.random() < 0.25:
            name = f"{alias}.{random.choice(('f', 'f', 'i', 'k', 'id'))}"
            return random.choice(((name, name), (name, name), (x := random.choice(_LIMITS), x)))
        (a, b), (x, y) = self.make_number(alias, depth - 1), self.make_number(alias, depth - 1)
        form = random.randrange(12)
        if form < 3:
            sign = "+-*"[form]
            return f"({a} {sign} 1.0e0 * {x})", f"(CAST({b} AS DOUBLE) {sign} CAST({y} AS DOUBLE))"
        if form == 3:
            return f"({a} / {x})", f"quotient({b}, {y})"
        if form == 4:
            return f"ABS(1.0 * {a})", f"abs(CAST({b} AS DOUBLE))"
        if form == 5:
            return f"COALESCE(1.0 * {a}, {x})", f"coalesce(CAST({b} AS DOUBLE), {y})"
        if form == 6:
            test = self.make_condition(alias, depth - 1)
            return (
                f"CASE WHEN {test[0]} THEN 1.0 * {a} ELSE 1.0 * {x} END",
                f"CASE WHEN {test[1]} THEN CAST({b} AS DOUBLE) ELSE CAST({y} AS DOUBLE) END",
            )
        if form == 7:
            value = random.choice(("1", "2", "3"))
            return (
                f"CASE {alias}.k WHEN {value} THEN 1.0 * {a} WHEN 2 THEN NULL END",
                f"CASE {alias}.k WHEN {value} THEN CAST({b} AS DOUBLE) WHEN 2 THEN NULL END",
            )
        if form == 8:
            return f"POWER({a}, 2)", f"pow(CAST({b} AS DOUBLE), 2)"
        if form == 9:
            return f"SIGN(1.0 * {a})", f"signed(CAST({b} AS DOUBLE))"
        if form == 10:
            return f"-(1.0 * {a})", f"-(CAST({b} AS DOUBLE))"
        return (
            f"CAST({alias}.{(c := random.choice(('f', 'i', 'k')))} AS DOUBLE PRECISION)",
            f"CAST({alias}.{c} AS DOUBLE)",
        )

    def make_text(self, alias: str, depth: int = 1) -> Words:
        """Return a text."""
        random = self.random
        name = f"{alias}.t"
        if depth == 0 or random.random() < 0.4:
            return name, name
        a, b = self.make_text(alias, depth - 1)
        form = random.randrange(5)
        if form == 0:
            return f"LOWER({a})", f"lower({b})"
        if form == 1:
            return f"UPPER({a})", f"upper({b})"
        if form == 2:
            part = _quote(random.choice(_TEXTS))
            return f"({a} || {part})", f"({b} || {part})"
        if form == 3:
            return f"COALESCE({a}, 'none')", f"coalesce({b}, 'none')"
        return f"CAST({a} AS VARCHAR(1))", f"left({b}, 1)"

    def make_condition(self, alias: str, depth: int = 2) -> Words:
        """Return a condition, with the three values of SQL."""
        random = self.random
        if depth > 0 and random.random() < 0.5:
            a, b = self.make_condition(alias, depth - 1)
            if random.random() < 0.35:
                return f"NOT ({a})", f"NOT ({b})"
            x, y = self.make_condition(alias, depth - 1)
            word = random.choice(("AND", "OR"))
            return f"({a} {word} {x})", f"({b} {word} {y})"
        form = random.randrange(12)
        operator = random.choice(("<", "<=", ">", ">=", "=", "<>", "!="))
        if form < 2:
            (a, b), limit = self.make_number(alias, depth), random.choice(_LIMITS)
            return f"{a} {operator} {limit}", f"{b} {operator} {limit}"
        if form == 2:
            (a, b), (x, y) = self.make_number(alias, 0), self.make_number(alias, 0)
            return f"{a} {operator} {x}", f"{b} {operator} {y}"
        if form == 3:
            name, low, high = f"{alias}.{random.choice('fi')}", *random.sample(_LIMITS, 2)
            text = f"{name} {random.choice(('BETWEEN', 'NOT BETWEEN'))} {low} AND {high}"
            return text, text
        if form == 4:
            values = random.sample(("0", "1", "2", "3", "-1", "NULL"), 3)
            text = f"{alias}.{random.choice('fik')} {random.choice(('IN', 'NOT IN'))} ({', '.join(values)})"
            return text, text
        if form == 5:
            values = ", ".join(_quote(value) for value in random.sample(_TEXTS, 3))
            text = f"{alias}.t {random.choice(('IN', 'NOT IN'))} ({values}{random.choice(('', ', NULL'))})"
            return text, text
        if form == 6:
            a, b = self.make_text(alias, 1)
            word = random.choice(("IS NULL", "IS NOT NULL"))
            return f"{a} {word}", f"{b} {word}"
        if form == 7:
            (a, b), value = self.make_text(alias), _quote(random.choice(_TEXTS))
            return f"{a} {operator} {value}", f"{b} {operator} {value}"
        if form == 8:
            a, b = self.make_text(alias)
            word = random.choice(("LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"))
            pattern = _quote(random.choice(("a%", "%", "_", "A%", "%\\%", "a\\_b", "%'%", "Ä", "%b%", "", "__")))
            return f"{a} {word} {pattern}", f"{b} {word} {pattern}"
        return self.make_region(alias)

    def make_region(self, alias: str) -> Words:
        """Return a condition on a position, also around a pole and around right ascension 0."""
        random = self.random
        ra, dec = random.choice((0, 360, 359.5, 180, 90, 12.25)), random.choice((90, -90, 89, -89, 0, 60, -30))
        radius = random.choice((0.503, 1.003, 1.253, 10.003, 30.503, 91.003, 120.003))
        place = f"{alias}.ra, {alias}.dec"
        distance = f"dist({place}, {ra}, {dec})"
        inside = f"({distance} <= {radius})"
        form = random.randrange(4)
        if form == 0:
            return f"CONTAINS(POINT({place}), CIRCLE({ra}, {dec}, {radius})) = 1", inside
        if form == 1:
            return f"0 = CONTAINS(POINT('ICRS', {place}), CIRCLE('ICRS', {ra}, {dec}, {radius}))", f"NOT {inside}"
        if form == 2:
            return f"DISTANCE(POINT({place}), POINT({ra}, {dec})) <= {radius}", inside
        return f"DISTANCE({ra}, {dec}, {place}) > {radius}", f"NOT {inside}"

    # --- queries ---

    def make_rows(self) -> RandomPair:
        """Return a selection with values, perhaps DISTINCT."""
        table = self.random.choice(("objs", "seen"))
        values = [self.make_number("u"), self.make_text("u", 2)]
        a, b = self.make_condition("u")
        word = self.random.choice(("", "", "DISTINCT "))
        shown = [", ".join(f"{value[side]} AS v{n}" for n, value in enumerate(values)) for side in (0, 1)]
        return RandomPair(
            f"SELECT {word}{shown[0]} FROM {table} AS u WHERE {a}", f"SELECT {word}{shown[1]} FROM {table} u WHERE {b}"
        )

    def make_sorted(self) -> RandomPair:
        """Return rows in a total order, with TOP and OFFSET."""
        random = self.random
        (x, y), (a, b) = self.make_number("u"), self.make_condition("u")
        downs = [random.random() < 0.5 for _ in range(3)]
        names = random.choice((("v", "t", "id"), ("t", "v", "id"), ("k", "v", "id"), ("v", "k", "id")))
        words = ", ".join(f"{name}{' DESC' if down else ''}" for name, down in zip(names, downs, strict=True))
        own = ", ".join(
            f"{name} {'DESC NULLS LAST' if down else 'ASC NULLS FIRST'}"
            for name, down in zip(names, downs, strict=True)
        )
        top, offset = random.choice((None, 0, 1, 4, 100)), random.choice((None, 0, 1, 3, 60))
        adql = (
            f"SELECT {'' if top is None else f'TOP {top} '}id, t, k, {x} AS v FROM objs AS u WHERE {a} ORDER BY {words}"
        )
        reference = f"SELECT id, t, k, {y} AS v FROM objs u WHERE {b} ORDER BY {own}"
        if top is not None:
            reference += f" LIMIT {top}"
        if offset is not None:
            adql, reference = f"{adql} OFFSET {offset}", f"{reference} OFFSET {offset}"
        return RandomPair(adql, reference, is_ordered=True)

    def make_groups(self) -> RandomPair:
        """Return groups by columns or by an expression, with HAVING."""
        random = self.random
        keys = random.choice((("k",), ("t",), ("k", "t"), ("f",), ("UPPER(t)",), ("MOD(id, 3)", "k"), ("i",)))
        own = [key.replace("MOD(id, 3)", "id % 3") for key in keys]
        a, b = self.make_condition("u")
        values = random.sample(
            (
                "COUNT(*)",
                "COUNT(f)",
                "MAX(i)",
                "MIN(f)",
                "MAX(f)",
                "MAX(t)",
                "COUNT(DISTINCT k)",
                "COUNT(DISTINCT f)",
                "SUM(k)",
                "AVG(k)",
                "COUNT(DISTINCT t)",
                "SUM(DISTINCT k)",
                "MIN(t)",
            ),
            3,
        )
        having = random.choice(
            (
                "",
                " HAVING COUNT(*) > 1",
                " HAVING MAX(f) > 1",
                " HAVING MIN(t) < 'b' OR COUNT(k) = 0",
                " HAVING SUM(k) > 2 AND NOT COUNT(*) = 3",
                " HAVING COUNT(DISTINCT k) >= 1",
            )
        )
        shown = ", ".join(f"{value} AS v{n}" for n, value in enumerate(values))
        return RandomPair(
            f"SELECT {', '.join(f'{key} AS k{n}' for n, key in enumerate(keys))}, {shown} FROM objs AS u WHERE {a}"
            f" GROUP BY {', '.join(keys)}{having}",
            f"SELECT {', '.join(own)}, {shown} FROM objs u WHERE {b} GROUP BY {', '.join(own)}{having}",
        )

    def make_totals(self) -> RandomPair:
        """Return aggregates of all rows, perhaps of none, or of the rows of a query."""
        a, b = self.make_condition("u")
        shown = "COUNT(*) AS n, COUNT(DISTINCT f) AS d, MAX(f) AS f, MIN(f) AS g, SUM(k) AS s, MAX(t) AS x, AVG(k) AS m"
        (x, y), inner = self.make_number("u"), self.random.random() < 0.5
        if inner:
            shown = "COUNT(*) AS n, COUNT(q.v) AS c, COUNT(DISTINCT q.v) AS d, MAX(q.v) AS m"
            return RandomPair(
                f"SELECT {shown} FROM (SELECT {x} AS v FROM objs AS u WHERE {a}) AS q",
                f"SELECT {shown} FROM (SELECT {y} AS v FROM objs u WHERE {b}) q",
            )
        return RandomPair(f"SELECT {shown} FROM objs AS u WHERE {a}", f"SELECT {shown} FROM objs u WHERE {b}")

    def make_joined(self) -> RandomPair:
        """Return a join of any kind, by key or by equal values, with conditions before and after it."""
        random = self.random
        word = random.choice(("INNER", "LEFT OUTER", "RIGHT OUTER", "FULL OUTER"))
        on = random.choice(
            ("o.id = s.id", "o.id = s.id", "o.k = s.k AND o.t = s.t", "o.t = s.t", "o.id = s.id AND o.f < s.f")
        )
        (a, b), (x, y) = self.make_condition("o", 1), self.make_condition("s", 1)
        more = random.choice(("", " AND {s}" if random.random() < 0.5 else ""))
        where = random.choice(("", " WHERE {o}", " WHERE {s}", " WHERE s.n IS NULL", " WHERE {o} OR {s}"))
        shown = "o.id, o.t, s.n, s.f, COALESCE(o.k, s.k) AS c"
        return RandomPair(
            f"SELECT {shown} FROM objs AS o {word} JOIN seen AS s ON {on}{more.format(s=x)}{where.format(o=a, s=x)}",
            f"SELECT {shown} FROM objs o {word} JOIN seen s ON {on}{more.format(s=y)}{where.format(o=b, s=y)}",
        )

    def make_sets(self) -> RandomPair:
        """Return set operations of three selections, with brackets."""
        random = self.random
        names = random.choice(("k", "t", "k, t", "f", "i, k", "id"))
        conditions = [self.make_condition("u", 1) for _ in range(3)]
        tables = [random.choice(("objs", "seen")) for _ in range(3)]
        words = [random.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT")) for _ in range(2)]
        form = random.choice(
            ("{0} {w0} {1}", "({0} {w0} {1}) {w1} {2}", "{0} {w0} ({1} {w1} {2})", "{0} {w0} {1} {w1} {2}")
        )
        sides = [
            [
                f"SELECT {names} FROM {table} AS u WHERE {condition[side]}"
                for table, condition in zip(tables, conditions, strict=True)
            ]
            for side in (0, 1)
        ]
        return RandomPair(*(form.format(*side, w0=words[0], w1=words[1]) for side in sides))

    def make_nested(self) -> RandomPair:
        """Return a selection by a subquery, which may hold NULL or be empty."""
        random = self.random
        (a, b), (x, y) = self.make_condition("o", 1), self.make_condition("s", 1)
        test = random.choice(
            (
                "o.id IN (SELECT s.id FROM seen AS s WHERE {})",
                "o.id NOT IN (SELECT s.id FROM seen AS s WHERE {})",
                "o.k NOT IN (SELECT s.k FROM seen AS s WHERE s.k IS NOT NULL AND {})",
                "o.t IN (SELECT s.t FROM seen AS s WHERE {})",
                "o.t NOT IN (SELECT s.t FROM seen AS s WHERE {})",
                "EXISTS (SELECT 1 FROM seen AS s WHERE s.id = o.id AND {})",
                "NOT EXISTS (SELECT s.n FROM seen AS s WHERE s.k = o.k AND s.t = o.t AND {})",
                "o.i > (SELECT MIN(s.i) FROM seen AS s WHERE {})",
                "o.k = (SELECT COUNT(*) FROM seen AS s WHERE s.id = o.id AND {})",
                "o.f < (SELECT MAX(s.f) FROM seen AS s WHERE s.id = o.id AND {})",
            )
        )
        word = random.choice(("AND", "AND", "OR"))
        return RandomPair(
            f"SELECT o.id, o.t FROM objs AS o WHERE {a} {word} {test.format(x)}",
            f"SELECT o.id, o.t FROM objs o WHERE {b} {word} {test.format(y)}",
        )

    def make_chain(self) -> RandomPair:
        """Return queries of WITH that use each other."""
        random = self.random
        (a, b), (x, y) = (self.make_condition("u", 1) for _ in range(2))
        form = random.randrange(4)
        if form == 0:
            text = "WITH p AS (SELECT id, k, f FROM objs AS u WHERE {0}), q AS (SELECT k, COUNT(*) AS n, MAX(f) AS m FROM p GROUP BY k) SELECT p.id, q.n, q.m FROM p JOIN q ON p.k = q.k"
        elif form == 1:
            text = "WITH p AS (SELECT id, k FROM objs AS u WHERE {0}), q AS (SELECT id, k FROM seen AS u WHERE {1}) SELECT p.id, q.k FROM p LEFT OUTER JOIN q ON p.id = q.id"
        elif form == 2:
            text = "WITH p AS (SELECT DISTINCT k, t FROM objs AS u WHERE {0}) SELECT p.k, COUNT(*) AS n, COUNT(p.t) AS m FROM p GROUP BY p.k HAVING COUNT(*) > 1"
        else:
            text = "WITH p AS (SELECT k FROM objs AS u WHERE {0} UNION ALL SELECT k FROM seen AS u WHERE {1}) SELECT k, COUNT(*) AS n FROM p GROUP BY k"
        return RandomPair(text.format(a, x), text.format(b, y).replace(" OUTER ", " "))

    def make_matched(self) -> RandomPair:
        """Return a join by distance, also at the poles."""
        random = self.random
        radius = random.choice((0.013, 0.503, 1.253, 20.003))
        (a, b), (x, y) = self.make_condition("o", 1), self.make_condition("s", 1)
        return RandomPair(
            f"SELECT o.id, s.n FROM objs AS o JOIN seen AS s ON DISTANCE(o.ra, o.dec, s.ra, s.dec) <= {radius} WHERE {a} AND {x}",
            f"SELECT o.id, s.n FROM objs o JOIN seen s ON dist(o.ra, o.dec, s.ra, s.dec) <= {radius} WHERE {b} AND {y}",
        )
