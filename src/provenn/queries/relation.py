"""Relations: the rows of a part of a query, as sources of a catalog and expressions over its attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from provenn.catalogs import Catalog, verbs
from provenn.catalogs.calculators import SqlCalculator
from provenn.catalogs.schema import Attribute
from provenn.criteria import parse_expression
from provenn.errors import CriterionError
from provenn.queries.function_names import get_function_name, list_row_parts
from provenn.queries.sky_expressions import IN_UNIT, write_for_criteria
from provenn.queries.tree import Column

__all__ = [
    "InexpressibleError",
    "RankedRows",
    "RowSource",
    "choose_free_name",
    "join_conjuncts",
    "name_attribute",
    "split_conjuncts",
    "symbols_in",
    "write_copy",
    "write_expression",
    "write_plain",
]


class InexpressibleError(Exception):
    """A part of a query cannot be expressed by catalog classes; the message says why."""


@dataclass(frozen=True, slots=True)
class RankedRows:
    """The numbers given by ``row_number()`` to the rows of each group.

    Parameters
    ----------
    catalog
        The rows that are numbered.
    valued
        The same rows, with their numbers as an attribute.
    by
        The names of the grouping attributes; empty if all rows are one group.
    order
        The order within a group, as text over attributes.
    """

    catalog: Catalog
    valued: Catalog
    by: tuple[str, ...]
    order: str


@dataclass(frozen=True, slots=True)
class RowSource:
    """The rows of a part of a query.

    Each row is a source of the catalog, and each source is a single row: the key tells rows apart.

    Parameters
    ----------
    catalog
        The sources.
    values
        For each column, by its symbol, an expression over names of attributes of the catalog.
    ranks
        Columns whose values number the rows of groups.
    identifying
        Columns in which no two rows agree, beside the key: those of a GROUP BY, for which NULL is a value; empty if
        there are none.
    """

    catalog: Catalog
    values: Mapping[str, exp.Expr]
    ranks: Mapping[str, RankedRows] = field(default_factory=dict)
    identifying: frozenset[str] = frozenset()

    @classmethod
    def of(cls, catalog: Catalog, columns: Iterable[Column], names: Iterable[str]) -> RowSource:
        """Return the relation with the attributes of some names as columns, in order."""
        pairs = zip(columns, names, strict=True)
        return cls(catalog, {column.symbol: name_attribute(catalog.schema[name].name) for column, name in pairs})

    def substitute(self, expression: exp.Expr) -> exp.Expr:
        """Return an expression over columns as an expression over attributes; unknown columns stay unchanged."""

        def replace_column(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column) and not node.table and not node.this.args.get("quoted"):
                value = self.values.get(node.name)
                if value is not None:
                    return value.copy() if isinstance(value, exp.Column | exp.Literal) else exp.paren(value, copy=True)
            return node

        return expression.copy().transform(replace_column)

    def resolve(self, expression: exp.Expr) -> exp.Expr:
        """Return an expression over columns of this relation as an expression over attributes.

        Raises
        ------
        InexpressibleError
            If it names a column of another relation.
        """
        resolved = self.substitute(expression)
        if symbols_in(resolved):
            raise InexpressibleError("a subquery names columns of the enclosing query in this place")
        return resolved

    def find_attribute(self, expression: exp.Expr) -> Attribute | None:
        """Return the attribute if an expression over attributes is a bare attribute; else None."""
        plain = expression.unnest() if isinstance(expression, exp.Paren) else expression
        if isinstance(plain, exp.Column) and plain.this.args.get("quoted") and not plain.table:
            return self.catalog.schema.get(plain.name)
        return None

    def expose(
        self, expressions: Sequence[exp.Expr], wish: str | Sequence[str] = "value"
    ) -> tuple[RowSource, tuple[Attribute, ...]]:
        """Return the relation with an attribute for each expression over attributes, and these attributes.

        Parameters
        ----------
        expressions
            The expressions.
        wish
            The name of new attributes, or a name for each; a number is added to names that are taken.

        Raises
        ------
        CriterionError, InexpressibleError
            If an expression cannot be an attribute.
        """
        relation = self
        new: dict[str, str] = {}
        names: list[str] = []
        wishes = [wish] * len(expressions) if isinstance(wish, str) else wish
        for expression, wished in zip(expressions, wishes, strict=True):
            attribute = self.find_attribute(expression)
            if attribute is None:
                text = write_plain(self.catalog, expression)
                known = {written: name for name, written in new.items()}
                name = known.get(text) or choose_free_name(wished, (*self.catalog.schema.names, *new))
                new[name] = text
                names.append(name)
            else:
                names.append(attribute.name)
        if new:
            relation = replace(self, catalog=verbs.derive(self.catalog, SqlCalculator.of(new)))
        return relation, tuple(relation.catalog.schema[name] for name in names)

    def find_key_columns(self) -> tuple[str, ...] | None:
        """Return the symbols of the key columns, in key order; None if not all of the key is a column."""
        by_identity: dict[str, str] = {}
        for symbol, value in self.values.items():
            attribute = self.find_attribute(value)
            if attribute is not None:
                by_identity.setdefault(attribute.identity, symbol)
        key = [by_identity.get(attribute.identity) for attribute in self.catalog.schema.key]
        return None if None in key else tuple(symbol for symbol in key if symbol is not None)

    def has_distinct_rows(self) -> bool:
        """Whether the columns tell all rows apart."""
        return self.find_key_columns() is not None or bool(self.identifying and self.identifying <= self.values.keys())

    def find_identifying(self, computed: Iterable[tuple[Column, exp.Expr]]) -> frozenset[str]:
        """Return the symbols of new columns that are the identifying ones; none if one of these is not among them."""
        new = {value.name: column.symbol for column, value in computed if isinstance(value, exp.Column)}
        return frozenset(new[symbol] for symbol in self.identifying) if self.identifying <= new.keys() else frozenset()

    def find_canonical(self, symbol: str) -> str:
        """Return the value of a column in normal form, over identities.

        Raises
        ------
        CriterionError
            If it cannot be read.
        """
        return parse_expression(write_expression(self.values[symbol]), self.catalog.schema).canonical


def name_attribute(name: str) -> exp.Column:
    """Return the expression for the value of an attribute."""
    return exp.column(exp.to_identifier(name, quoted=True))


def write_expression(expression: exp.Expr) -> str:
    """Return an expression as text in Spark's dialect, as criteria read it."""
    return write_for_criteria(expression).sql(dialect="spark")


