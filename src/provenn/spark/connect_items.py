"""The columns that a projection of Spark Connect selects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from provenn.queries.tree import refer_to
from provenn.spark.connect_expressions import ConnectWriter, parse_text
from provenn.spark.connect_relations import ConnectColumn, ConnectRelation, parse_name
from provenn.spark.plan_reading_refusals import make_refusal

__all__ = ["Item", "read_items"]


@dataclass(frozen=True, slots=True)
class Item:
    """A selected column.

    Parameters
    ----------
    tree
        The expression of its values.
    output
        The column of the input that is passed on under its own name; None for a new column.
    """

    tree: exp.Expr
    output: ConnectColumn | None = None

    @classmethod
    def of(cls, output: ConnectColumn) -> Item:
        """Return a column of the input."""
        return cls(refer_to(output.column), output)

    @property
    def qualifier(self) -> tuple[str, ...]:
        """The name of the table or alias, which a new column does not have."""
        return () if self.output is None else self.output.qualifier


def read_items(writer: ConnectWriter, expressions: Iterable[Any]) -> list[Item]:
    """Return the columns that expressions select: several for a star."""
    items: list[Item] = []
    for expression in expressions:
        kind = expression.WhichOneof("expr_type")
        if kind == "unresolved_star":
            items += _expand_star(writer.relation, expression.unresolved_star)
            continue
        if kind == "expression_string":
            tree = parse_text(expression.expression_string.expression)
            star = tree.this if isinstance(tree, exp.Column) else tree
            if isinstance(tree, exp.Column | exp.Star) and isinstance(star, exp.Star):
                items += _expand_text_star(writer.relation, tree, star)
                continue
            if isinstance(tree, exp.Alias):
                items.append(Item(writer.read(expression)))
                continue
        if kind == "alias" and len(expression.alias.name) != 1:
            raise make_refusal("Alias", "with several names is not read over Spark Connect")
        output = writer.find_output(expression)
        items.append(Item(writer.read(expression)) if output is None else Item.of(output))
    return items


def _expand_star(relation: ConnectRelation, star: Any) -> list[Item]:  # noqa: ANN401 - a message of Connect
    if star.HasField("plan_id"):
        raise make_refusal("UnresolvedStar", "of a DataFrame is not read over Spark Connect", "name the columns")
    if not star.HasField("unparsed_target"):
        return [Item.of(output) for output in relation.outputs]
    return _expand_qualifier(relation, parse_name(star.unparsed_target.removesuffix(".*")))


def _expand_text_star(relation: ConnectRelation, tree: exp.Column | exp.Star, star: exp.Star) -> list[Item]:
    if any(star.args.values()):
        raise make_refusal(
            "UnresolvedStar", "with EXCEPT or REPLACE is not read over Spark Connect", "name the columns"
        )
    if isinstance(tree, exp.Star):
        return [Item.of(output) for output in relation.outputs]
    return _expand_qualifier(relation, tuple(part.name for part in tree.parts[:-1]))


def _expand_qualifier(relation: ConnectRelation, parts: tuple[str, ...]) -> list[Item]:
    sources = relation.scope.find_sources([part.lower() for part in parts])
    if len(sources) != 1:
        raise make_refusal("UnresolvedStar", f"of {'.'.join(parts)} names {len(sources)} DataFrames")
    return [Item.of(relation.get_output(column)) for column in sources[0].columns]
