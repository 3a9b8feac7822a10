"""Random tables and random queries over them, in SQL that Spark and DuckDB read alike.

All orders are total and name the place of NULL, so that a query has one answer as a bag of rows.
"""

# ruff: noqa: S608 - the queries are made here
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

__all__ = ["NUMBER", "TABLES", "TEXT", "Queries", "RandomTable", "make_rows", "make_tables"]

NUMBER, TEXT = "int", "string"
_WORDS = ("a", "b", "B", "ab", "", "x%y")


@dataclass(frozen=True, slots=True)
class RandomTable:
    """A table: its name, and the names and types of its columns."""

    name: str
    columns: tuple[tuple[str, str], ...]


TABLES = (
    RandomTable("r", (("a", NUMBER), ("b", NUMBER), ("s", TEXT))),
    RandomTable("t", (("a", NUMBER), ("c", NUMBER), ("s", TEXT))),
    RandomTable("u", (("k", NUMBER), ("b", NUMBER), ("w", TEXT), ("Mixed Case", NUMBER))),
)


def make_rows(random: Random, table: RandomTable, most: int = 8) -> list[tuple[object, ...]]:
    """Return rows of small values with NULLs and duplicates; there may be none."""

    def draw_value(kind: str) -> object:
        if random.random() < 0.2:
            return None
        return random.randrange(4) if kind == NUMBER else random.choice(_WORDS)

    rows = [tuple(draw_value(kind) for _, kind in table.columns) for _ in range(random.randrange(most))]
    return rows + random.choices(rows, k=random.randrange(3)) if rows else rows


def make_tables(random: Random) -> dict[str, list[tuple[object, ...]]]:
    """Return rows for all tables."""
    return {table.name: make_rows(random, table) for table in TABLES}


Columns = list[tuple[str, str]]
"""Names as they are written in the query, qualified where needed, and types."""


@dataclass(slots=True)
class _Context:
    """The columns that an expression can name, and the queries of WITH."""

    columns: Columns
    queries: list[tuple[str, Columns]] = field(default_factory=list)


