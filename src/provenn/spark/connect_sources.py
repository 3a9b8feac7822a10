"""Where the rows of plans of Spark Connect come from, and what all relations share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import count
from typing import Any

from sqlglot import exp

from provenn.errors import QueryError, did_you_mean
from provenn.queries.query_reading import QueryTable, read_query, start_reading
from provenn.queries.tree import Node, ProjectNode, ScanNode, refer_to
from provenn.queries.tree_types import TreeTypes
from provenn.spark.connect_relations import ConnectColumn, ConnectRelation, parse_name
from provenn.spark.connect_server_side import ConnectServer
from provenn.spark.plan_reading_leaves import MARK, KnownTable, Leaves
from provenn.spark.plan_reading_refusals import make_refusal
from provenn.spark.plan_reading_sources import make_range

__all__ = ["ConnectSources"]


class ConnectSources(ABC):
    """Reads the leaves of plans, and texts in SQL.

    Parameters
    ----------
    leaves
        The tables that leaves are.
    server
        The server of the session.
    """

    def __init__(self, leaves: Leaves, server: ConnectServer) -> None:
        self.leaves = leaves
        self.server = server
        self.reading = start_reading(self)
        self.relation_count = 0
        self._ids = count(1)
        self._table_types: dict[str, dict[str, str]] = {}
        self.types = TreeTypes(self._table_types, is_utc=server.is_utc)

    @abstractmethod
    def read(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - a message of Connect
        """Return a relation."""

    def take_id(self) -> int:
        """Return the number of a new attribute."""
        return next(self._ids)

    # -- what the server says ----------------------------------------------------------------------------------------

    def list_names(self, relation: Any, number: int) -> list[str]:  # noqa: ANN401 - see above
        """Return the names that the server gives to the columns of a relation.

        Raises
        ------
        QueryError
            If the server has another number of columns.
        """
        names = [name for name, _ in self.server.describe_columns(relation)]
        if len(names) != number:
            raise QueryError(f"a part of the DataFrame has {len(names)} columns, and {number} were read from its plan")
        return names

    def check_columns(self, relation: Any, read: ConnectRelation) -> None:  # noqa: ANN401 - see above
        """Raise `QueryError` if the server has other columns for a relation than those that were read."""
        own = tuple(zip((column.name for column in read.node.columns), self.types.find_types(read.node), strict=True))
        columns = self.server.describe_columns(relation)
        if own != columns:
            differences = [
                f"{theirs} and not {mine}" for theirs, mine in zip(columns, own, strict=False) if theirs != mine
            ]
            raise QueryError(
                f"Spark has other columns than those that were read from the plan: {'; '.join(differences)}",
                hint="make the DataFrame in a classic session",
            )

    def compute(self, node: Node, values: Sequence[tuple[str, exp.Expr]]) -> ProjectNode:
        """Return a projection to named expressions."""
        trees, subqueries = self.reading.attach([tree for _, tree in values])
        columns = [self.reading.make_column(name) for name, _ in values]
        return ProjectNode(node, tuple(zip(columns, trees, strict=True)), subqueries)

    # -- leaves ------------------------------------------------------------------------------------------------------

    def read_leaf(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return the rows of files or of a table."""
        if relation.read.WhichOneof("read_type") == "data_source":
            table = self.leaves.find_relation(self.server.describe_files(relation))
            return self._scan(table, self.server.describe_columns(relation), ())
        if relation.read.named_table.options:
            raise make_refusal("NamedTable", "with options is not supported")
        name = relation.read.named_table.unparsed_identifier
        parts = parse_name(name)
        table = self._find_named(relation, name)
        return self._scan(table, self.server.describe_columns(relation), tuple(part.lower() for part in parts))

    def _find_named(self, relation: Any, name: str) -> KnownTable:  # noqa: ANN401 - see above
        table = self.leaves.find_view(parse_name(name))
        return table or self.leaves.find_relation(self.server.describe_table(relation, name))

    def find_table(self, parts: tuple[str, ...]) -> QueryTable:
        """Return a table that a text in SQL names."""
        from pyspark.sql.connect.proto import Relation  # noqa: PLC0415 - needs gRPC

        relation = Relation()
        name = ".".join(f"`{part.replace('`', '``')}`" for part in parts)
        relation.read.named_table.unparsed_identifier = name
        table = self._find_named(relation, name)
        if self.server.describe_columns(relation) != table.columns:
            raise QueryError(
                f"the catalog of {table.name} has other columns than Spark reads",
                hint="give a catalog with the same columns in the same order",
            )
        self._table_types[table.name] = dict(table.columns)
        return QueryTable(table.name, tuple(name for name, _ in table.columns))

    def _scan(
        self, table: KnownTable, columns: Sequence[tuple[str, str]], qualifier: tuple[str, ...]
    ) -> ConnectRelation:
        """Return the rows of a table, with the columns that Spark reads.

        Raises
        ------
        QueryError
            If the table does not have a column with the type that Spark reads.
        """
        self._table_types[table.name] = types = dict(table.columns)
        own = {name: self.reading.make_column(name) for name, _ in table.columns}
        for name, kind in columns:
            if name not in own:
                raise QueryError(f"the catalog of {table.name} has no column {name}", hint=did_you_mean(name, own))
            if types[name] != kind:
                raise QueryError(
                    f"the DataFrame reads {name} as {kind}, and the catalog as {types[name]}",
                    hint="read the files without a schema of your own, or start from to_spark() of the catalog",
                )
        node: Node = ScanNode(table.name, tuple(own.values()))
        if [name for name, _ in columns] != list(own):
            node = self.compute(node, [(name, refer_to(own[name])) for name, _ in columns])
        return self._name(node, qualifier)

    def _name(self, node: Node, qualifier: tuple[str, ...] = ()) -> ConnectRelation:
        return ConnectRelation(node, tuple(ConnectColumn(column, self.take_id(), qualifier) for column in node.columns))

    def read_range(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return a range of numbers."""
        numbers = range(relation.range.start, relation.range.end, relation.range.step)
        return self._name(make_range(self.reading.make_column("id"), numbers))

    def read_sql(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return a query in SQL that the user wrote."""
        message = relation.sql
        if (
            message.args
            or message.pos_args
            or message.named_arguments
            or message.pos_arguments
            or "${" in message.query
        ):
            raise make_refusal("SQL", "with parameters is not read over Spark Connect", "write the values instead")
        node = self.reading.import_query(read_query(message.query, self))
        names = self.list_names(relation, len(node.columns))
        if names != [column.name for column in node.columns]:
            columns = zip(names, node.columns, strict=True)
            node = self.compute(node, [(name, refer_to(column)) for name, column in columns])
        return self._name(node)

    def read_alias(self, relation: Any) -> ConnectRelation:  # noqa: ANN401 - see above
        """Return what an alias names; an alias that provenn gave names a catalog."""
        message = relation.subquery_alias
        table = self.leaves.find_view((message.alias,)) if message.alias.startswith(MARK) else None
        if table is not None:
            return self._scan(table, self.server.describe_columns(relation), (message.alias.lower(),))
        source = self.read(message.input)
        qualifier = (*(part.lower() for part in message.qualifier), message.alias.lower())
        outputs = tuple(ConnectColumn(output.column, output.id, qualifier) for output in source.outputs)
        return ConnectRelation(source.node, outputs, source.parts)
