"""The unions in the SQL of a model, each with the united queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

__all__ = ["Union", "find_unions"]


@dataclass(frozen=True, slots=True)
class Union:
    """A UNION in a query.

    Parameters
    ----------
    members
        The united queries, as SQL that can be read by itself.
    is_all
        Whether rows that several members have stay in the result several times.
    """

    members: tuple[str, ...]
    is_all: bool


def find_unions(text: str, dialect: str) -> list[Union]:
    """Return the unions of a query, on the top or in a WITH; unions in subqueries are left out."""
    if "union" not in text.lower():
        return []
    try:
        query = parse_one(text, dialect=dialect)
    except SqlglotError:
        return []
    with_ = query.args.get("with_")
    tables = list(with_.expressions) if isinstance(with_, exp.With) and not with_.recursive else []
    unions = []
    for position, table in enumerate(tables):
        unions += _read_union(table.this, tables[:position], dialect)
    return unions + _read_union(query, tables, dialect)


def _read_union(query: exp.Expr, tables: list[exp.Expr], dialect: str) -> list[Union]:
    """Return a query as a union; empty for any query but a union. The tables of the WITH stand before each member."""
    if type(query) is not exp.Union:
        return []
    plain = query.copy()
    plain.set("with_", None)
    members = list(_list_members(plain))
    texts = []
    for member in members:
        selected = exp.select("*").from_(
            exp.Subquery(this=member.copy(), alias=exp.TableAlias(this=exp.to_identifier("member")))
        )
        if tables:
            selected.set("with_", exp.With(expressions=[table.copy() for table in tables]))
        texts.append(selected.sql(dialect))
    is_all = all(not union.args.get("distinct") for union in plain.find_all(exp.Union))
    return [Union(tuple(texts), is_all)]


def _list_members(query: exp.Expr) -> Iterator[exp.Expr]:
    """Return the queries united by a union, nested unions included."""
    while isinstance(query, exp.Subquery) and not query.alias:
        query = query.this
    if type(query) is exp.Union:
        yield from _list_members(query.this)
        yield from _list_members(query.expression)
    else:
        yield query
