"""SQL of expressions: how tightly it is bound, and its tree."""

from __future__ import annotations

from typing import Self

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from provenn.errors import QueryError

__all__ = ["AND", "ATOM", "BITS", "LEVELS", "NOT", "OR", "SIGN", "TEST", "Sql", "parse_sql", "wrap"]

OR, AND, NOT, TEST, BITS, SUM, PRODUCT, SIGN, ATOM = range(1, 10)
"""How tightly an expression is bound; a looser one needs parentheses inside of a tighter one."""
LEVELS = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT, "DIV": PRODUCT} | dict.fromkeys("&|^", TEST)


class Sql(str):
    """SQL that is bound less tightly than a call; SQL that is a plain `str` needs no parentheses."""

    __slots__ = ("level",)

    level: int

    def __new__(cls, text: str, level: int) -> Self:
        """Return the SQL."""
        sql = super().__new__(cls, text)
        sql.level = level
        return sql


def wrap(text: str, level: int) -> str:
    """Return SQL as a part of an expression that is bound at a level: in parentheses, if it is bound less tightly."""
    return f"({text})" if isinstance(text, Sql) and text.level < level else text


def parse_sql(text: str) -> exp.Expr:
    """Return an expression in Spark's dialect.

    Raises
    ------
    QueryError
        If sqlglot does not read it.
    """
    try:
        return sqlglot.parse_one(text, dialect="spark")
    except (SqlglotError, RecursionError) as error:
        raise QueryError(f"an expression of the DataFrame cannot be read: {text[:200]}") from error
