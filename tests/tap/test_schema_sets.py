"""Set operations of TAP_SCHEMA follow SQL, where INTERSECT binds tighter than UNION and EXCEPT, and not SQLite."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from provenn.errors import QueryError
from provenn.tap.schema_queries import answer_schema_query, parse_adql
from provenn.tap.tap_schema import TAP_SCHEMA_TABLES

COLUMNS = next(table for table in TAP_SCHEMA_TABLES if table.name.endswith(".columns")).columns
NUMBER = len(COLUMNS)
Tree = tuple[Any, ...]

LEAVES = st.tuples(st.just("rows"), st.integers(0, NUMBER), st.integers(0, NUMBER), st.sampled_from([None, 2]))
OPERATIONS = st.sampled_from(["UNION", "UNION ALL", "INTERSECT", "EXCEPT"])
CHAINS = st.recursive(
    LEAVES, lambda part: st.tuples(st.just("chain"), part, st.lists(st.tuples(OPERATIONS, part), min_size=1, max_size=3))
)


def ask(text: str) -> list[Any]:
    """Return the first column of the answer to a query."""
    return answer_schema_query(text, parse_adql(text), (), None).column(0).to_pylist()


def write(tree: Tree, *, is_part: bool = False) -> str:
    """Return a tree as a query; a chain inside of a chain is in parentheses."""
    if tree[0] == "rows":
        _, first, last, top = tree
        text = f"SELECT {'' if top is None else f'TOP {top} '}column_index FROM TAP_SCHEMA.columns"
        text += f" WHERE table_name = 'TAP_SCHEMA.columns' AND column_index BETWEEN {first} AND {last}"
        text += "" if top is None else " ORDER BY column_index"
        return f"({text})" if is_part and top is not None else text
    _, start, rest = tree
    text = " ".join([write(start, is_part=True), *(f"{word} {write(part, is_part=True)}" for word, part in rest)])
    return f"({text})" if is_part else text


def compute(tree: Tree) -> Counter[int]:
    """Return the bag of rows that SQL means: first all INTERSECT of a chain, then the others from the left."""
    if tree[0] == "rows":
        _, first, last, top = tree
        return Counter(list(range(first, min(last, NUMBER - 1) + 1))[:top])
    _, start, rest = tree
    bags, words = [compute(start)], []
    for word, part in rest:
        if word == "INTERSECT":
            bags[-1] = Counter((bags[-1] & compute(part)).keys())
        else:
            words.append(word)
            bags.append(compute(part))
    bag = bags[0]
    for word, other in zip(words, bags[1:], strict=True):
        match word:
            case "UNION ALL":
                bag = bag + other
            case "UNION":
                bag = Counter((bag | other).keys())
            case _:
                bag = Counter(bag.keys() - other.keys())
    return bag


@settings(max_examples=60, deadline=None)
@given(CHAINS)
@example(("chain", ("rows", 0, 3, None), [("UNION", ("rows", 2, 5, None)), ("INTERSECT", ("rows", 5, 9, None))]))
@example(("chain", ("rows", 0, 3, 2), [("UNION", ("rows", 2, 5, 2)), ("EXCEPT", ("rows", 5, 9, None))]))
def test_set_operations_mean_what_sql_says(tree):
    assert Counter(ask(write(tree))) == compute(tree)


@pytest.mark.parametrize(
    ("expression", "expected"), [("6 ^ 3", 5), ("~6", -7), ("6 & 3", 2), ("6 | 3", 7), ("NULL ^ 3", None)]
)
def test_bits_are_computed(expression, expected):
    assert ask(f"SELECT TOP 1 {expression} AS x FROM TAP_SCHEMA.tables") == [expected]


@pytest.mark.parametrize("word", ["INTERSECT ALL", "EXCEPT ALL"])
def test_what_sqlite_lacks_is_refused_with_its_place(word):
    text = f"SELECT table_name FROM TAP_SCHEMA.tables {word} SELECT table_name FROM TAP_SCHEMA.columns"
    with pytest.raises(QueryError, match=word) as caught:
        ask(text)
    assert caught.value.line == 1
