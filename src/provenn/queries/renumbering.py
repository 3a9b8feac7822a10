"""Copy trees with new columns, and find the columns of enclosing queries named in a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from sqlglot import exp

from provenn.queries.tree import Column, ColumnNumbers, Node, NodeOrder, walk_tree

__all__ = [
    "copy_tree",
    "count_nodes",
    "find_free_numbers",
    "get_number",
    "list_numbers",
    "measure_depth",
    "order_nodes",
    "replace_columns",
    "substitute_columns",
]


def replace_columns(tree: exp.Expr, replacements: Mapping[int, exp.Expr]) -> exp.Expr:
    """Return an expression with new expressions in place of some columns."""
    holder = exp.Paren(this=tree.copy())
    for column in list(holder.find_all(exp.Column)):
        number = get_number(column)
        if number in replacements:
            column.replace(replacements[number].copy())
    changed: exp.Expr = holder.this
    changed.pop()
    return changed


def get_number(column: exp.Column) -> int:
    """Return the number of a column in an expression, or 0 for a variable of a lambda function."""
    name = column.name
    return int(name[1:]) if name[:1] == "c" and name[1:].isdecimal() and not column.table else 0


def list_numbers(tree: exp.Expr) -> set[int]:
    """Return the numbers of the columns named in an expression, without the columns in subqueries."""
    return {get_number(column) for column in tree.find_all(exp.Column)} - {0}


def copy_tree(node: Node, numbers: ColumnNumbers) -> Node:
    """Return a tree with new numbers for all columns of the tree; columns of enclosing queries stay."""
    columns: dict[int, Column] = {}
    for part in order_nodes(node):
        for column in _iterate_columns(part):
            if column.number not in columns:
                columns[column.number] = numbers.make_column(column.name)
    references: dict[int, exp.Expr] = {number: exp.column(column.symbol) for number, column in columns.items()}
    return _rebuild_tree(
        node,
        lambda column: replace(columns[column.number], name=column.name),
        lambda tree: replace_columns(tree, references),
    )


def substitute_columns(node: Node, replacements: Mapping[int, exp.Expr]) -> Node:
    """Return a tree with new expressions in place of some columns of enclosing queries."""
    return _rebuild_tree(node, lambda column: column, lambda tree: replace_columns(tree, replacements))


def find_free_numbers(node: Node) -> frozenset[int]:
    """Return the numbers of the columns of enclosing queries named in a tree."""
    used: set[int] = set()
    defined: set[int] = set()
    for part in walk_tree(node):
        defined.update(column.number for column in _iterate_columns(part))
        for tree in _iterate_values(part, exp.Expr):
            used |= list_numbers(tree)
    return frozenset(used - defined)


def order_nodes(node: Node) -> list[Node]:
    """Return a node and all nodes below, nodes of subqueries included, inputs before the nodes using the inputs."""
    return list(walk_tree(node))[::-1]


def count_nodes(node: Node) -> int:
    """Return the number of nodes of a tree."""
    return sum(1 for _ in walk_tree(node))


def measure_depth(node: Node) -> int:
    """Return the number of nodes on the longest way from a node down, through subqueries as well."""
    deepest = 0
    pending = [(node, 1)]
    while pending:
        current, depth = pending.pop()
        deepest = max(deepest, depth)
        pending += [(part, depth + 1) for part in (*current.inputs, *getattr(current, "subqueries", ()))]
    return deepest


def _rebuild_tree(
    node: Node, change_column: Callable[[Column], Column], change_tree: Callable[[exp.Expr], exp.Expr]
) -> Node:
    rebuilt: dict[int, Node] = {}

    def change_value(value: Any) -> Any:  # noqa: ANN401 - any field of a node
        match value:
            case Column():
                return change_column(value)
            case exp.Expr():
                return change_tree(value)
            case Node():
                return rebuilt[id(value)]
            case NodeOrder():
                return replace(value, expression=change_tree(value.expression))
            case tuple():
                return tuple(change_value(part) for part in value)
        return value

    for part in order_nodes(node):
        rebuilt[id(part)] = type(part)(*(change_value(getattr(part, field.name)) for field in fields(part)))
    return rebuilt[id(node)]


def _iterate_columns(node: Node) -> Iterator[Column]:
    return _iterate_values(node, Column)


def _iterate_values(node: Node, kind: type[Any]) -> Iterator[Any]:
    """Return the values of a kind in the fields of a node, without the values of nested nodes."""
    pending: list[Any] = [getattr(node, field.name) for field in fields(node)]
    while pending:
        value = pending.pop()
        if isinstance(value, kind):
            yield value
        elif isinstance(value, tuple):
            pending.extend(value)
        elif isinstance(value, NodeOrder):
            pending.append(value.expression)
