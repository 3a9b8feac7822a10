"""Separate window functions from the expressions around them."""

from __future__ import annotations

from sqlglot import exp

from provenn.queries.reading_context import QueryReading
from provenn.queries.reading_expressions import has_window
from provenn.queries.reading_groups import lift_subqueries
from provenn.queries.tree import Computed, Node, WindowNode, refer_to

__all__ = ["lift_windows"]


def lift_windows(
    reading: QueryReading, node: Node, trees: list[exp.Expr], place: exp.Expr
) -> tuple[Node, list[exp.Expr]]:
    """Return expressions over a node with the computed window functions.

    Parameters
    ----------
    reading
        The reading.
    node
        The rows.
    trees
        Expressions over the columns of the rows.
    place
        The part of the query that has the expressions, for the position of an error.
    """
    if not any(has_window(tree) for tree in trees):
        return node, trees
    windows_by_text: dict[str, Computed] = {}
    changed = []
    for tree in trees:
        holder = exp.Paren(this=tree.copy())
        for window in [part for part in holder.find_all(exp.Window) if part.find_ancestor(exp.Window) is None]:
            if any(part is not window for part in window.find_all(exp.Window)):
                reading.refuse(place, "a window inside of a window is not allowed", "use a subquery")
            text = window.sql("spark")
            if text not in windows_by_text:
                windows_by_text[text] = (reading.make_column(text), window.copy())
            window.replace(refer_to(windows_by_text[text][0]))
        changed.append(holder.this)
        changed[-1].pop()
    node, windows = lift_subqueries(reading, node, [tree for _, tree in windows_by_text.values()])
    computed = tuple((column, tree) for (column, _), tree in zip(windows_by_text.values(), windows, strict=True))
    return WindowNode(node, computed), changed