class Queries:
    """Makes random queries.

    Parameters
    ----------
    random
        The source of chance.
    tables
        The tables that queries read.
    """

    def __init__(self, random: Random, tables: Sequence[RandomTable] = TABLES) -> None:
        self.random = random
        self._tables = tables
        self._names = 0

    def make_query(self, depth: int = 2) -> str:
        """Return a random query, with WITH or without."""
        random = self.random
        queries: list[tuple[str, Columns]] = []
        definitions = []
        for _ in range(random.choice((0, 0, 1, 2))):
            text, columns = self.make_body(depth - 1, queries)
            name = self.make_name("q")
            definitions.append(f"{name} AS ({text})")
            queries.append((name, columns))
        text, columns = self.make_body(depth, queries)
        if random.random() < 0.2:
            order = ", ".join(f"{number + 1} {self.make_direction()}" for number in range(len(columns)))
            text = f"SELECT * FROM ({text}) AS z ORDER BY {order}"
            text += f" LIMIT {random.randrange(6)}" if random.random() < 0.7 else ""
            text += f" OFFSET {random.randrange(1, 3)}" if "LIMIT" in text[-9:] and random.random() < 0.4 else ""
        return f"WITH {', '.join(definitions)} {text}" if definitions else text

    def make_name(self, beginning: str) -> str:
        """Return a name that the query does not have yet."""
        self._names += 1
        return f"{beginning}{self._names}"

    def make_direction(self) -> str:
        """Return a direction of an order with the place of NULL."""
        return f"{self.random.choice(('ASC', 'DESC'))} NULLS {self.random.choice(('FIRST', 'LAST'))}"

    def make_body(
        self, depth: int, queries: list[tuple[str, Columns]], outer: Columns | None = None
    ) -> tuple[str, Columns]:
        """Return a SELECT or a set operation, and the columns of its result."""
        if depth > 0 and self.random.random() < 0.15:
            return self.make_set_operation(depth, queries)
        return self.make_select(depth, queries, outer or [])

    def make_set_operation(self, depth: int, queries: list[tuple[str, Columns]]) -> tuple[str, Columns]:
        """Return UNION, INTERSECT or EXCEPT of selects with the same types; or UNION ALL with a tag."""
        random = self.random
        if random.random() < 0.25:
            return self.make_tagged_union(depth, queries)
        kinds = [random.choice((NUMBER, NUMBER, TEXT)) for _ in range(random.choice((1, 2)))]
        names = [self.make_name("v") for _ in kinds]
        parts = []
        for _ in range(random.choice((2, 2, 3))):
            source, columns = self.make_source(depth - 1, queries)
            context = _Context(columns, queries)
            shown = [f"{self.make_value(context, kind, 1)} AS {name}" for kind, name in zip(kinds, names, strict=True)]
            parts.append(f"SELECT {', '.join(shown)} FROM {source}{self.make_where(context, depth - 1)}")
        text = parts[0]
        for part in parts[1:]:
            word = random.choice(("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"))
            text = f"{text} {word} {part}" if random.random() < 0.6 else f"({text}) {word} ({part})"
        return text, list(zip(names, kinds, strict=True))

    def make_tagged_union(self, depth: int, queries: list[tuple[str, Columns]]) -> tuple[str, Columns]:
        """Return UNION ALL of selects with a constant column that tells them apart, or nearly always."""
        random = self.random
        kinds = [random.choice((NUMBER, NUMBER, TEXT)) for _ in range(random.choice((1, 2)))]
        names = [self.make_name("v") for _ in kinds]
        tag, place = self.make_name("t"), random.randrange(len(kinds) + 1)
        parts = []
        for number in range(random.choice((2, 2, 3))):
            source, columns = self.make_source(depth - 1, queries)
            context = _Context(columns, queries)
            shown = [f"{self.make_value(context, kind, 0)} AS {name}" for kind, name in zip(kinds, names, strict=True)]
            constant = number if random.random() < 0.9 else 0
            shown.insert(place, f"{constant} AS {tag}")
            parts.append(f"SELECT {', '.join(shown)} FROM {source}{self.make_where(context, depth - 1)}")
        result = list(zip(names, kinds, strict=True))
        result.insert(place, (tag, NUMBER))
        return " UNION ALL ".join(parts), result

    def make_select(self, depth: int, queries: list[tuple[str, Columns]], outer: Columns) -> tuple[str, Columns]:
        """Return one SELECT."""
        source, columns = self.make_source(depth, queries)
        context = _Context(columns, queries)
        where = self.make_where(_Context([*columns, *outer, *outer], queries), depth)
        chance = self.random.random()
        if chance < 0.3:
            return self.make_groups(source, where, context)
        if chance < 0.4:
            return self.make_window(source, where, context)
        shown: list[str] = []
        result: Columns = []
        for _ in range(self.random.choice((1, 2, 3))):
            kind = self.random.choice((NUMBER, NUMBER, TEXT))
            name = self.make_name("v")
            value = self.make_value(context, kind, 2)
            if depth > 0 and self.random.random() < 0.15:
                value = self.make_scalar(context, depth)
                kind = NUMBER
            shown.append(f"{value} AS {name}")
            result.append((name, kind))
        if self.random.random() < 0.15:
            name = self.make_name("v")
            shown.append(f"{result[0][0]} AS {name}")
            result.append((name, result[0][1]))
        distinct = "DISTINCT " if self.random.random() < 0.25 else ""
        return f"SELECT {distinct}{', '.join(shown)} FROM {source}{where}", result

    def make_groups(self, source: str, where: str, context: _Context) -> tuple[str, Columns]:
        """Return a SELECT with GROUP BY, or with aggregates alone."""
        random = self.random
        keys = [self.pick_value(context) for _ in range(random.choice((0, 1, 1, 2)))]
        shown = [(self.make_name("g"), kind, text) for text, kind in keys]
        aggregates = range(random.choice((1, 2)))
        shown += [(self.make_name("n"), NUMBER, self.make_aggregate(context)) for _ in aggregates]
        if keys and random.random() < 0.3:
            shown = shown[1:]
        text = f"SELECT {', '.join(f'{value} AS {name}' for name, _, value in shown)} FROM {source}{where}"
        if keys:
            style = random.random()
            names = {value: name for name, _, value in shown}
            written = [names.get(text, text) if style < 0.2 else text for text, _ in keys]
            text += f" GROUP BY {', '.join(written)}"
        if random.random() < 0.3:
            text += f" HAVING {self.make_aggregate(context)} > {random.randrange(3)}"
        return text, [(name, kind) for name, kind, _ in shown]

    def make_aggregate(self, context: _Context) -> str:
        """Return an aggregate with a number as its value."""
        value = self.make_value(context, NUMBER, 1)
        form = self.random.choice(
            (
                "count(*)",
                "count({})",
                "sum({})",
                "min({})",
                "max({})",
                "count(DISTINCT {})",
                "sum({}) FILTER (WHERE {})",
            )
        )
        return form.format(value, self.make_condition(context, 0))

    def make_window(self, source: str, where: str, context: _Context) -> tuple[str, Columns]:
        """Return a SELECT with window functions, and QUALIFY or not."""
        random = self.random
        shown = [(self.make_name("v"), kind, text) for text, kind in random.sample(context.columns, k=1)]
        windows = [(self.make_name("w"), self.make_window_function(context)) for _ in range(random.choice((1, 1, 2)))]
        values = [f"{shown[0][2]} AS {shown[0][0]}", *(f"{window} AS {name}" for name, window in windows)]
        text = f"SELECT {', '.join(values)} FROM {source}{where}"
        if random.random() < 0.5:
            operator = random.choice(("<=", "<=", "=", ">", "<"))
            text += f" QUALIFY {random.choice(windows[0])} {operator} {random.randrange(1, 3)}"
        return text, [(shown[0][0], shown[0][1]), *((name, NUMBER) for name, _ in windows)]

    def make_window_function(self, context: _Context) -> str:
        """Return a window function with a number as its value; the order is total where the value depends on that."""
        random = self.random
        partition = f"PARTITION BY {self.pick_value(context)[0]} " if random.random() < 0.7 else ""
        total = f"ORDER BY {', '.join(f'{name} {self.make_direction()}' for name, _ in context.columns)}"
        order = random.choice((f"ORDER BY {self.pick_value(context)[0]} {self.make_direction()}", total))
        value = self.make_value(context, NUMBER, 1)
        aggregate = random.choice((f"sum({value})", "count(*)", f"min({value})", f"max({value})", f"count({value})"))
        near, far = sorted(random.sample(range(-2, 3), k=2))
        rows = f"ROWS BETWEEN {_write_bound(near)} AND {_write_bound(far)}"
        running = random.choice((rows, "ROWS UNBOUNDED PRECEDING", "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"))
        nulls = random.choice(("", " IGNORE NULLS"))
        condition = self.make_condition(context, 0)
        function, window = random.choice(
            (
                ("row_number()", total),
                (f"{random.choice(('rank', 'dense_rank', 'rank', 'percent_rank', 'cume_dist'))}()", order),
                (aggregate, random.choice(("", order))),
                (f"{aggregate} FILTER (WHERE {condition})", random.choice(("", order))),
                (aggregate, f"{total} {running}"),
                (aggregate, f"{order} RANGE {random.choice(('CURRENT ROW', 'UNBOUNDED PRECEDING'))}"),
                (f"{random.choice(('lag', 'lead'))}({value}, {random.randrange(3)}, {random.randrange(3)})", total),
                (f"{random.choice(('lag', 'lead'))}({value}{nulls})", total),
                (f"ntile({random.randrange(1, 4)})", total),
                (f"{random.choice(('first_value', 'last_value'))}({value}{nulls})", f"{total} {running}"),
                (f"first_value({value})", total),
                (f"nth_value({value}, {random.randrange(1, 4)})", f"{total} {running}"),
            )
        )
        return f"{function} OVER ({partition}{window})"

    def make_source(self, depth: int, queries: list[tuple[str, Columns]]) -> tuple[str, Columns]:
        """Return what follows FROM, and its columns with the names of their tables."""
        random = self.random
        text, columns = self.make_item(depth, queries)
        for _ in range(random.choice((0, 0, 1, 1, 2)) if depth > 0 else random.choice((0, 0, 1))):
            other, added = self.make_item(depth - 1, queries)
            both = _Context([*columns, *added], queries)
            kind = random.choice(
                ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN", ",", "CROSS JOIN")
            )
            if kind in (",", "CROSS JOIN"):
                text = f"{text}{' ' * (kind != ',')}{kind} {other}"
            else:
                text = f"{text} {kind} {other} ON {self.make_join_condition(columns, added, both, kind)}"
            columns = columns if kind in ("SEMI JOIN", "ANTI JOIN") else both.columns
            if kind == ",":
                break
        return text, columns

    def make_join_condition(self, left: Columns, right: Columns, both: _Context, kind: str) -> str:
        """Return a condition; full joins of DuckDB need an equality."""
        pairs = [(a, b) for a, first in left for b, second in right if first == second]
        equality = "{} = {}".format(*self.random.choice(pairs)) if pairs else "1 = 1"
        if self.random.random() < 0.3 and kind == "JOIN":
            return self.make_condition(both, 1)
        if self.random.random() < 0.3 and kind != "FULL JOIN":
            return f"{equality} AND {self.make_condition(both, 0)}"
        return equality

    def make_item(self, depth: int, queries: list[tuple[str, Columns]]) -> tuple[str, Columns]:
        """Return a table, a query of WITH or a subquery with an alias."""
        random = self.random
        alias = self.make_name("x")
        if queries and random.random() < 0.5:
            name, columns = random.choice(queries)
            return f"{name} AS {alias}", [(f"{alias}.{column}", kind) for column, kind in columns]
        if depth > 0 and random.random() < 0.35:
            text, columns = self.make_body(depth - 1, queries)
            return f"({text}) AS {alias}", [(f"{alias}.{column}", kind) for column, kind in columns]
        table = random.choice(self._tables)
        return f"{table.name} AS {alias}", [(f"{alias}.{_quote(column)}", kind) for column, kind in table.columns]

    def make_where(self, context: _Context, depth: int) -> str:
        """Return WHERE, or nothing."""
        return f" WHERE {self.make_condition(context, depth)}" if self.random.random() < 0.6 else ""

    def make_condition(self, context: _Context, depth: int) -> str:
        """Return a condition, with subqueries if the depth allows them."""
        random = self.random
        chance = random.random()
        if chance < 0.2:
            word = random.choice(("AND", "OR"))
            return f"({self.make_condition(context, depth - 1)} {word} {self.make_condition(context, depth - 1)})"
        if chance < 0.3:
            return f"NOT {self.make_condition(context, depth - 1)}"
        if depth > 0 and chance < 0.55:
            return self.make_subquery_condition(context, depth)
        if chance < 0.65:
            return f"{self.pick_value(context)[0]} IS {random.choice(('', 'NOT '))}NULL"
        if chance < 0.75:
            return f"{self.make_value(context, NUMBER, 0)} IN ({random.randrange(3)}, {random.randrange(4)})"
        kind = random.choice((NUMBER, NUMBER, TEXT))
        operator = random.choice(("=", "<>", "<", "<=", ">", ">="))
        return f"({self.make_value(context, kind, 1)} {operator} {self.make_value(context, kind, 1)})"

    def make_subquery_condition(self, context: _Context, depth: int) -> str:
        """Return EXISTS, IN, or a comparison with a scalar subquery; they may name columns of the query."""
        random = self.random
        negation = random.choice(("", "NOT "))
        chance = random.random()
        if chance < 0.4:
            source, columns = self.make_source(0, context.queries)
            inner = _Context([*columns, *context.columns], context.queries)
            return f"{negation}EXISTS (SELECT 1 FROM {source} WHERE {self.make_condition(inner, depth - 1)})"
        if chance < 0.8:
            source, columns = self.make_source(0, context.queries)
            inner = _Context([*columns, *(context.columns if random.random() < 0.4 else [])], context.queries)
            where = self.make_where(inner, depth - 1)
            value = self.make_value(_Context(columns), NUMBER, 0)
            return f"{self.make_value(context, NUMBER, 0)} {negation}IN (SELECT {value} FROM {source}{where})"
        operator = random.choice(("=", "<", ">="))
        return f"{self.make_value(context, NUMBER, 0)} {operator} {self.make_scalar(context, depth)}"

    def make_scalar(self, context: _Context, depth: int) -> str:
        """Return a scalar subquery: one aggregate."""
        source, columns = self.make_source(0, context.queries)
        inner = _Context([*columns, *(context.columns if self.random.random() < 0.5 else [])], context.queries)
        where = self.make_where(inner, depth - 1)
        numbers = [name for name, kind in columns if kind == NUMBER]
        aggregate = self.random.choice(
            ("count(*)", *(f"{function}({name})" for name in numbers[:1] for function in ("max", "min", "sum")))
        )
        return f"(SELECT {aggregate} FROM {source}{where})"

    def pick_value(self, context: _Context) -> tuple[str, str]:
        """Return an expression to group by, and its type."""
        name, kind = self.random.choice(context.columns)
        return (f"coalesce({name}, 1) + 1", kind) if kind == NUMBER and self.random.random() < 0.2 else (name, kind)

    def make_value(self, context: _Context, kind: str, depth: int) -> str:
        """Return an expression of a type."""
        random = self.random
        names = [name for name, other in context.columns if other == kind]
        if depth <= 0 or random.random() < 0.5:
            if names and random.random() < 0.85:
                return random.choice(names)
            return str(random.randrange(4)) if kind == NUMBER else f"'{random.choice(_WORDS)}'"
        left, right = (self.make_value(context, kind, depth - 1) for _ in range(2))
        if random.random() < 0.3:
            return f"CASE WHEN {self.make_condition(context, 0)} THEN {left} ELSE {right} END"
        if random.random() < 0.3:
            return f"coalesce({left}, {right})"
        if kind == NUMBER:
            return f"({left} {random.choice(('+', '-', '*'))} {right})"
        return random.choice((f"upper({left})", f"concat({left}, {right})", f"trim({left})"))


def _write_bound(distance: int) -> str:
    return f"{abs(distance)} {'PRECEDING' if distance < 0 else 'FOLLOWING'}" if distance else "CURRENT ROW"


def _quote(name: str) -> str:
    return name if name.isidentifier() else f'"{name}"'
