"""Read plans that jobs of Spark state in events: JSON without the Java objects behind it; nothing is executed.

The plan in an event is the optimized plan of a command that writes rows. JSON says nothing about the files of a leaf
and the files that are written, nor about ANSI mode and most time zones. What depends on that is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from provenn.errors import ProvennError, QueryError
from provenn.queries.tree import Node
from provenn.spark.plan_reading import PlanReader
from provenn.spark.plan_reading_json import JsonNode, read_stated_plan, read_type
from provenn.spark.plan_reading_leaves import KnownTable, Leaves, SparkRelation, list_columns
from provenn.spark.plan_reading_refusals import make_refusal
from provenn.spark.plan_reading_relations import PlanRelation

__all__ = ["StatedWrite", "read_stated_write"]

_WHOLE: Final = ("CreateTableAsSelect", "ReplaceTableAsSelect")
"""Commands after which a table holds the rows of their query and no others."""
_WRITING: Final = (
    *_WHOLE,
    "AppendData",
    "CreateDataSourceTableAsSelectCommand",
    "CreateHiveTableAsSelectCommand",
    "InsertIntoHadoopFsRelationCommand",
    "InsertIntoHiveTable",
    "OptimizedCreateHiveTableAsSelectCommand",
    "OverwriteByExpression",
    "SaveAsV1TableCommand",
    "SaveIntoDataSourceCommand",
)
"""Commands that write the rows of a query."""
_REPLACEABLE: Final = ("InsertIntoHadoopFsRelationCommand", "InsertIntoHiveTable", "SaveAsV1TableCommand")
"""Commands that replace all rows, if the event calls the dataset overwritten and it has no partitions."""
_MALFORMED = (KeyError, IndexError, TypeError, ValueError, AttributeError)


@dataclass(frozen=True, slots=True)
class StatedWrite:
    """A command of Spark that writes the rows of a query.

    Parameters
    ----------
    query
        The query.
    target
        The name of the table that is written, part by part; empty for files.
    replaces_table
        Whether the command leaves no other rows.
    may_replace_table
        Whether it leaves no other rows if it overwrites, which the plan does not say.
    """

    query: Node
    target: tuple[str, ...]
    replaces_table: bool
    may_replace_table: bool


def read_stated_write(items: Sequence[Any], leaves: Leaves) -> StatedWrite:
    """Return the command that the nodes of a plan in JSON are.

    Parameters
    ----------
    items
        The nodes in preorder.
    leaves
        The tables that leaves are. What is known of a leaf is its name and its columns.

    Raises
    ------
    QueryError
        If the plan is incomplete, or a part of it is not supported.
    """
    try:
        command = read_stated_plan(items)
        if command.kind not in _WRITING:
            raise make_refusal(command.kind)
        relation = _StatedPlanReader(leaves, None).read(_find_query(command))
        _check_names(command, relation.node)
        target = _read_name(command.fields.get("table") or command.fields.get("catalogTable"))
        return StatedWrite(relation.node, target, _replaces_table(command), _may_replace_table(command))
    except ProvennError:
        raise  # a `ValueError` as well
    except RecursionError:
        raise QueryError("the plan is nested too deeply") from None
    except _MALFORMED as error:
        raise QueryError(f"the plan is incomplete, or has an unknown form: {error}") from error


def _find_query(command: JsonNode) -> JsonNode:
    """Return the plan of the rows that a command writes."""
    query = command.fields["query"]
    plan = command.children[query] if isinstance(query, int) else command.get_tree("query")
    while plan.kind == "WriteFiles":
        (plan,) = plan.children
    return plan


def _check_names(command: JsonNode, query: Node) -> None:
    """Raise `QueryError` if the columns that are written have other names than those of the query."""
    names = command.fields.get("outputColumnNames")
    own = [column.name for column in query.columns]
    if names not in (None, own, f"[{', '.join(own)}]"):
        raise make_refusal(command.kind, "writes columns under other names than those of its query")


def _replaces_table(command: JsonNode) -> bool:
    if command.kind == "OverwriteByExpression":
        condition = command.get_tree("deleteExpr")
        return condition.kind == "Literal" and condition.fields["value"] == "true"
    return command.kind in _WHOLE and not command.fields.get("ignoreIfExists")


def _may_replace_table(command: JsonNode) -> bool:
    table = command.fields.get("table") or command.fields.get("tableDesc") or {}
    partitions = (command.fields.get("partitionColumns"), table.get("partitionColumnNames"))
    return command.kind in _REPLACEABLE and not any(partitions)


def _read_name(table: Any) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    """Return the parts of the name of a table of a catalog; empty if none is stated."""
    identifier = table.get("identifier") if isinstance(table, dict) else None
    if not isinstance(identifier, dict):
        return ()
    return tuple(str(identifier[part]) for part in ("catalog", "database", "table") if identifier.get(part))


class _StatedPlanReader(PlanReader):
    """Reads plans without Java."""

    def describe(self, plan: JsonNode) -> SparkRelation:
        """Return the name and the columns of a leaf.

        Raises
        ------
        QueryError
            If the leaf may hold only a part of a dataset.
        """
        if plan.fields.get("isStreaming"):
            raise make_refusal(plan.kind, "is a stream, which is never complete")
        if plan.kind == "DataSourceV2Relation":
            raise make_refusal(plan.kind, "does not state its table")
        columns = tuple((column.name, read_type(column.fields["dataType"])) for column in list_columns(plan))
        name = _read_name(plan.fields.get("catalogTable") or plan.fields.get("tableMeta"))
        return SparkRelation(name, (), (), "", {}, columns)

    def list_rows(self, plan: JsonNode) -> tuple[tuple[str, ...], ...]:
        """Return no rows: an event states constants only if there are none."""
        if plan.fields.get("data") != []:
            raise make_refusal(plan.kind, "holds rows that the event does not state")
        return ()

    def scan(self, table: KnownTable, attributes: Sequence[JsonNode]) -> PlanRelation:
        """Return the rows of a table with the columns whose types are known; others cannot be used."""
        types = dict(table.columns)
        known = [column for column in attributes if types.get(column.name) == read_type(column.fields["dataType"])]
        return super().scan(table, known)
