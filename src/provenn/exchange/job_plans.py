"""Translate the plan of Spark that a job states (facet ``spark.logicalPlan``) to the catalog that the job writes.

The integration of OpenLineage with Spark writes the optimized plan of the command in JSON. It names tables of a
catalog, but neither the files that a leaf reads nor how the command saves. The leaf of a path is the input with its
columns, if there is only one; that all its files are read, with the usual options, is the word of the user (``exact``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from provenn.catalogs import Catalog
from provenn.errors import QueryError
from provenn.exchange.job_queries import (
    InputTable,
    JobTables,
    UnusableQueryError,
    WrittenDataset,
    translate_statement,
)
from provenn.exchange.reading import Dataset

if TYPE_CHECKING:
    from provenn.queries.statements import WritingStatement
    from provenn.spark.plan_reading_leaves import KnownTable, SparkRelation

__all__ = ["translate_job_plan"]

_FILE_SYSTEMS = ("", "abfs", "abfss", "adl", "dbfs", "file", "gs", "hdfs", "s3", "s3a", "s3n", "wasb", "wasbs")
"""The schemes of datasets that are files. The leaf of another system may be a query on a dataset."""


def translate_job_plan(
    plan: str, inputs: Mapping[Dataset, InputTable], output: WrittenDataset
) -> tuple[Catalog, tuple[str, ...]]:
    """Return the catalog of the rows that a job writes, and its columns.

    Parameters
    ----------
    plan
        The nodes of the plan, in JSON.
    inputs, output
        As for `translate_job_query`.

    Raises
    ------
    UnusableQueryError
        If the plan is not understood, or does not say which rows the dataset holds.
    """
    tables = JobTables(inputs)
    return translate_statement(lambda: _read_plan(plan, tables, output), tables, output)


def _read_plan(plan: str, tables: JobTables, output: WrittenDataset) -> WritingStatement:
    from provenn.queries.statements import WritingStatement  # noqa: PLC0415 - sqlglot takes long to import
    from provenn.spark.stated_plans import read_stated_write  # noqa: PLC0415

    write = read_stated_write(json.loads(plan), _InputLeaves(tables, reads_all_files=output.holds_all))
    replaces_table = write.replaces_table or (write.may_replace_table and output.is_overwritten)
    return WritingStatement(write.query, write.target, replaces_table, inserts=False)


@dataclass(frozen=True, slots=True)
class _InputLeaves:
    """The inputs of a job as leaves of its plan; see `Leaves`."""

    tables: JobTables
    reads_all_files: bool

    def find_view(self, _name: tuple[str, ...]) -> KnownTable | None:
        """Return None: an optimized plan has no views."""
        return None

    def find_relation(self, relation: SparkRelation) -> KnownTable:
        """Return the only input that a leaf can be.

        Raises
        ------
        QueryError
            If there is none, or several.
        UnusableQueryError
            If the leaf may read only some files of the input.
        """
        named = [name for table in self.tables.inputs.values() for name in table.names]
        if relation.name and any(name[-1] == relation.name[-1].lower() for name in named):
            return self._describe_table(self.tables.find_table(relation.name).name)
        columns = sorted(name.lower() for name, _ in relation.columns)
        matches = [
            dataset
            for dataset, table in self.tables.inputs.items()
            if sorted(name.lower() for name in table.columns) == columns
        ]
        if len(matches) != 1:
            problem = "several inputs" if matches else "no input"
            raise QueryError(f"{problem} of the job have the columns of a leaf of its plan: {', '.join(columns)}")
        (dataset,) = matches
        if dataset.namespace.partition(":")[0] not in _FILE_SYSTEMS:
            raise UnusableQueryError(f"it does not say what it reads of {dataset}")
        if not self.reads_all_files:
            raise UnusableQueryError(f"it does not say that it reads all of {dataset}, nor does --exact")
        name = str(dataset)
        self.tables.used[name] = dataset
        return self._describe_table(name)

    def _describe_table(self, name: str) -> KnownTable:
        from provenn.spark.plan_reading_leaves import KnownTable  # noqa: PLC0415 - sqlglot takes long to import

        table = self.tables.inputs[self.tables.used[name]]
        schema = table.catalog.schema
        return KnownTable(name, tuple((column, str(schema[column].type)) for column in table.columns))