def write_plain(catalog: Catalog, expression: exp.Expr) -> str:
    """Return an expression over attributes as text, with the meaning of SQL, which takes numbers as they are.

    Raises
    ------
    InexpressibleError
        If criteria would convert units: values of groups and windows have the units of what they are computed from.
    """
    text = write_expression(expression)
    names = dict.fromkeys(column.name for column in expression.find_all(exp.Column))
    used = {name: catalog.schema[name] for name in names if name in catalog.schema}
    is_explicit = any(get_function_name(call) == IN_UNIT for call in expression.find_all(exp.Anonymous))
    if is_explicit or not any(attribute.unit for attribute in used.values()):
        return text
    plain = {name: replace(attribute, unit="") for name, attribute in used.items()}
    for part in list_row_parts(expression):
        part_text = write_expression(part)
        try:
            is_converted = parse_expression(part_text, used).canonical != parse_expression(part_text, plain).canonical
        except CriterionError:
            continue  # criteria refuse it as well
        if is_converted:
            units = ", ".join(f"{name} in {attribute.unit}" for name, attribute in used.items() if attribute.unit)
            raise InexpressibleError(f"this mixes different units: {units}")
    return text


def write_copy(catalog: Catalog, expression: exp.Expr) -> str:
    """Return an expression as text that is no key: a concatenation takes every name of the key for the key."""
    text = write_expression(expression)
    return f"coalesce({text}, {text})" if text in {_write_name(key.name) for key in catalog.schema.key} else text


def _write_name(name: str) -> str:
    return write_expression(name_attribute(name))


def choose_free_name(wish: str, taken: Iterable[str]) -> str:
    """Return a name, with a number appended if the name is taken; names differ in more than case."""
    used = {name.lower() for name in taken}
    name, number = wish, 2
    while name.lower() in used:
        name, number = f"{wish}_{number}", number + 1
    return name


def symbols_in(expression: exp.Expr) -> set[str]:
    """Return the symbols of the columns in an expression over columns."""
    return {column.name for column in expression.find_all(exp.Column) if not column.this.args.get("quoted")}


def split_conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """Return the conditions connected by AND."""
    if condition is None:
        return []
    pending, conjuncts = [condition], []
    while pending:
        current = pending.pop()
        while isinstance(current, exp.Paren):
            current = current.this
        if isinstance(current, exp.And):
            pending.extend((current.expression, current.this))
        else:
            conjuncts.append(current)
    return conjuncts


def join_conjuncts(conjuncts: Sequence[exp.Expr]) -> exp.Expr:
    """Return the conditions connected by AND."""
    return exp.and_(*conjuncts, copy=True)
