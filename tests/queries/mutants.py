"""Mutants of queries, made by a program: some mean the same as the query, others may not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import sqlglot
from sqlglot import exp

__all__ = ["CHANGING", "PRESERVING", "Mutant", "make_mutant", "strip_request"]


@dataclass(frozen=True)
class Mutant:
    """A query made from another one."""

    kind: str
    text: str
    keeps_meaning: bool


def strip_request(text: str) -> str:
    """Return a query without its ORDER BY and LIMIT."""
    tree = sqlglot.parse_one(text, read="duckdb")
    tree.set("order", None)
    tree.set("limit", None)
    return tree.sql(dialect="duckdb")


def make_mutant(text: str, kind: str, random: Random) -> Mutant | None:
    """Return a mutant of a query; None if the query has nothing to mutate in this way."""
    tree = sqlglot.parse_one(text, read="duckdb")
    mutate = {**PRESERVING, **CHANGING}[kind]
    mutated = mutate(tree, random)
    if mutated is None:
        return None
    written = mutated.sql(dialect="duckdb")
    return None if written == text else Mutant(kind, written, kind in PRESERVING)


def _pick(tree: exp.Expr, random: Random, *kinds: type[exp.Expr]) -> exp.Expr | None:
    found = list(tree.find_all(*kinds))
    return random.choice(found) if found else None


def _wheres(tree: exp.Expr) -> list[exp.Expr]:
    """Return the WHERE clauses with several conditions."""
    return [where for where in tree.find_all(exp.Where) if isinstance(where.this, exp.And)]


def _reorder_conditions(tree: exp.Expr, random: Random) -> exp.Expr | None:
    for where in _wheres(tree):
        conjuncts = [conjunct.copy() for conjunct in where.this.flatten()]
        random.shuffle(conjuncts)
        where.set("this", exp.and_(*conjuncts))
    return tree


def _swap_sides(tree: exp.Expr, random: Random) -> exp.Expr | None:
    mirrored = {exp.EQ: exp.EQ, exp.LT: exp.GT, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.GTE: exp.LTE}
    for node in [node for node in tree.find_all(*mirrored) if random.random() < 0.7]:
        node.replace(mirrored[type(node)](this=node.expression.copy(), expression=node.this.copy()))
    return tree


def _split_between(tree: exp.Expr, random: Random) -> exp.Expr | None:
    node = _pick(tree, random, exp.Between)
    if not isinstance(node, exp.Between):
        return None
    low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
    high = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
    node.replace(exp.paren(exp.and_(low, high)))
    return tree


def _nest(tree: exp.Expr, _: Random) -> exp.Expr | None:
    return exp.select("*").from_(tree.subquery("nested"))


def _name_subquery(tree: exp.Expr, _: Random) -> exp.Expr | None:
    if tree.args.get("with_") or tree.args.get("with"):
        return None
    return exp.select("*").from_("nested").with_("nested", as_=tree)


def _rename_columns(tree: exp.Expr, _: Random) -> exp.Expr | None:
    names = [column.alias_or_name for column in tree.selects]
    if len({*names}) < len(names) or "" in names:
        return None
    renamed = [f'nested."{name}" AS "other_{position}"' for position, name in enumerate(names)]
    return exp.select(*renamed, dialect="duckdb").from_(tree.subquery("nested"))


def _reorder_tables(tree: exp.Expr, random: Random) -> exp.Expr | None:
    changed = False
    for select in tree.find_all(exp.Select):
        start, joins = select.args.get("from_") or select.args.get("from"), select.args.get("joins") or []
        if start is None or not joins or any(join.side or join.args.get("on") or join.kind for join in joins):
            continue
        tables = [start.this.copy(), *(join.this.copy() for join in joins)]
        random.shuffle(tables)
        start.set("this", tables[0])
        select.set("joins", [exp.Join(this=table) for table in tables[1:]])
        changed = True
    return tree if changed else None


def _write_in_as_exists(tree: exp.Expr, _: Random) -> exp.Expr | None:
    for node in tree.find_all(exp.In):
        query = node.args.get("query")
        inner = query.this if isinstance(query, exp.Subquery) else query
        if not isinstance(inner, exp.Select) or isinstance(node.parent, exp.Not) or isinstance(node.this, exp.Tuple):
            continue
        if inner.args.get("group"):
            name = inner.selects[0].alias_or_name
            same = f"nested.{name} = {node.this.sql(dialect='duckdb')}"
            chosen = exp.select("1").from_(inner.copy().subquery("nested")).where(same, dialect="duckdb")
        else:
            same = exp.EQ(this=inner.selects[0].unalias().copy(), expression=node.this.copy())
            chosen = inner.copy().where(same).select("1", append=False)
        node.replace(exp.Exists(this=chosen))
        return tree
    return None


def _repeat_condition(tree: exp.Expr, random: Random) -> exp.Expr | None:
    wheres = _wheres(tree)
    if not wheres:
        return None
    where = random.choice(wheres)
    conjuncts = [conjunct.copy() for conjunct in where.this.flatten()]
    where.set("this", exp.and_(*conjuncts, random.choice(conjuncts).copy()))
    return tree


def _distinguish_groups(tree: exp.Expr, _: Random) -> exp.Expr | None:
    return tree.distinct() if isinstance(tree, exp.Select) and tree.args.get("group") else None


def _change_constant(tree: exp.Expr, random: Random) -> exp.Expr | None:
    literals = [
        node
        for node in tree.find_all(exp.Literal)
        if isinstance(node.parent, exp.LT | exp.GT | exp.LTE | exp.GTE | exp.EQ | exp.Between) and not node.is_string
    ]
    texts = [node for node in tree.find_all(exp.Literal) if node.is_string and isinstance(node.parent, exp.EQ)]
    if not literals and not texts:
        return None
    node = random.choice([*literals, *texts])
    node.replace(exp.Literal.string("other") if node.is_string else exp.Literal.number(float(node.name) + 1))
    return tree


def _change_operator(tree: exp.Expr, random: Random) -> exp.Expr | None:
    node = _pick(tree, random, exp.LT, exp.GT, exp.LTE, exp.GTE)
    if node is None:
        return None
    other = random.choice([kind for kind in (exp.LT, exp.GT, exp.LTE, exp.GTE) if kind is not type(node)])
    node.replace(other(this=node.this.copy(), expression=node.expression.copy()))
    return tree


def _drop_condition(tree: exp.Expr, random: Random) -> exp.Expr | None:
    wheres = _wheres(tree)
    if not wheres:
        return None
    where = random.choice(wheres)
    conjuncts = [conjunct.copy() for conjunct in where.this.flatten()]
    columns = [set(map(str, conjunct.find_all(exp.Column))) for conjunct in conjuncts]
    free = [number for number, names in enumerate(columns) if len(names) == 1]
    if not free:
        return None
    del conjuncts[random.choice(free)]
    where.set("this", exp.and_(*conjuncts))
    return tree


def _add_condition(tree: exp.Expr, random: Random) -> exp.Expr | None:
    where = _pick(tree, random, exp.Where)
    if where is None:
        return None
    columns = [column for column in where.find_all(exp.Column) if column.find_ancestor(exp.Where) is where]
    if not columns:
        return None
    column = random.choice(columns).copy()
    added = exp.Not(this=exp.Is(this=column, expression=exp.Null()))
    if random.random() < 0.5:
        added = exp.Is(this=column, expression=exp.Null())
    where.set("this", exp.and_(where.this.copy(), added))
    return tree


def _change_join(tree: exp.Expr, random: Random) -> exp.Expr | None:
    joins = [join for join in tree.find_all(exp.Join) if join.args.get("on")]
    if not joins:
        return None
    join = random.choice(joins)
    join.set("side", None if join.side else "LEFT")
    join.set("kind", None)
    return tree


_Mutation = Callable[[exp.Expr, Random], "exp.Expr | None"]
PRESERVING: dict[str, _Mutation] = {
    "reorder conditions": _reorder_conditions,
    "swap the sides of comparisons": _swap_sides,
    "BETWEEN as two comparisons": _split_between,
    "nest in a subquery": _nest,
    "nest in a WITH": _name_subquery,
    "rename columns": _rename_columns,
    "reorder tables": _reorder_tables,
    "IN as EXISTS": _write_in_as_exists,
    "repeat a condition": _repeat_condition,
    "DISTINCT of groups": _distinguish_groups,
}
CHANGING: dict[str, _Mutation] = {
    "change a constant": _change_constant,
    "change an operator": _change_operator,
    "drop a condition": _drop_condition,
    "add a condition": _add_condition,
    "change the kind of a join": _change_join,
}
