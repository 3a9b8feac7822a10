"""DuckDB, which orders values as Spark does, finds the rows that a criterion's sets say it finds."""

import re

import duckdb
import sqlglot
from hypothesis import strategies as st

from provenn.criteria import Attribute, parse_criterion, parse_type
from tests.criteria.oracle import constants, criteria, labelled, random_cases, rows

# Not float and decimal: DuckDB compares those with a constant in other types than Spark does.
TYPES = {
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMPTZ",
}


DATABASE = duckdb.connect()
DATABASE.execute("SET TimeZone = 'UTC'")


def fill(columns: dict[str, str], table: list[dict]) -> None:
    fields = ", ".join(f"{name} {TYPES[kind]}" for name, kind in columns.items())
    places = ", ".join("?" * (len(columns) + 1))
    DATABASE.execute(f"CREATE OR REPLACE TABLE t (i INTEGER, {fields})")
    values = [[i, *row.values()] for i, row in enumerate(table)]
    DATABASE.executemany(f"INSERT INTO t VALUES ({places})", values)  # noqa: S608


def selected(text: str) -> set[int]:
    unsuffixed = re.sub(r"(-\d+)[SYL]\b", r"\1", text)  # sqlglot reads -32768S as the negative of what is too large
    condition = sqlglot.transpile(unsuffixed, read="spark", write="duckdb")[0]
    return {i for (i,) in DATABASE.execute(f"SELECT i FROM t WHERE {condition}").fetchall()}  # noqa: S608


@random_cases(30, 3_000)
def test_duckdb_selects_exactly_the_rows_of_the_true_set(data):
    kinds = data.draw(st.lists(st.sampled_from(list(TYPES)), min_size=1, max_size=2))
    columns = dict(zip("xy", kinds, strict=False))
    tree = data.draw(criteria(*columns.items(), between_columns=True))
    schema = {name: Attribute(name, parse_type(kind)) for name, kind in columns.items()}
    criterion = parse_criterion(tree.sql(), schema)
    table = rows(columns, constants(tree), nullable=True)[:80]
    fill(columns, table)
    inside = {atom.label: selected(atom.label) for atom in criterion.atoms}
    everything = set(range(len(table)))
    for text, term in ((tree.sql(), criterion.true), (f"NOT ({tree.sql()})", criterion.false)):
        assert selected(text) == term.evaluate(inside.__getitem__, set(), everything)
    for label, catalog in inside.items():
        assert catalog == {i for i, row in enumerate(table) if labelled(label)(row)}
