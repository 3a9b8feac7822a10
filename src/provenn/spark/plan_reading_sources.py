"""Where the rows of Spark's plans come from: leaves, and names for other parts."""

from __future__ import annotations

from collections.abc import Sequence

from provenn.errors import QueryError, did_you_mean
from provenn.queries.tree import Column, ExplodeNode, FilterNode, Node, ProjectNode, ScanNode, ValuesNode, refer_to
from provenn.spark.plan_reading_json import JsonNode, read_json_plan, read_type
from provenn.spark.plan_reading_leaves import (
    MARK,
    KnownTable,
    SparkRelation,
    describe_relation,
    list_columns,
    list_local_rows,
)
from provenn.spark.plan_reading_literals import write_value
from provenn.spark.plan_reading_refusals import make_refusal
from provenn.spark.plan_reading_relations import PlanRelation, Reader
from provenn.spark.plan_reading_sql import parse_sql

__all__ = ["SourceReader", "make_range"]


class SourceReader(Reader):
    """Reads the leaves of plans, and what has a name in them."""

    # -- leaves ----------------------------------------------------------------------------------------------------

    def describe(self, plan: JsonNode) -> SparkRelation:
        """Return what Spark says about the files or table of a leaf."""
        return describe_relation(plan)

    def list_rows(self, plan: JsonNode) -> tuple[tuple[str, ...], ...]:
        """Return the rows of constants, as SQL."""
        return list_local_rows(plan, self.session)

    def scan(self, table: KnownTable, attributes: Sequence[JsonNode]) -> PlanRelation:
        """Return the rows of a table, with the columns that Spark reads.

        Raises
        ------
        QueryError
            If the table does not have a column with the type that Spark reads.
        """
        columns = dict(
            zip(
                (name for name, _ in table.columns),
                self.make_columns([name for name, _ in table.columns]),
                strict=True,
            )
        )
        scan, types = ScanNode(table.name, tuple(columns.values())), dict(table.columns)
        computed = []
        for attribute in attributes:
            kind = read_type(attribute.fields["dataType"])
            if attribute.name not in columns:
                raise QueryError(
                    f"the catalog of {table.name} has no column {attribute.name}",
                    hint=did_you_mean(attribute.name, columns),
                )
            if types[attribute.name] != kind:
                raise QueryError(
                    f"the DataFrame reads {attribute.name} as {kind}, and the catalog as {types[attribute.name]}",
                    hint="read the files without a schema of your own, or start from to_spark() of the catalog",
                )
            computed.append((attribute, columns[attribute.name]))
        ids = tuple(attribute.id for attribute in attributes)
        if [column for _, column in computed] == list(columns.values()):
            return PlanRelation(scan, ids)
        kept = tuple((self.numbers.make_column(attribute.name), refer_to(column)) for attribute, column in computed)
        return PlanRelation(ProjectNode(scan, kept), ids)

    def read_relation(self, plan: JsonNode) -> PlanRelation:
        """Return the rows of files or of a table of Spark."""
        _, relation = self.relations.get(id(plan)) or (plan, self.describe(plan))  # a CTE is read where it is named
        self.relations[id(plan)] = plan, relation
        table = self.leaves.find_view(relation.name) if relation.name else None
        return self.scan(table or self.leaves.find_relation(relation), list_columns(plan))

    def read_constants(self, plan: JsonNode) -> PlanRelation:
        """Return rows of constants."""
        attributes = plan.list_trees("output")
        rows = self.list_rows(plan)
        types = [read_type(attribute.fields["dataType"]) for attribute in attributes]
        columns = self.make_columns([attribute.name for attribute in attributes])
        nothing = tuple(write_value(kind, None) for kind in types)  # no rows have no types
        values: Node = ValuesNode(tuple(tuple(parse_sql(text) for text in row) for row in rows or (nothing,)), columns)
        values = values if rows else FilterNode(values, parse_sql("FALSE"))
        return PlanRelation(values, tuple(attribute.id for attribute in attributes))

    def read_one_row(self, _: JsonNode) -> PlanRelation:
        """Return the row without columns of a SELECT without FROM."""
        return PlanRelation(ValuesNode(((),), ()), ())

    def read_range(self, plan: JsonNode) -> PlanRelation:
        """Return a range of numbers, as the elements of an array."""
        (attribute,) = plan.list_trees("output")
        start, end, step = (int(plan.fields[name]) for name in ("start", "end", "step"))
        (column,) = self.make_columns([attribute.name])
        return PlanRelation(make_range(column, range(start, end, step)), (attribute.id,))

    # -- names -----------------------------------------------------------------------------------------------------

    def read_alias(self, plan: JsonNode) -> PlanRelation:
        """Return what an alias names; an alias that provenn gave names a catalog."""
        name = str(plan.fields["identifier"]["name"])
        table = self.leaves.find_view((name,)) if name.startswith(MARK) else None
        return self.read_child(plan) if table is None else self.scan(table, _list_output(plan))

    def read_view(self, plan: JsonNode) -> PlanRelation:
        """Return the query of a view, unless the view is known by its name."""
        identifier = plan.fields["desc"]["identifier"]
        parts = [str(identifier[part]) for part in ("catalog", "database", "table") if identifier.get(part)]
        table = self.leaves.find_view(tuple(parts))
        return self.read_child(plan) if table is None else self.scan(table, _list_output(plan))

    def read_definitions(self, plan: JsonNode) -> PlanRelation:
        """Return a query below WITH; a CTE is read where it is named."""
        *definitions, query = plan.children
        for definition in definitions:
            self.definitions[int(definition.fields["id"])] = definition
        return self.read(query)

    def read_reference(self, plan: JsonNode) -> PlanRelation:
        """Return the query of a CTE."""
        if plan.fields.get("recursive"):
            raise make_refusal(plan.kind, "to a recursive CTE is not supported")
        definition = self.definitions[int(plan.fields["cteId"])]
        enclosing, self.outer = self.outer, {}
        try:
            relation = self.read_child(definition)
        finally:
            self.outer = enclosing
        return PlanRelation(relation.node, tuple(attribute.id for attribute in plan.list_trees("output")))


def make_range(column: Column, numbers: range) -> Node:
    """Return a range of numbers, as the elements of an array."""
    limits = (numbers[0], numbers[-1], numbers.step) if numbers else (0, 0, 1)
    bounds = ", ".join(f"CAST({number} AS BIGINT)" for number in limits)
    rows = ExplodeNode(ValuesNode(((),), ()), parse_sql(f"sequence({bounds})"), column)
    return rows if numbers else FilterNode(rows, parse_sql("FALSE"))


def _list_output(plan: JsonNode) -> list[JsonNode]:
    """Return the columns of a plan, which Java knows."""
    output = plan.java().output()
    return [read_json_plan(output.apply(position)) for position in range(output.size())]
