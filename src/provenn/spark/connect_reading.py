"""Plans of Spark Connect, read as trees of queries.

A DataFrame of Spark Connect is a message to a server: relations with the names and texts that the user wrote, without
types. The names are looked up here, and the types are found by the rules of ANSI mode. The server says which columns
each relation has, without computing anything; a difference in a name or type is an error, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlglot import exp

from provenn.errors import QueryError
from provenn.queries.function_names import GENERATORS, get_function_name
from provenn.queries.reading_groups import Grouping
from provenn.queries.reading_windows import lift_windows
from provenn.queries.tree import (
    DistinctNode,
    ExplodeNode,
    FilterNode,
    JoinKind,
    JoinNode,
    Node,
    NodeOrder,
    SetOperationKind,
    SetOperationNode,
    SortNode,
    refer_to,
    walk_tree,
)
from provenn.spark.connect_expressions import ConnectWriter, read_direction
from provenn.spark.connect_items import Item, read_items
from provenn.spark.connect_relations import ConnectColumn, ConnectRelation
from provenn.spark.connect_server_side import ConnectServer
from provenn.spark.connect_sources import ConnectSources
from provenn.spark.plan_reading_leaves import Leaves
from provenn.spark.plan_reading_order import drop_order, limit_rows
from provenn.spark.plan_reading_refusals import make_refusal

__all__ = ["read_connect_dataframe"]

_MOST_RELATIONS = 500
_JOINS: Final[dict[int, JoinKind]] = {1: "inner", 2: "full", 3: "left", 4: "right", 5: "anti", 6: "semi", 7: "cross"}
_SETS: Final[dict[int, SetOperationKind]] = {1: "intersect", 2: "union", 3: "except"}
_REFUSED: Final = {
    "local_relation": ("LogicalRDD", ""),
    "cached_local_relation": ("LogicalRDD", ""),
    "chunked_cached_local_relation": ("LogicalRDD", ""),
    "sample": ("Sample", ""),
    "tail": ("Tail", ""),
    "map_partitions": ("MapPartitions", ""),
    "group_map": ("MapGroups", ""),
    "co_group_map": ("FlatMapCoGroupsInPandas", ""),
    "common_inline_user_defined_table_function": ("PythonUDTF", ""),
    "lateral_join": ("LateralJoin", ""),
}


def read_connect_dataframe(dataframe: Any, leaves: Leaves) -> Node:  # noqa: ANN401 - a DataFrame of Spark
    """Return the tree of a DataFrame of Spark Connect; nothing is computed.

    Parameters
    ----------
    dataframe
        The DataFrame.
    leaves
        The tables that its leaves are.

    Raises
    ------
    QueryError
        If a part of the plan is not supported, or means something else to the server.
    """
    session = dataframe.sparkSession
    server = ConnectServer(session)
    server.check_session()
    reader = ConnectReader(leaves, server)
    node = reader.read(dataframe._plan.plan(session.client)).node  # noqa: SLF001 - no public call gives it
    server.check_functions(_list_functions(node))
    return node


class ConnectReader(ConnectSources):
    """Reads relations of all kinds that are supported."""

    def read(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - a message of Connect
        """Return a relation, after the server has confirmed its columns."""
        self.relation_count += 1
        if self.relation_count > _MOST_RELATIONS:
            raise QueryError(
                f"the plan of the DataFrame has more than {_MOST_RELATIONS} parts",
                hint="adopt DataFrames that it is made from first, and go on from their to_spark()",
            )
        kind = relation.WhichOneof("rel_type")
        handler = _HANDLERS.get(kind)
        if handler is None:
            name, reason = _REFUSED.get(kind, (str(kind), "is not read over Spark Connect"))
            raise make_refusal(name, reason, "make the DataFrame in a classic session" if reason else "")
        read = handler(self, relation)
        self.check_columns(relation, read)
        plan_id = relation.common.plan_id if relation.common.HasField("plan_id") else None
        if plan_id is None:
            return read
        parts = {**read.parts, plan_id: (*read.parts.get(plan_id, ()), read.outputs)}
        return ConnectRelation(read.node, read.outputs, parts)

    def make_writer(self, relation: ConnectRelation) -> ConnectWriter:
        """Return a writer of expressions over the columns of a relation."""
        return ConnectWriter(relation, self.reading)

    # -- rows ------------------------------------------------------------------------------------------------------

    def read_project(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - a message of Connect
        """Return a projection."""
        message = relation.project
        if not message.HasField("input"):
            raise make_refusal("Project", "of no DataFrame is not supported")
        source = self.read(message.input)
        return self.project(relation, source, read_items(self.make_writer(source), message.expressions))

    def project(self, relation: Any, source: ConnectRelation, items: Sequence[Item]) -> ConnectRelation:  # noqa: ANN401
        """Return the rows with the columns of items, which the server names."""
        node, trees = self._explode(source.node, [item.tree for item in items])
        if any(get_function_name(part) in GENERATORS for tree in trees for part in tree.walk()):
            raise make_refusal("Generate", "inside of an expression is not supported")
        node, trees = lift_windows(self.reading, node, trees, exp.Null())
        names = self.list_names(relation, len(items))
        rows = self.compute(node, list(zip(names, trees, strict=True)))
        pairs = zip(rows.columns, items, strict=True)
        outputs = tuple(
            ConnectColumn(column, self.take_id() if item.output is None else item.output.id, item.qualifier)
            for column, item in pairs
        )
        return ConnectRelation(rows, outputs, source.parts)

    def _explode(self, node: Node, trees: Sequence[exp.Expr]) -> tuple[Node, list[exp.Expr]]:
        """Return the rows for the elements of an array, and the expressions above."""
        changed = []
        generators = 0
        for tree in trees:
            name = get_function_name(tree.unnest())
            if name not in GENERATORS:
                changed.append(tree)
                continue
            generators += 1
            if name.startswith("pos") or generators > 1:
                raise make_refusal(name, "is not read over Spark Connect")
            element = self.reading.make_column("col")
            node = ExplodeNode(node, tree.unnest().expressions[0].copy(), element, None, name.endswith("_outer"))
            changed.append(refer_to(element))
        return node, changed

    def read_filter(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return a selection."""
        source = self.read(relation.filter.input)
        condition = self.make_writer(source).read(relation.filter.condition)
        (tree,), subqueries = self.reading.attach([condition])
        return ConnectRelation(FilterNode(source.node, tree, subqueries), source.outputs, source.parts)

    def read_with_columns(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return the rows with columns that are added, or put in place of those with the same name."""
        source = self.read(relation.with_columns.input)
        writer = self.make_writer(source)
        items = [Item.of(output) for output in source.outputs]
        for alias in relation.with_columns.aliases:
            (name,) = alias.name
            item = Item(writer.read(alias.expr))
            places = [place for place, old in enumerate(source.outputs) if old.column.name.lower() == name.lower()]
            for place in places:
                items[place] = item
            if not places:
                items.append(item)
        return self.project(relation, source, items)

    def read_renamed(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return the rows with columns that the server names anew."""
        kind = relation.WhichOneof("rel_type")
        source = self.read(getattr(relation, kind).input)
        names = self.list_names(relation, len(source.outputs))
        items = [
            Item.of(output) if output.column.name == name and kind != "to_df" else Item(refer_to(output.column))
            for output, name in zip(source.outputs, names, strict=True)
        ]
        return self.project(relation, source, items)

    def read_drop(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return the rows without some columns; a name that no column has is none."""
        source = self.read(relation.drop.input)
        writer = self.make_writer(source)
        dropped_names = {name.lower() for name in relation.drop.column_names}
        dropped = set()
        for expression in relation.drop.columns:
            output = writer.find_output(expression)
            if output is None:
                raise make_refusal("Drop", "of something else than a column is not supported")
            dropped.add(output.id)
        kept = [
            output
            for output in source.outputs
            if output.column.name.lower() not in dropped_names and output.id not in dropped
        ]
        return self.project(relation, source, [Item.of(output) for output in kept])

    # -- joins and groups --------------------------------------------------------------------------------------------

    def read_join(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return a join by a condition or by columns of the same name."""
        message = relation.join
        kind = _JOINS.get(message.join_type)
        if kind is None:
            raise make_refusal("Join", "of an unknown kind")
        left, right = self.read(message.left), self.read(message.right)
        both = ConnectRelation(left.node, (*left.outputs, *right.outputs), left.merge_parts(right))
        if message.using_columns:
            return self._join_by_names(relation, kind, left, right)
        condition: exp.Expr | None = None
        subqueries: tuple[Node, ...] = ()
        if message.HasField("join_condition"):
            (condition,), subqueries = self.reading.attach([self.make_writer(both).read(message.join_condition)])
        kind = "cross" if kind in ("inner", "cross") and condition is None else "inner" if kind == "cross" else kind
        node = JoinNode(left.node, right.node, kind, condition, subqueries)
        if kind in ("semi", "anti"):
            return ConnectRelation(node, left.outputs, left.parts)
        return ConnectRelation(node, both.outputs, both.parts)

    def _join_by_names(
        self,
        relation: Any,  # noqa: ANN401 - see above
        kind: JoinKind,
        left: ConnectRelation,
        right: ConnectRelation,
    ) -> ConnectRelation:
        pairs = [tuple(side.find_by_name((name,))[0] for side in (left, right)) for name in relation.join.using_columns]
        tests = [exp.EQ(this=refer_to(first.column), expression=refer_to(second.column)) for first, second in pairs]
        condition = tests[0] if len(tests) == 1 else exp.and_(*tests, copy=False)
        node = JoinNode(left.node, right.node, kind, condition)
        if kind in ("semi", "anti"):
            return ConnectRelation(node, left.outputs, left.parts)
        if kind == "cross":
            raise make_refusal("Join", "that is cross and names columns has no meaning")
        used = {output.id for pair in pairs for output in pair}
        keys = []
        for first, second in pairs:
            if kind == "full":
                values = [refer_to(first.column), refer_to(second.column)]
                keys.append(Item(exp.Coalesce(this=values[0], expressions=values[1:])))
            else:
                keys.append(Item.of(second if kind == "right" else first))
        rest = [Item.of(output) for output in (*left.outputs, *right.outputs) if output.id not in used]
        both = ConnectRelation(node, (*left.outputs, *right.outputs), left.merge_parts(right))
        return self.project(relation, both, [*keys, *rest])

    def read_aggregate(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return groups, with their keys and aggregate functions."""
        message = relation.aggregate
        if message.group_type != 1:
            raise make_refusal("Aggregate", "with ROLLUP, CUBE, PIVOT or GROUPING SETS is not read over Spark Connect")
        source = self.read(message.input)
        writer = self.make_writer(source)
        keys = read_items(writer, message.grouping_expressions)
        items = [*keys, *read_items(writer, message.aggregate_expressions)]
        if any(isinstance(key.tree.unnest(), exp.Literal) for key in keys):
            raise make_refusal("Aggregate", "by a constant may mean a column by its place", "name the column")
        grouping = Grouping(self.reading, source.scope, [key.tree for key in keys])
        names = self.list_names(relation, len(items))
        for item, name in zip(items, names, strict=True):
            grouping.name_key(item.tree, name)
        trees = [grouping.separate(item.tree, exp.Null()) for item in items]
        node = grouping.build(source.node, exp.Null())
        rows = self.compute(node, list(zip(names, trees, strict=True)))
        outputs = tuple(
            ConnectColumn(column, self.take_id() if item.output is None else item.output.id, item.qualifier)
            for column, item in zip(rows.columns, items, strict=True)
        )
        return ConnectRelation(rows, outputs, source.parts)

    def read_distinct(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return the different rows, if all columns are compared."""
        message = relation.deduplicate
        source = self.read(message.input)
        names = {name.lower() for name in message.column_names}
        is_whole = message.all_columns_as_keys or names == {output.column.name.lower() for output in source.outputs}
        if not is_whole or message.within_watermark:
            raise make_refusal("Deduplicate")
        return ConnectRelation(DistinctNode(source.node), source.outputs, source.parts)

    def read_set_operation(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return UNION, INTERSECT or EXCEPT, by position or by name."""
        message = relation.set_op
        kind = _SETS.get(message.set_op_type)
        left, right = self.read(message.left_input), self.read(message.right_input)
        if kind is None or message.allow_missing_columns:
            raise make_refusal("SetOperation", "with missing columns is not read over Spark Connect")
        node = right.node
        if message.by_name:
            matches = [right.find_by_name((output.column.name,))[0] for output in left.outputs]
            node = self.compute(right.node, [(match.column.name, refer_to(match.column)) for match in matches])
        if len(node.columns) != len(right.outputs) or len(node.columns) != len(left.outputs):
            raise make_refusal("SetOperation", "of different columns is not supported")
        columns = tuple(self.reading.make_column(output.column.name) for output in left.outputs)
        combined = SetOperationNode(kind, message.is_all, left.node, node, columns)
        outputs = tuple(
            ConnectColumn(column, self.take_id(), output.qualifier)
            for column, output in zip(columns, left.outputs, strict=True)
        )
        return ConnectRelation(combined, outputs)

    # -- order -----------------------------------------------------------------------------------------------------

    def read_sort(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return the rows in an order; an order within partitions is none."""
        message = relation.sort
        source = self.read(message.input)
        if not message.is_global:
            return source
        writer = self.make_writer(source)
        keys = []
        for order in message.order:
            tree = writer.read(order.child)
            if isinstance(tree.unnest(), exp.Literal):
                raise make_refusal("Sort", "by a constant may mean a column by its place", "name the column")
            keys.append(NodeOrder(tree, *read_direction(order)))
        return ConnectRelation(SortNode(source.node, tuple(keys)), source.outputs, source.parts)

    def read_limit(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return the first rows."""
        below = relation.limit.input
        if below.WhichOneof("rel_type") == "offset":
            source = self.read(below.offset.input)
            node = limit_rows(source.node, relation.limit.limit, below.offset.offset)
        else:
            source = self.read(below)
            node = limit_rows(source.node, relation.limit.limit, 0)
        return ConnectRelation(node, source.outputs, source.parts)

    def read_offset(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return all rows but the first."""
        source = self.read(relation.offset.input)
        return ConnectRelation(limit_rows(source.node, None, relation.offset.offset), source.outputs, source.parts)

    def read_same_rows(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return the rows of the input: Spark only moves or observes them."""
        return self.read(getattr(relation, relation.WhichOneof("rel_type")).input)

    def read_moved_rows(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return the rows of the input without their order, which they lose on the way."""
        source = self.read_same_rows(relation)
        return ConnectRelation(drop_order(source.node), source.outputs, source.parts)


def _list_functions(node: Node) -> set[str]:
    """Return the names of all functions that a tree calls."""
    trees: list[exp.Expr] = []
    for part in walk_tree(node):
        for name in part.__dataclass_fields__:
            pending = [getattr(part, name)]
            while pending:
                value = pending.pop()
                if isinstance(value, exp.Expr):
                    trees.append(value)
                elif isinstance(value, NodeOrder):
                    trees.append(value.expression)
                elif isinstance(value, tuple):
                    pending += value
    names = {get_function_name(part) for tree in trees for part in tree.walk()}
    return {name for name in names if name and not name.endswith("_subquery")}


_HANDLERS: Final[dict[str, Callable[[ConnectReader, Any], ConnectRelation]]] = {
    "aggregate": ConnectReader.read_aggregate,
    "collect_metrics": ConnectReader.read_same_rows,
    "deduplicate": ConnectReader.read_distinct,
    "drop": ConnectReader.read_drop,
    "filter": ConnectReader.read_filter,
    "hint": ConnectReader.read_same_rows,
    "join": ConnectReader.read_join,
    "limit": ConnectReader.read_limit,
    "offset": ConnectReader.read_offset,
    "project": ConnectReader.read_project,
    "range": ConnectReader.read_range,
    "read": ConnectReader.read_leaf,
    "repartition": ConnectReader.read_moved_rows,
    "repartition_by_expression": ConnectReader.read_moved_rows,
    "set_op": ConnectReader.read_set_operation,
    "sort": ConnectReader.read_sort,
    "sql": ConnectReader.read_sql,
    "subquery_alias": ConnectReader.read_alias,
    "to_df": ConnectReader.read_renamed,
    "with_columns": ConnectReader.read_with_columns,
    "with_columns_renamed": ConnectReader.read_renamed,
}
"""How each kind of relation is read."""
