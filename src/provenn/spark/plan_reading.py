"""Read a DataFrame of Spark: its analyzed plan becomes the tree of a query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Final

from provenn.errors import QueryError
from provenn.queries.tree import (
    AggregateNode,
    Computed,
    DistinctNode,
    ExplodeNode,
    FilterNode,
    JoinKind,
    JoinNode,
    Node,
    NodeOrder,
    ProjectNode,
    SetOperationKind,
    SetOperationNode,
    SortNode,
    WindowNode,
)
from provenn.spark.plan_reading_expressions import ExpressionWriter
from provenn.spark.plan_reading_json import JsonNode, read_json_plan
from provenn.spark.plan_reading_leaves import Leaves
from provenn.spark.plan_reading_order import drop_order, limit_rows, read_number
from provenn.spark.plan_reading_refusals import check_session, make_refusal
from provenn.spark.plan_reading_relations import PlanRelation
from provenn.spark.plan_reading_sources import SourceReader
from provenn.spark.plan_reading_sql import parse_sql

__all__ = ["PlanReader", "read_dataframe"]

_MOST_NODES = 20_000
"""The number of nodes that a tree may have: a CTE that is named twice is read twice, and so are those that it names."""

_JOINS: Final[dict[str, JoinKind]] = {
    "Inner": "inner",
    "Cross": "cross",
    "LeftOuter": "left",
    "RightOuter": "right",
    "FullOuter": "full",
    "LeftSemi": "semi",
    "LeftAnti": "anti",
}


_NO_KEYS = ("AggregateExpression", "ScalarSubquery", "Exists", "InSubquery", "OuterReference")
"""Expressions that are no part of a key, although they look the same each time."""


def read_dataframe(dataframe: Any, leaves: Leaves) -> Node:  # noqa: ANN401 - a DataFrame of Spark
    """Return the tree of a DataFrame, from the plan that Spark has analyzed; nothing is computed.

    Parameters
    ----------
    dataframe
        The DataFrame, of a session in this process.
    leaves
        The tables that its leaves are.

    Raises
    ------
    QueryError
        If a part of the plan is not supported.
    """
    session = dataframe.sparkSession
    check_session(session)
    plan = read_json_plan(dataframe._jdf.queryExecution().analyzed())  # noqa: SLF001 - no public call gives it
    return PlanReader(leaves, session).read(plan).node


class PlanReader(SourceReader):
    """Reads plans of all classes that are supported."""

    def read(self, plan: JsonNode) -> PlanRelation:
        """Return a plan as a node of the tree.

        Raises
        ------
        QueryError
            If a part of the plan is not supported.
        """
        self.node_count += 1
        if self.node_count > _MOST_NODES:
            raise QueryError(
                f"the plan of the DataFrame has more than {_MOST_NODES:,} parts",
                hint="adopt DataFrames that it is made from first, and go on from their to_spark()",
            )
        handler = _HANDLERS.get(plan.kind)
        if handler is None:
            raise make_refusal(plan.kind)
        return handler(self, plan)

    # -- rows ------------------------------------------------------------------------------------------------------

    def read_project(self, plan: JsonNode) -> PlanRelation:
        """Return a projection."""
        relation = self.read_child(plan)
        return self._project(relation, plan.list_trees("projectList"), self.make_writer(relation))

    def _project(self, relation: PlanRelation, items: Sequence[JsonNode], writer: ExpressionWriter) -> PlanRelation:
        computed = tuple((self.numbers.make_column(item.name), writer.read(item)) for item in items)
        return PlanRelation(
            ProjectNode(relation.node, computed, tuple(writer.subqueries)), tuple(item.id for item in items)
        )

    def read_filter(self, plan: JsonNode) -> PlanRelation:
        """Return a selection."""
        relation = self.read_child(plan)
        writer = self.make_writer(relation)
        condition = writer.read(plan.get_tree("condition"))
        return PlanRelation(FilterNode(relation.node, condition, tuple(writer.subqueries)), relation.ids)

    def read_join(self, plan: JsonNode) -> PlanRelation:
        """Return a join; Spark has resolved USING and NATURAL."""
        name = plan.get_object("joinType")
        if name not in _JOINS:
            raise make_refusal(name)
        left, right = (self.read(child) for child in plan.children)
        writer, condition = self.make_writer(left, right), None
        if plan.fields.get("condition"):
            condition = writer.read(plan.get_tree("condition", is_optional=True))
        kind = _JOINS[name]
        kind = "cross" if kind in ("inner", "cross") and condition is None else "inner" if kind == "cross" else kind
        node = JoinNode(left.node, right.node, kind, condition, tuple(writer.subqueries))
        return PlanRelation(node, left.ids if kind in ("semi", "anti") else (*left.ids, *right.ids))

    def read_generate(self, plan: JsonNode) -> PlanRelation:
        """Return a row for each element of an array."""
        relation = self.read_child(plan)
        generator, outputs = plan.get_tree("generator"), plan.list_trees("generatorOutput")
        is_numbered = generator.kind == "PosExplode"
        if generator.kind not in ("Explode", "PosExplode") or plan.fields.get("unrequiredChildIndex"):
            raise make_refusal(generator.kind)
        if len(outputs) != 1 + is_numbered:
            raise make_refusal(generator.kind, "of a map is not supported", "explode map_keys(…) or map_values(…)")
        writer = self.make_writer(relation)
        array = writer.read(generator.children[0])
        if writer.subqueries:
            raise make_refusal(generator.kind, "of a subquery is not supported")
        columns = self.make_columns([output.name for output in outputs])
        position = columns[0] if is_numbered else None
        node = ExplodeNode(relation.node, array, columns[-1], position, bool(plan.fields["outer"]))
        return PlanRelation(node, (*relation.ids, *(output.id for output in outputs)))

    # -- groups ----------------------------------------------------------------------------------------------------

    def read_aggregate(self, plan: JsonNode) -> PlanRelation:
        """Return groups: their keys and aggregate functions, and above these the expressions that are made of them."""
        relation = self.read_child(plan)
        inner = self.make_writer(relation)
        keys: dict[str, Computed] = {}
        for item in plan.list_trees("groupingExpressions"):
            text = inner.write(item)
            tree = parse_sql(text)
            name = item.name if item.kind in ("AttributeReference", "Alias") else self.numbers.describe(tree)
            keys.setdefault(text, (self.numbers.make_column(name), tree))
        values: dict[str, Computed] = {}

        def replace_known(node: JsonNode) -> str | None:
            """Return the column of a key or of an aggregate function."""
            if node.kind == "AggregateExpression":
                text = inner.write(node)
                if text not in values:
                    tree = parse_sql(text)
                    values[text] = (self.numbers.make_column(self.numbers.describe(tree)), tree)
                return values[text][0].symbol
            if node.kind == "Literal" or any(part.kind in _NO_KEYS for part in node.walk()):
                return None
            try:
                text = inner.write(node)
            except QueryError:
                return None  # a part of a lambda function; what is refused is refused as a part of the whole
            return keys[text][0].symbol if text in keys else None

        outer = ExpressionWriter({}, self.outer, self.read_subquery, replace_known)
        items = plan.list_trees("aggregateExpressions")
        computed = tuple((self.numbers.make_column(item.name), outer.read(item)) for item in items)
        if inner.subqueries:
            raise make_refusal("Aggregate", "of a subquery is not supported", "compute the subquery in a column first")
        groups = AggregateNode(relation.node, tuple(keys.values()), tuple(values.values()))
        return PlanRelation(ProjectNode(groups, computed, tuple(outer.subqueries)), tuple(item.id for item in items))

    def read_expansion(self, plan: JsonNode) -> PlanRelation:
        """Return several rows for each row, as GROUPING SETS and UNPIVOT need them: the union of projections."""
        attributes = plan.list_trees("output")
        members = []
        for projection in _list_projections(plan):
            relation = self.read_child(plan)
            writer = self.make_writer(relation)
            columns = self.make_columns([attribute.name for attribute in attributes])
            expressions = [writer.read(item) for item in projection]
            project = ProjectNode(
                relation.node, tuple(zip(columns, expressions, strict=True)), tuple(writer.subqueries)
            )
            members.append(PlanRelation(project, tuple(attribute.id for attribute in attributes)))
        return reduce(self._unite, members)

    def read_distinct(self, plan: JsonNode) -> PlanRelation:
        """Return the different rows."""
        (child,) = plan.children
        if child.kind == "Union" and len(child.children) == 2:
            left, right = (self.read(member) for member in child.children)
            return self._combine("union", left, right, is_all=False)
        relation = self.read(child)
        return PlanRelation(DistinctNode(relation.node), relation.ids)

    def read_deduplicate(self, plan: JsonNode) -> PlanRelation:
        """Return the different rows, if all columns are compared."""
        relation = self.read_child(plan)
        if {attribute.id for attribute in plan.list_trees("keys")} != set(relation.ids):
            raise make_refusal(plan.kind)
        return PlanRelation(DistinctNode(relation.node), relation.ids)

    def read_window(self, plan: JsonNode) -> PlanRelation:
        """Return the rows with values of window functions."""
        relation = self.read_child(plan)
        writer = self.make_writer(relation)
        items = plan.list_trees("windowExpressions")
        computed = tuple((self.numbers.make_column(item.name), writer.read(item)) for item in items)
        if writer.subqueries:
            raise make_refusal(plan.kind, "of a subquery is not supported", "compute the subquery in a column first")
        return PlanRelation(WindowNode(relation.node, computed), (*relation.ids, *(item.id for item in items)))

    # -- sets ------------------------------------------------------------------------------------------------------

    def read_union(self, plan: JsonNode) -> PlanRelation:
        """Return UNION ALL by position; Spark has resolved unionByName."""
        if plan.fields.get("byName"):
            raise make_refusal(plan.kind, "by name was not resolved by Spark")
        return reduce(self._unite, [self.read(child) for child in plan.children])

    def _unite(self, left: PlanRelation, right: PlanRelation) -> PlanRelation:
        return self._combine("union", left, right, is_all=True)

    def read_set_operation(self, plan: JsonNode) -> PlanRelation:
        """Return INTERSECT or EXCEPT."""
        left, right = (self.read(child) for child in plan.children)
        kind: SetOperationKind = "intersect" if plan.kind == "Intersect" else "except"
        return self._combine(kind, left, right, is_all=bool(plan.fields["isAll"]))

    def _combine(
        self, kind: SetOperationKind, left: PlanRelation, right: PlanRelation, *, is_all: bool
    ) -> PlanRelation:
        columns = self.make_columns([column.name for column in left.node.columns])
        return PlanRelation(SetOperationNode(kind, is_all, left.node, right.node, columns), left.ids)

    # -- order -----------------------------------------------------------------------------------------------------

    def read_sort(self, plan: JsonNode) -> PlanRelation:
        """Return the rows in an order; an order within partitions is none."""
        relation = self.read_child(plan)
        if not plan.fields["global"]:
            return relation
        writer = self.make_writer(relation)
        keys = tuple(
            NodeOrder(
                writer.read(order.children[0]),
                is_descending=order.get_object("direction") == "Descending",
                nulls_first=order.get_object("nullOrdering") == "NullsFirst",
            )
            for order in plan.list_trees("order")
        )
        if writer.subqueries:
            raise make_refusal(plan.kind, "by a subquery is not supported", "compute the subquery in a column first")
        return PlanRelation(SortNode(relation.node, keys), relation.ids)

    def read_limit(self, plan: JsonNode) -> PlanRelation:
        """Return the first rows."""
        (local,) = plan.children
        number = read_number(plan, "limitExpr")
        if local.kind != "LocalLimit" or read_number(local, "limitExpr") != number:
            raise make_refusal(plan.kind, "has an unknown form")
        (child,) = local.children
        if child.kind == "Offset":
            relation = self.read_child(child)
            return PlanRelation(limit_rows(relation.node, number, read_number(child, "offsetExpr")), relation.ids)
        relation = self.read(child)
        return PlanRelation(limit_rows(relation.node, number, 0), relation.ids)

    def read_offset(self, plan: JsonNode) -> PlanRelation:
        """Return all rows but the first."""
        relation = self.read_child(plan)
        return PlanRelation(limit_rows(relation.node, None, read_number(plan, "offsetExpr")), relation.ids)

    def read_same_rows(self, plan: JsonNode) -> PlanRelation:
        """Return the rows of the input: Spark only moves or observes them."""
        return self.read_child(plan)

    def read_moved_rows(self, plan: JsonNode) -> PlanRelation:
        """Return the rows of the input without their order, which they lose on the way."""
        relation = self.read_child(plan)
        return PlanRelation(drop_order(relation.node), relation.ids)


def _list_projections(plan: JsonNode) -> list[list[JsonNode]]:
    """Return the projections of an expansion."""
    java = plan.java().projections()
    return [
        [read_json_plan(java.apply(row).apply(place)) for place in range(java.apply(row).size())]
        for row in range(java.size())
    ]


_HANDLERS: Final[dict[str, Callable[[PlanReader, JsonNode], PlanRelation]]] = {
    "Aggregate": PlanReader.read_aggregate,
    "CTERelationRef": PlanReader.read_reference,
    "CollectMetrics": PlanReader.read_same_rows,
    "DataSourceV2Relation": PlanReader.read_relation,
    "Deduplicate": PlanReader.read_deduplicate,
    "Distinct": PlanReader.read_distinct,
    "Except": PlanReader.read_set_operation,
    "Expand": PlanReader.read_expansion,
    "Filter": PlanReader.read_filter,
    "Generate": PlanReader.read_generate,
    "GlobalLimit": PlanReader.read_limit,
    "HiveTableRelation": PlanReader.read_relation,
    "Intersect": PlanReader.read_set_operation,
    "Join": PlanReader.read_join,
    "LocalRelation": PlanReader.read_constants,
    "LogicalRelation": PlanReader.read_relation,
    "Offset": PlanReader.read_offset,
    "OneRowRelation": PlanReader.read_one_row,
    "Project": PlanReader.read_project,
    "Range": PlanReader.read_range,
    "RebalancePartitions": PlanReader.read_moved_rows,
    "Repartition": PlanReader.read_moved_rows,
    "RepartitionByExpression": PlanReader.read_moved_rows,
    "ResolvedHint": PlanReader.read_same_rows,
    "Sort": PlanReader.read_sort,
    "SubqueryAlias": PlanReader.read_alias,
    "Union": PlanReader.read_union,
    "View": PlanReader.read_view,
    "Window": PlanReader.read_window,
    "WithCTE": PlanReader.read_definitions,
}
"""How each class of Spark's plans is read."""
