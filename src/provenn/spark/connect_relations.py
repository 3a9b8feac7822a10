"""Relations of plans of Spark Connect: rows, and the names that expressions above them may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from provenn.errors import QueryError, did_you_mean
from provenn.queries.scopes import Scope, Source
from provenn.queries.tree import Column, Node

__all__ = ["ConnectColumn", "ConnectRelation", "parse_name"]


@dataclass(frozen=True, slots=True)
class ConnectColumn:
    """A column of a relation.

    Parameters
    ----------
    column
        The column of the tree.
    id
        The number of the attribute, which stays the same where a projection only passes the attribute on.
    qualifier
        The parts of the name of the table or alias, in lower case.
    """

    column: Column
    id: int
    qualifier: tuple[str, ...] = ()


Parts = Mapping[int, tuple[tuple[ConnectColumn, ...], ...]]
"""The columns of the relations with a plan id, at each place where such a relation stands."""


@dataclass(frozen=True, slots=True)
class ConnectRelation:
    """A node of the tree, and the names of its columns.

    Parameters
    ----------
    node
        The node.
    outputs
        Its columns, in order.
    parts
        The columns of this relation, and of the relations that it is made from, by their plan ids.
    """

    node: Node
    outputs: tuple[ConnectColumn, ...]
    parts: Parts = field(default_factory=dict)

    @property
    def scope(self) -> Scope:
        """The names that expressions over the columns may use."""
        columns: dict[tuple[str, ...], list[Column]] = {}
        for output in self.outputs:
            columns.setdefault(output.qualifier, []).append(output.column)
        sources = tuple(Source(qualifier, tuple(listed)) for qualifier, listed in columns.items())
        return Scope(sources, tuple(output.column for output in self.outputs))

    def merge_parts(self, other: ConnectRelation) -> Parts:
        """Return the parts of two relations that are joined."""
        merged = dict(self.parts)
        for plan_id, places in other.parts.items():
            merged[plan_id] = (*merged.get(plan_id, ()), *places)
        return merged

    def get_output(self, column: Column) -> ConnectColumn:
        """Return the output of a column."""
        return next(output for output in self.outputs if output.column.number == column.number)

    def find_by_name(self, parts: Sequence[str]) -> tuple[ConnectColumn, int]:
        """Return the column that a name means, and how many parts of the name are fields of a struct.

        Raises
        ------
        QueryError
            If there is none, or if there are several.
        """
        shown, names = ".".join(parts), [part.lower() for part in parts]
        matches = self.scope.find_matches(names)
        if not matches:
            known = [output.column.name.lower() for output in self.outputs]
            raise QueryError(
                f"there is no column {shown} here",
                hint=did_you_mean(names[-1], known) or "select a column before it is used",
            )
        if len(matches) > 1:
            raise QueryError(f"several columns are called {shown}", hint="give the DataFrames names with alias()")
        return self.get_output(matches[0].column), matches[0].fields

    def find_by_plan(self, plan_id: int, parts: Sequence[str]) -> tuple[ConnectColumn, int]:
        """Return the column that ``dataframe.name`` means: that of the DataFrame's relation, if it is still there.

        Raises
        ------
        QueryError
            If the relation stands at several places, or no longer has the column here.
        """
        shown, own = ".".join(parts), {output.id: output for output in reversed(self.outputs)}
        meanings: dict[int, int] = {}
        for outputs in self.parts.get(plan_id, ()):
            output, fields = ConnectRelation(self.node, outputs).find_by_name(parts)
            meanings[output.id] = fields
        if len(meanings) > 1:
            raise QueryError(
                f"the DataFrame of the column {shown} occurs several times", hint="give each a name with alias()"
            )
        for number, fields in meanings.items():
            if number in own:
                return own[number], fields
        raise QueryError(
            f"the column {shown} of another DataFrame is not among the columns here",
            hint="select it before, or name the column with col()",
        )


def parse_name(text: str) -> tuple[str, ...]:
    """Return the parts of the name of a column or table, as Spark writes it.

    >>> parse_name("orders.`a.b`"), parse_name("`it``s`")
    (('orders', 'a.b'), ('it`s',))
    """
    parts, position = [""], 0
    while position < len(text):
        if text[position] == "`" and not parts[-1]:
            end = position + 1
            while end < len(text) and (text[end] != "`" or text[end : end + 2] == "``"):
                end += 2 if text[end] == "`" else 1
            parts[-1] = text[position + 1 : end].replace("``", "`")
            if end >= len(text) or (end + 1 < len(text) and text[end + 1] != "."):
                raise QueryError(f"{text} is no name of a column")
            position = end + 1
        elif text[position] == ".":
            parts.append("")
            position += 1
        else:
            parts[-1] += text[position]
            position += 1
    if not all(parts) or any("`" in part for part in parts if f"`{part.replace('`', '``')}`" not in text):
        raise QueryError(f"{text} is no name of a column")
    return tuple(parts)
